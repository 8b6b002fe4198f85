#!/usr/bin/env python3
"""Rates and processor time of GET and PUT over HTTP: Leat and its peers, interleaved.

Each figure is measured in pairs, Leat and the peer one right after the other, and the median of the
pairs' ratios is printed with the interval that holds it with a probability of at least 95 %. A bar
is missed only when the whole interval is beyond it.
"""

import argparse
import dataclasses
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import servers

KIB = 1024
MIB = 1024 * KIB
SIZES = {"4KiB": 4 * KIB, "100KiB": 100 * KIB, "1MiB": MIB, "10MiB": 10 * MIB}
COUNTS = {"4KiB": 2000, "100KiB": 2000, "1MiB": 200, "10MiB": 20}

RANDOM_GETS = """
local names = {{}}
init = function(arguments)  -- before it, wrk does not know the host
  for line in io.lines("{names}") do names[#names + 1] = wrk.format("GET", "{path}/" .. line) end
  math.randomseed({seed})
end
request = function() return names[math.random(#names)] end
"""

RANDOM_PUTS = """
local body = string.rep("x", {size})
local n = 0
math.randomseed({seed})
local salt = math.random(1000000000)
request = function()
  n = n + 1
  return wrk.format("PUT", "{path}/put-" .. salt .. "-" .. n, nil, body)
end
"""


@dataclasses.dataclass
class Load:
    """What one run of wrk showed."""
    requests_per_second: float
    cpu_us_per_request: float
    p99_us: float


def median_interval(values: list[float]) -> tuple[float, float, float]:
    """The median, and the order statistics between which it is with at least 95 %."""
    values = sorted(values)
    count = len(values)
    median = (values[(count - 1) // 2] + values[count // 2]) / 2
    rank, tail, term = 0, 0.0, 0.5 ** count
    while rank < count // 2 and tail + term <= 0.025:
        tail += term
        term *= (count - rank) / (rank + 1)
        rank += 1
    rank = max(rank - 1, 0)
    return median, values[rank], values[count - 1 - rank]


def seconds_of(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(number) * {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}[unit]


def run_wrk(server: servers.Server, script: str, options, connections: int = 16) -> Load:
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(script)
        file.flush()
        before = server.cpu_seconds()
        output = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{options.seconds}s", "--latency", "-s",
             file.name, server.base], check=True, capture_output=True, text=True).stdout
        used = server.cpu_seconds() - before
    errors = re.search(r"Non-2xx or 3xx responses: (\d+)|Socket errors: .*", output)
    if errors:
        raise RuntimeError(f"{server.name}: {errors[0]}")
    requests = int(re.search(r"(\d+) requests in", output)[1])
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1])
    p99 = seconds_of(re.search(r"99%\s+(\S+)", output)[1])
    return Load(rate, used / requests * 1e6, p99 * 1e6)


class Report:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.missed: list[str] = []

    def line(self, what: str, peer: str, leat: list[float], other: list[float], unit: str,
             at_least: float | None = None, at_most: float | None = None) -> None:
        ratios = [a / b for a, b in zip(leat, other)]
        median, low, high = median_interval(ratios)
        ours, theirs = median_interval(leat)[0], median_interval(other)[0]
        verdict = ""
        if at_least is not None:
            verdict = f", bar >= {at_least:g}: " + ("MISSED" if high < at_least else "met")
        if at_most is not None:
            verdict = f", bar <= {at_most:.3g}: " + ("MISSED" if low > at_most else "met")
        if "MISSED" in verdict:
            self.missed.append(what)
        print(f"{what}: {ours:,.1f} {unit}, {peer} {theirs:,.1f}: "
              f"{median:.2f} [{low:.2f}, {high:.2f}] x{verdict}", flush=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"what": what, "peer": peer, "unit": unit, "leat": leat,
                                   "other": other, "ratio": [median, low, high]}) + "\n")


def fill(server: servers.Server, size: str, seed: int) -> None:
    source = random.Random(seed)
    for number in range(COUNTS[size]):
        server.put(f"{size}-{number}", source.randbytes(SIZES[size]))
    for number in range(COUNTS[size]):  # whatever a server remembers of a first read, it does now
        if len(server.get(f"{size}-{number}")) != SIZES[size]:
            raise RuntimeError(f"{server.name} lost {size}-{number}")


def get_script(server: servers.Server, size: str, directory: Path, seed: int) -> str:
    names = directory / f"{size}.names"
    names.write_text("".join(f"{size}-{number}\n" for number in range(COUNTS[size])))
    path = "/" + server.base.split("/", 3)[3] if server.base.count("/") > 2 else ""
    return RANDOM_GETS.format(names=names, path=path, seed=seed)


# Of each peer: the least rate and the most processor time, by Leat's.
GET_BARS = {
    "nginx": {"4KiB": (1.0, 1.0), "100KiB": (0.95, 1.1), "1MiB": (0.95, 1.1), "10MiB": (0.95, 1.1)},
    "MinIO": {"4KiB": (6.0, None), "100KiB": (None, 0.25), "1MiB": (None, 0.25),
              "10MiB": (None, 0.25)},
    "AIStore": {"4KiB": (2.0, None), "100KiB": (None, 1 / 1.6), "1MiB": (None, 1 / 1.6),
                "10MiB": (None, 1 / 1.6)},
}


def compare_gets(leat: servers.Server, peer: servers.Server, options, directory: Path,
                 report: Report) -> None:
    for size in options.sizes:
        for server in (leat, peer):
            fill(server, size, 1)
        loads: dict[servers.Server, list[Load]] = {leat: [], peer: []}
        for pair in range(options.pairs):
            order = (leat, peer) if pair % 2 == 0 else (peer, leat)
            for server in order:
                loads[server].append(
                    run_wrk(server, get_script(server, size, directory, pair), options))
        rate_bar, cpu_bar = GET_BARS[peer.name][size]
        report.line(f"GET {size}", peer.name, [load.requests_per_second for load in loads[leat]],
                    [load.requests_per_second for load in loads[peer]], "requests/s",
                    at_least=rate_bar)
        report.line(f"GET {size}, server CPU", peer.name,
                    [load.cpu_us_per_request for load in loads[leat]],
                    [load.cpu_us_per_request for load in loads[peer]], "us/request",
                    at_most=cpu_bar)


def compare_puts(leat: servers.Server, peer: servers.Server, options, bars: dict[str, float],
                 report: Report) -> None:
    for size, bar in bars.items():
        rates: dict[servers.Server, list[float]] = {leat: [], peer: []}
        for pair in range(options.pairs):
            for server in ((leat, peer) if pair % 2 == 0 else (peer, leat)):
                path = "/" + server.base.split("/", 3)[3]
                script = RANDOM_PUTS.format(size=SIZES[size], path=path,
                                            seed=os.getpid() + pair)
                rates[server].append(run_wrk(server, script, options).requests_per_second)
        report.line(f"PUT {size}", peer.name, rates[leat], rates[peer], "requests/s",
                    at_least=bar)


def run_peer(name: str, options, directory: Path, report: Report) -> None:
    binary = options.bin / "leat"
    running: list[servers.Server] = []
    try:
        running.append(servers.Leat(binary, directory / f"leat-{name}"))
        if name == "nginx":
            running.append(servers.Nginx(directory / name))
        elif name == "minio":
            running.append(servers.Minio(options.peers / "minio", directory / name))
        else:
            running.append(servers.AIStore(options.peers, directory / name))
        compare_gets(*running, options, directory, report)
        if name == "minio":
            compare_puts(*running, options, {"4KiB": 5.0, "10MiB": 1.5}, report)
    finally:
        for server in running:
            server.stop()
        shutil.rmtree(directory / f"leat-{name}", ignore_errors=True)
        shutil.rmtree(directory / name, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"))
    parser.add_argument("--peers", type=Path, default=Path("build/peers"))
    parser.add_argument("--only", nargs="+", choices=["nginx", "minio", "aistore"])
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=3, help="of one run of wrk")
    options = parser.parse_args()
    peers = servers.available(options.peers)
    for name in sorted({"nginx", "minio", "aistore"} - set(peers)):
        print(f"# {name} is not here and left out; bench/http/peers.sh builds MinIO and AIStore")
    results = Path("build/bench")
    results.mkdir(parents=True, exist_ok=True)
    report = Report(results / "http.json")
    control = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
    print(f"# wrk, 1 thread, 16 connections, {options.pairs} pairs of {options.seconds} s, "
          f"{os.cpu_count()} cores, {control}")
    with tempfile.TemporaryDirectory(dir=results) as directory:
        for name in options.only or peers:
            run_peer(name, options, Path(directory).resolve(), report)
    for what in report.missed:
        print(f"missed: {what}")
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
