#!/usr/bin/env bash
# test-peers.sh: tests against the real servers and clients of other systems, one executable
# tests/peers/*.sh each; a test starts the servers it needs, and stops them.
set -euo pipefail
cd "$(dirname "$0")/.."
shopt -s nullglob

tests=(tests/peers/*.sh)
if [[ ${#tests[@]} -eq 0 ]]; then
  echo "no peer tests yet"
  exit 0
fi
failed=()
for test in "${tests[@]}"; do
  echo "== $test"
  "$test" || failed+=("$test")
done
if [[ ${#failed[@]} -gt 0 ]]; then
  echo "failed: ${failed[*]}" >&2
  exit 1
fi
echo "all ${#tests[@]} peer tests passed"
