#!/usr/bin/env bash
# The newest boto3: its default checksums in trailers, conditional writes, links.
set -euo pipefail
here=$(dirname "$0")
exec python3 -B "$here/run.py" boto3 'boto3[crt]==1.44.0' -- ../boto3_day.py
