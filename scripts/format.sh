#!/usr/bin/env bash
# format.sh [--check]: lays out every C and C++ file of the repository by .clang-format; with
# --check only says which files differ.
set -euo pipefail
cd "$(dirname "$0")/.."

arguments=(-i)
[[ ${1:-} == --check ]] && arguments=(--dry-run -Werror)
git ls-files -z --cached --others --exclude-standard '*.h' '*.c' '*.cc' |
  xargs -0 --no-run-if-empty clang-format-14 "${arguments[@]}"
