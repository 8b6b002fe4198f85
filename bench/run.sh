#!/usr/bin/env bash
# run.sh [quick]: builds the benchmarks and runs them all, one after another.
#
# Prints a line per figure and leaves the same in build/bench/results.txt, and with every single
# measurement in build/bench/results.json, one JSON object a line. `quick` takes less than two
# minutes and says little about large sets. The data goes to a directory beneath build/bench, or
# beneath BENCH_DIR where the disk to be measured is mounted, and is removed at the end. Run it as
# root, so that caches can be dropped, and on a machine that does nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=${1:-full}
declare -A quick=(
  [warm_get]="--objects 50000 --reads 50000"
  [durable_put]="--milliseconds 300"
  [batch]="--large-set 100000 --warm-batches 100 --cold-batches 1"
  [many_objects]="--objects 200000 --names 100000 --gets 200"
  [large]="--mebibytes 256"
  [catalogue]="--keys 200000"
)
if [[ $mode != full && $mode != quick ]]; then
  echo "usage: ${0##*/} [quick]" >&2
  exit 2
fi

if ! command -v fio >/dev/null; then
  echo "bench: fio is missing; 'scripts/deps.sh bench' installs it" >&2
  exit 1
fi
build=${BENCH_BUILD:-build/release}
cmake --preset release --log-level=WARNING -B "$build"  # finds peers that were installed since
cmake --build "$build" --target bench -j "${JOBS:-$(scripts/parallelism.sh)}"

mkdir -p build/bench "${BENCH_DIR:-build/bench}"
results=build/bench/results
data=$(mktemp -d "${BENCH_DIR:-build/bench}/data-XXXXXX")
# What a program that was killed leaves behind goes, too.
trap 'rm -rf "$data"' EXIT
rm -f "$results.txt" "$results.json"

echo "# bench/run.sh $mode, $(git rev-parse --short HEAD 2>/dev/null || echo 'no commit')," \
  "$(nproc) cores, $(uname -sr)" | tee "$results.txt"
status=0
for program in warm_get durable_put batch many_objects large catalogue; do
  if [[ ! -x $build/bin/leat_bench_$program ]]; then
    echo "# leat_bench_$program left out: 'scripts/deps.sh bench' installs its peers"
    continue
  fi
  options=()
  [[ $mode == full ]] || read -ra options <<<"${quick[$program]}"
  echo "# leat_bench_$program ${options[*]}" | tee -a "$results.txt"
  "$build/bin/leat_bench_$program" --dir "$data" --json "$results.json" "${options[@]}" |
    tee -a "$results.txt" || status=1
done
exit "$status"
