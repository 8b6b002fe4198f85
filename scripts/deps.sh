#!/usr/bin/env bash
# deps.sh GROUP…: installs the Debian packages that a target of the Makefile needs; the groups are
# build (when none is named), clients, peers, deep, bench and browser.
#
# When they are all there it asks dpkg once, in milliseconds, and changes nothing; so every target
# may call it. Otherwise it needs root or sudo.
set -euo pipefail

build=(g++ cmake ninja-build ccache pkg-config python3 git tar curl openssl
  libfmt-dev liburing-dev libisal-dev libssl-dev libxxhash-dev
  libcli11-dev nlohmann-json3-dev
  libgtest-dev libgmock-dev libbenchmark-dev)
# The S3 clients with which the server is tried.
clients=(python3-boto3 awscli s3cmd rclone s3fs)
# Peers from PyPI are installed into virtual environments.
peers=(python3-venv curl)
# llvm-14 holds the symbolizer, without which a fuzzer's report names no function.
deep=(clang-14 clang-tidy-14 clang-format-14 libclang-rt-14-dev llvm-14 shellcheck)
bench=(fio liblmdb-dev librocksdb-dev nginx-light wrk redis-server libhiredis-dev)
# Without a font a page has no letters.
browser=(chromium-headless-shell fonts-dejavu-core)

wanted=()
for group in "${@:-build}"; do
  case $group in
    build) wanted+=("${build[@]}") ;;
    clients) wanted+=("${clients[@]}") ;;
    peers) wanted+=("${peers[@]}") ;;
    deep) wanted+=("${deep[@]}") ;;
    bench) wanted+=("${bench[@]}") ;;
    browser) wanted+=("${browser[@]}") ;;
    *)
      echo "usage: ${0##*/} [build|clients|peers|deep|bench|browser]…" >&2
      exit 2
      ;;
  esac
done

if ! command -v dpkg-query >/dev/null; then
  echo "deps: this is not a Debian system. Install the counterparts of these packages, then call" >&2
  echo "make with DEPS=true to leave this step out: ${wanted[*]}" >&2
  exit 1
fi

installed=" $(dpkg-query -W -f='${Package}:${db:Status-Status} ' "${wanted[@]}" 2>/dev/null || true)"
missing=()
for package in "${wanted[@]}"; do
  [[ $installed == *" $package:installed "* ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=(env DEBIAN_FRONTEND=noninteractive)
if [[ $EUID -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "deps: packages are missing, and this is neither root nor a user with sudo. Ask for:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo "${as_root[@]}")
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() {
  "$@" >"$log" 2>&1 && return
  cat "$log" >&2
  echo "deps: failed: $*" >&2
  return 1
}

echo "deps: installing ${missing[*]}"
apt=(apt-get -q -o DPkg::Lock::Timeout=300)
quietly "${as_root[@]}" "${apt[@]}" update
quietly "${as_root[@]}" "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
