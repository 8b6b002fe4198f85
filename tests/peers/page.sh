#!/usr/bin/env bash
# page.sh: the page of 'leat serve' in Chromium. Leaves pictures of it in build/release/page.
set -euo pipefail
cd "$(dirname "$0")/../.."
"${DEPS:-scripts/deps.sh}" browser
exec python3 -B tests/peers/page_test.py build/release/bin/leat build/release/page
