#!/usr/bin/env bash
# s3torchconnector: data sets of PyTorch straight from S3.
set -euo pipefail
here=$(dirname "$0")
exec python3 -B "$here/run.py" s3torchconnector --prepare=scripts/torch-cpu.sh \
  s3torchconnector==1.5.0 -- s3torchconnector_day.py
