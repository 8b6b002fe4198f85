#!/usr/bin/env python3
"""Leat's HTTP door and its peers, interleaved: rates, and the processor time of the servers.

Each figure is measured in pairs, Leat and the peer one right after the other, and the median of the
pairs' ratios is printed with the interval that holds it with a probability of at least 95 %. A bar
is missed only when the whole interval is beyond it.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable

import limits
import load
import servers
from report import Report

# Of each peer: the least rate, and the most processor time, of Leat by the peer's.
GET_BARS = {
    "nginx": {"4KiB": (1.0, 1.0), "100KiB": (0.95, 1.1), "1MiB": (0.95, 1.1), "10MiB": (0.95, 1.1)},
    "MinIO": {"4KiB": (6.0, None), "100KiB": (None, 0.25), "1MiB": (None, 0.25),
              "10MiB": (None, 0.25)},
    "AIStore": {"4KiB": (2.0, None), "100KiB": (None, 1 / 1.6), "1MiB": (None, 1 / 1.6),
                "10MiB": (None, 1 / 1.6)},
}
SAMPLES = 60_000
SAMPLE_BYTES = 784


def interleave(pairs: int, leat: Callable, peer: Callable) -> tuple[list, list]:
    """Both measured `pairs` times; who is first changes with every pair."""
    results: tuple[list, list] = ([], [])
    for pair in range(pairs):
        for side in ((0, 1) if pair % 2 == 0 else (1, 0)):
            results[side].append((leat, peer)[side](pair))
    return results


def fill(server: servers.Server, size: str) -> None:
    source = random.Random(1)
    for number in range(load.COUNTS[size]):
        server.put(f"{size}-{number}", source.randbytes(load.SIZES[size]))
    for number in range(load.COUNTS[size]):  # what a server remembers of a first read, it does now
        if len(server.get(f"{size}-{number}")) != load.SIZES[size]:
            raise RuntimeError(f"{server.name} lost {size}-{number}")


def compare_gets(leat: servers.Server, peer: servers.Server, options, report: Report) -> None:
    for size in options.sizes:
        for server in (leat, peer):
            fill(server, size)

        def measure(server: servers.Server, pair: int) -> load.Load:
            return load.run_wrk(server, load.get_script(server, size, pair), options.seconds)

        ours, theirs = interleave(options.pairs, lambda pair: measure(leat, pair),
                                  lambda pair: measure(peer, pair))
        rate_bar, cpu_bar = GET_BARS[peer.name][size]
        report.pairs(f"GET {size}", peer.name, [run.requests_per_second for run in ours],
                     [run.requests_per_second for run in theirs], "requests/s", at_least=rate_bar)
        report.pairs(f"GET {size}, server CPU", peer.name,
                     [run.cpu_us_per_request for run in ours],
                     [run.cpu_us_per_request for run in theirs], "us/request", at_most=cpu_bar)


def compare_puts(leat: servers.Server, peer: servers.Server, options, bars: dict[str, float],
                 report: Report) -> None:
    for size, bar in bars.items():
        def measure(server: servers.Server, pair: int) -> float:
            script = load.put_script(server, size, os.getpid() + pair)
            return load.run_wrk(server, script, options.seconds).requests_per_second

        ours, theirs = interleave(options.pairs, lambda pair: measure(leat, pair),
                                  lambda pair: measure(peer, pair))
        report.pairs(f"PUT {size}, durability {leat.durability}", peer.name, ours, theirs,
                     "requests/s", at_least=bar)


def ask_batches(server: servers.Server, kind: str, options, pair: int) -> dict:
    """One connection that asks for random samples, 256 at a time."""
    command = [options.bin / "leat_bench_http_batch", "--server", kind, "--port", server.batch_port,
               "--objects", SAMPLES, "--seconds", options.seconds, "--seed", pair + 1]
    return json.loads(subprocess.run([str(word) for word in command], check=True,
                                     capture_output=True, text=True).stdout)


def compare_batches(leat: servers.Leat, peer: servers.Server, kind: str, bar: float, options,
                    report: Report) -> None:
    sample = random.Random(2).randbytes(SAMPLE_BYTES)
    for server in {leat, peer}:
        server.put_many({f"s{number:07}": sample for number in range(SAMPLES)})
    # Twice through everything: compared with its checksums, then kept in memory.
    for seed in range(2):
        ask_batches(leat, "leat", options, seed)
    ours, theirs = interleave(options.pairs, lambda pair: ask_batches(leat, "leat", options, pair),
                              lambda pair: ask_batches(peer, kind, options, pair))
    report.pairs("batch of 256 x 784 B, one connection",
                 "single GETs" if kind == "gets" else peer.name,
                 [run["samples_per_second"] for run in ours],
                 [run["samples_per_second"] for run in theirs], "samples/s", at_least=bar)
    if kind == "redis":
        report.values("first byte of a batch", [run["first_byte_us"] for run in ours], "us",
                      at_most=1000)


def run_peer(name: str, options, directory: Path, report: Report) -> None:
    running: list[servers.Server] = []

    def leat(durability: str = "disk") -> servers.Leat:
        running.append(servers.Leat(options.bin / "leat",
                                    directory / f"leat-{name}-{len(running)}", durability))
        return running[-1]

    def other(server: servers.Server) -> servers.Server:
        running.append(server)
        return server

    try:
        if name == "nginx":
            compare_gets(leat(), other(servers.Nginx(directory / name)), options, report)
        elif name == "redis":
            ours = leat("memory")
            compare_batches(ours, other(servers.Redis(directory / name)), "redis", 1.5, options,
                            report)
            compare_batches(ours, ours, "gets", 10, options, report)
        elif name == "minio":
            peer = other(servers.Minio(options.peers / "minio", directory / name))
            ours = leat()
            compare_gets(ours, peer, options, report)
            compare_puts(ours, peer, options, {"4KiB": 5.0, "10MiB": 1.5}, report)
        elif name == "aistore":
            peer = other(servers.AIStore(options.peers, directory / name))
            ours = leat("memory")
            compare_gets(ours, peer, options, report)
            compare_puts(ours, peer, options, {"4KiB": 1.5}, report)
            compare_batches(ours, peer, "aistore", 20, options, report)
        else:
            limits.measure(leat("memory"), options, report)
    finally:
        for server in running:
            server.stop()
        for path in directory.iterdir():
            shutil.rmtree(path, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"))
    parser.add_argument("--peers", type=Path, default=Path("build/peers"))
    parser.add_argument("--only", nargs="+", choices=[*servers.PEERS, "limits"],
                        help="limits: Leat alone, at its limits")
    parser.add_argument("--sizes", nargs="+", choices=list(load.SIZES), default=list(load.SIZES))
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=3, help="of one run of wrk")
    parser.add_argument("--requests", type=int, default=10_000_000, help="for resident memory")
    parser.add_argument("--names", type=int, default=1_000_000, help="for the listing")
    options = parser.parse_args()
    peers = servers.available(options.peers)
    for name in sorted(set(servers.PEERS) - set(peers)):
        print(f"# {name} is not here and left out; bench/http/peers.sh builds MinIO and AIStore")
    results = Path("build/bench")
    results.mkdir(parents=True, exist_ok=True)
    report = Report(results / "http.json")
    control = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
    print(f"# wrk, 1 thread, 16 connections, {options.pairs} pairs of {options.seconds} s, "
          f"{os.cpu_count()} cores, {control}", flush=True)
    with tempfile.TemporaryDirectory(dir=results) as directory:
        for name in options.only or [*peers, "limits"]:
            run_peer(name, options, Path(directory).resolve(), report)
    for what in report.missed:
        print(f"missed: {what}")
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
