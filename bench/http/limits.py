"""Leat's HTTP door at its limits: cold reads beside warm ones, idle clients, many requests, names."""

import os
import random
import resource
import selectors
import socket
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

import load
import servers
from report import Report

GIB = 1 << 30
COLD_READERS = 64
COLD_OBJECTS = 8
IDLE_CONNECTIONS = 10_000


def connect(server: servers.Server) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port))
    connection.setblocking(True)
    return connection


class ColdReaders(threading.Thread):
    """64 clients that read large objects and throw them away."""

    def __init__(self, server: servers.Server) -> None:
        super().__init__()
        self.server = server
        self.ends = threading.Event()
        self.read_bytes = 0

    def run(self) -> None:
        space = bytearray(1 << 20)
        with selectors.DefaultSelector() as selector:
            for number in range(COLD_READERS):
                connection = connect(self.server)
                offset = number // COLD_OBJECTS * (GIB // (COLD_READERS // COLD_OBJECTS))
                connection.sendall(
                    f"GET {self.server.path}/large-{number % COLD_OBJECTS} HTTP/1.1\r\nHost: x\r\n"
                    f"Range: bytes={offset}-\r\n\r\n".encode())
                selector.register(connection, selectors.EVENT_READ)
            while not self.ends.is_set():
                for key, _ in selector.select(0.1):
                    # The kernel drops the bytes, so this client costs little.
                    count = key.fileobj.recv_into(space, 0, socket.MSG_TRUNC)
                    self.read_bytes += count
                    if count == 0:
                        selector.unregister(key.fileobj)
            for key in list(selector.get_map().values()):
                key.fileobj.close()


def drop_from_cache(directory: Path) -> None:
    """What is long, so not the packs that small objects are in."""
    for path in directory.rglob("*"):
        if path.is_file() and path.stat().st_size >= 512 << 20:
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measure_beside_cold_reads(leat: servers.Leat, options, report: Report) -> None:
    source = random.Random(3)
    for number in range(load.COUNTS["4KiB"]):
        leat.put(f"4KiB-{number}", source.randbytes(4096))
    block = source.randbytes(1 << 20)
    for number in range(COLD_OBJECTS):
        leat.put_blocks(f"large-{number}", block, 1024)
    os.sync()

    def measure(pair: int) -> float:
        return load.run_wrk(leat, load.get_script(leat, "4KiB", pair), options.seconds).p99_us

    measure(0)
    alone, beside = [], []
    for pair in range(options.pairs):
        alone.append(measure(pair))
        drop_from_cache(leat.directory)
        readers = ColdReaders(leat)
        readers.start()
        time.sleep(0.5)
        beside.append(measure(pair))
        readers.ends.set()
        readers.join()
        print(f"#   beside it {readers.read_bytes / GIB:.2f} GiB were read", flush=True)
    report.pairs("p99 of GET 4 KiB beside 64 cold GETs of 1 GiB", "alone", beside, alone, "us",
                 at_most=3)


def measure_idle(leat: servers.Leat, report: Report) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    connections = [connect(leat) for _ in range(IDLE_CONNECTIONS)]
    for connection in connections:
        connection.sendall(f"GET {leat.path}/4KiB-1 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    for connection in connections:
        connection.recv(8192)
    report.values("resident with 10,000 idle connections", [leat.resident_bytes() / 1e6], "MB",
                  at_most=200)
    for connection in connections:
        connection.close()


def measure_memory(leat: servers.Leat, options, report: Report) -> None:
    done, first = 0, 0.0
    while done < options.requests:
        done += load.run_wrk(leat, load.mixed_script(leat, done), 10).requests
        if not first and done >= options.requests / 10:
            first = leat.resident_bytes() / 1e6
    report.pairs(f"resident after {done / 1e6:.1f} million mixed requests", "after a tenth of them",
                 [leat.resident_bytes() / 1e6], [first], "MB", at_most=1.05)


def measure_listing(leat: servers.Leat, options, report: Report) -> None:
    leat.put_many({f"names/{number:08}": b"" for number in range(options.names)})
    rates = []
    for _ in range(options.pairs):
        begin, count, token = time.monotonic(), 0, ""
        while True:
            url = f"{leat.base}?list-type=2&prefix=names/{token}"
            with urllib.request.urlopen(url, timeout=60) as answer:
                page = answer.read()
            count += page.count(b"<Key>")
            if b"<NextContinuationToken>" not in page:
                break
            text = page.split(b"<NextContinuationToken>")[1].split(b"<")[0].decode()
            token = "&continuation-token=" + urllib.parse.quote(text, safe="")
        if count != options.names:
            raise RuntimeError(f"{count} names were listed, not {options.names}")
        rates.append(count / (time.monotonic() - begin))
    report.values(f"ListObjectsV2 over {options.names:,} names", rates, "names/s",
                  at_least=100_000)


def measure(leat: servers.Leat, options, report: Report) -> None:
    measure_beside_cold_reads(leat, options, report)
    measure_idle(leat, report)
    measure_memory(leat, options, report)
    measure_listing(leat, options, report)
