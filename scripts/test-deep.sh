#!/usr/bin/env bash
# test-deep.sh [STAGE…]: what is too slow for every change. Without arguments, all stages:
#   format   clang-format finds nothing to change
#   scripts  shellcheck is content
#   tidy     clang-tidy is content
#   storms   the tests labelled "deep", optimised
#   asan     the ordinary tests under AddressSanitizer and UndefinedBehaviorSanitizer, and clang's
#            thread-safety analysis
#   fuzz     every fuzzer for FUZZ_SECONDS, from the same build
#   tsan     the tests labelled "concurrent" under ThreadSanitizer
#
# Environment: JOBS compilers at once; TEST_JOBS tests at once; FUZZ_SECONDS (60).
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=${JOBS:-$(scripts/parallelism.sh)}
test_jobs=${TEST_JOBS:-2}
export FUZZ_SECONDS=${FUZZ_SECONDS:-60}

build() { # PRESET [TARGET]
  cmake --preset "$1" --log-level=WARNING
  cmake --build "build/$1" -j "$jobs" --target "${2:-all}"
}

run_tests() { # PRESET CTEST-ARGUMENT…
  local preset=$1
  shift
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$test_jobs" "$@"
}

stage_format() { scripts/format.sh --check; }
stage_scripts() {
  git ls-files -z --cached --others --exclude-standard '*.sh' .ci/run | xargs -0 shellcheck
}
stage_tidy() { scripts/tidy.py; }

stage_storms() {
  build release
  run_tests release -L deep
}

stage_asan() {
  build asan
  run_tests asan -LE 'deep|fuzz'
}

stage_fuzz() {
  build asan
  run_tests asan -L fuzz
}

stage_tsan() {
  build tsan concurrent_tests
  # ThreadSanitizer needs its shadow where address randomisation may put something else.
  local fixed_addresses=(setarch -R)
  "${fixed_addresses[@]}" true 2>/dev/null || fixed_addresses=()
  "${fixed_addresses[@]}" ctest --test-dir build/tsan --output-on-failure --no-tests=error \
    -j "$test_jobs" -L concurrent
}

stages=("$@")
[[ $# -gt 0 ]] || stages=(format scripts tidy storms asan fuzz tsan)
for stage in "${stages[@]}"; do
  if ! declare -F "stage_$stage" >/dev/null; then
    echo "${0##*/}: no stage '$stage'; there are format scripts tidy storms asan fuzz tsan" >&2
    exit 2
  fi
done
for stage in "${stages[@]}"; do
  start=$SECONDS
  echo "== $stage"
  "stage_$stage"
  echo "== $stage: passed in $((SECONDS - start)) s"
done
