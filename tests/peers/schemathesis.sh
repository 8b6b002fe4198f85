#!/usr/bin/env bash
# schemathesis: the native API does what its OpenAPI document says, whatever it is asked.
set -euo pipefail
here=$(dirname "$0")
exec python3 -B "$here/run.py" schemathesis schemathesis==4.32.5 -- schemathesis_day.py
