#!/usr/bin/env bash
# Prints how many compilers may run at once: one a core, each with 2 GiB of memory to itself.
set -euo pipefail

cores=$(nproc)
available_kib=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
fitting=$((available_kib / (2 * 1024 * 1024)))
jobs=$((fitting < cores ? fitting : cores))
echo $((jobs > 0 ? jobs : 1))
