#!/usr/bin/env bash
# webdataset reads shards over plain HTTP: as nobody in particular, and by presigned links.
set -euo pipefail
here=$(dirname "$0")
exec python3 -B "$here/run.py" webdataset --server='--anonymous read' webdataset==1.0.2 -- webdataset_day.py
