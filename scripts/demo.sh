#!/usr/bin/env bash
# demo.sh: makes a small store and shows the main job. `make demo` builds first, then calls it.
#
# KEEP=1 keeps the directory; LEAT names another binary.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
leat=${LEAT:-$root/build/release/bin/leat}
directory=$(mktemp -d -t leat-demo.XXXXXX)
[[ ${KEEP:-0} == 1 ]] || trap 'rm -rf "$directory"' EXIT
cd "$directory"

show() {
  printf '\n$ %s\n' "${*//$leat/leat}"
  "$@"
}
url=leat+local://$directory/store/pictures

echo "Three thousand small \"images\" of random bytes, and their labels, in $directory/images"
python3 - <<'PYTHON'
import os
for i in range(3000):
    os.makedirs(f"images/{i % 10}", exist_ok=True)
    with open(f"images/{i % 10}/{i:06}.jpg", "wb") as image:
        image.write(os.urandom(2000 + i))
    with open(f"images/{i % 10}/{i:06}.cls", "w", encoding="ascii") as label:
        label.write(str(i % 10))
PYTHON

show "$leat" bucket create "$url"
show "$leat" cp -r images "$url/train/"
show "$leat" cp -r images "$url/train/" # nothing is copied twice
show "$leat" ls -l --limit 3 "$url/train/7/"
show "$leat" cat "$url/train/7/000007.cls"
echo
show "$leat" cp -r --include '*.jpg' --durability memory "$url/train/3" batch
show "$leat" shard create --count 1000 images shards
show "$leat" put shards/shard-000000.tar "$url/shard.tar"
member=$("$leat" shard ls shards/shard-000000.tar | sed -n 1p)
show "$leat" cat "$url/shard.tar/$member"
echo
show "$leat" verify "leat+local://$directory/store"
show "$leat" du "leat+local://$directory/store"

pack=$(find store/packs -type f -size +0 | sort | head -n 1)
printf '\nSmall objects lie in packs, which are tar files:\n$ tar tf %s | head -n 3\n' "$pack"
tar tf "$pack" 2>/dev/null | sed -n 1,3p

cat <<TEXT

What to try next:
  leat --help                                 the verbs, and every verb has examples
  leat bucket create leat+local:///DIRECTORY/store/BUCKET
  leat cp -r YOUR_DATA leat+local:///DIRECTORY/store/BUCKET/
  KEEP=1 make demo                            keeps the store of this demo
TEXT
[[ ${KEEP:-0} != 1 ]] || echo "The store is in $directory"
