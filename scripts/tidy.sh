#!/usr/bin/env bash
# tidy.sh [FILE…]: runs clang-tidy by .clang-tidy over the given files, by default over all that
# users run. Tests are left to the compilers and sanitizers: with GoogleTest's headers and macros
# they would take most of the time and give most of the noise.
set -euo pipefail
cd "$(dirname "$0")/.."

[[ -f build/release/compile_commands.json ]] || cmake --preset release --log-level=WARNING

tidy_one() { # FILE
  local output
  # Without its libraries a benchmark is not built.
  grep -qF "/$1\"" build/release/compile_commands.json || return 0
  # The compile commands are GCC's.
  output=$(clang-tidy-14 --quiet -p build/release --extra-arg=-Wno-unknown-warning-option \
    "$1" 2>&1) || {
    printf '%s\n' "$output" | grep -v '^[0-9]* warnings\? generated\.$'
    return 1
  }
}
export -f tidy_one

# shellcheck disable=SC2016 # the inner shell expands $1
if [[ $# -gt 0 ]]; then
  printf '%s\0' "$@"
else
  git ls-files -z --cached --others --exclude-standard '*.cc' ':!*_test.cc' ':!*/testing/*'
fi | xargs -0 -n 1 -P "${JOBS:-$(scripts/parallelism.sh)}" bash -c 'tidy_one "$1"' tidy_one
