#!/usr/bin/env bash
# pyarrow: its S3 file system, a data set in Parquet files and parts of them.
set -euo pipefail
here=$(dirname "$0")
exec python3 -B "$here/run.py" pyarrow pyarrow==26.0.1 -- pyarrow_day.py
