#!/usr/bin/env bash
# http.sh [OPTION…]: Leat's HTTP door against nginx, MinIO, AIStore and Redis, one line per figure.
#
# Peers that are not installed are left out, and named. nginx, wrk and Redis come from Debian;
# bench/http/peers.sh builds MinIO and AIStore with a newer Go, where there is one. `--help` lists
# the options. Run it as root, so that the congestion control can be set for loopback (bbr halves
# it), and on a machine that does nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/deps.sh bench
build=${BENCH_BUILD:-build/release}
cmake --build "$build" --target leat leat_bench_http_batch -j "${JOBS:-$(scripts/parallelism.sh)}"
old=$(sysctl -n net.ipv4.tcp_congestion_control)
if sysctl -q -w net.ipv4.tcp_congestion_control=cubic 2>/dev/null; then
  # shellcheck disable=SC2064
  trap "sysctl -q -w net.ipv4.tcp_congestion_control=$old" EXIT
fi
PYTHONDONTWRITEBYTECODE=1 python3 bench/http/compare.py --bin "$build/bin" --peers build/peers "$@"
