#!/usr/bin/env bash
# peers.sh: builds MinIO and AIStore from their Go modules into build/peers, for bench/http.sh.
# Takes ten minutes. Needs a Go that their go.mod accepts (1.24 or newer).
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p build/peers
bin=$PWD/build/peers
[[ -x $bin/minio ]] || GOBIN=$bin go install github.com/minio/minio@latest
if [[ ! -x $bin/aisnode ]]; then
  version=v1.5.0
  module=$(go mod download -json "github.com/NVIDIA/aistore@$version" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')
  rm -rf "$bin/aistore"
  cp -r "$module" "$bin/aistore"
  chmod -R u+w "$bin/aistore"
  (cd "$bin/aistore" && go build -trimpath -tags "aws mono" \
    -ldflags "-w -s -X main.build=$version" -o "$bin/aisnode" ./cmd/aisnode)
fi
