#!/usr/bin/env bash
# fuzz.sh FUZZER: runs one libFuzzer program for FUZZ_SECONDS (60), as ctest does.
#
# It starts from fuzz/seeds/NAME, which is in the repository, and keeps what it learns in
# build/fuzz-corpus/NAME. An input that breaks the program is left in build/fuzz-findings.
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: ${0##*/} FUZZER" >&2; exit 2; }
fuzzer=$(realpath "$1")
name=${fuzzer##*/}
cd "$(dirname "$0")/.."

corpus=build/fuzz-corpus/$name
findings=build/fuzz-findings
mkdir -p "$corpus" "$findings"
directories=("$corpus")
[[ -d fuzz/seeds/$name ]] && directories+=("fuzz/seeds/$name")

# A limit on memory, so that a length field believed too early is a finding, not a dead machine.
exec "$fuzzer" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 \
  -artifact_prefix="$findings/$name-" -print_final_stats=1 "${directories[@]}"
