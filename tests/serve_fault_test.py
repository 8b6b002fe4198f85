#!/usr/bin/env python3
"""serve_fault_test.py LEAT [unittest arguments]: `leat serve` when it is killed, when clients
vanish, when the disk is full, and when there are very many connections."""

import contextlib
import hashlib
import os
import random
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading

import server
import sigv4
from server import ServerTest, read_reply

SIZES = (0, 100, 5000, 100_000, 300_000, 1_500_000)


def body_of(name: str, version: int) -> bytes:
    """Bytes that nobody else writes, of a size that depends on them."""
    seed = hashlib.sha256(f"{name} {version}".encode()).digest()
    size = SIZES[seed[0] % len(SIZES)]
    return (seed * (size // 32 + 1))[:size]


class Client(threading.Thread):
    """Writes and removes names of its own until the server dies. `acknowledged` is what it was
    promised, `attempted` what may be there besides: the request that nobody answered."""

    def __init__(self, running, number, seed):
        super().__init__()
        self.running = running
        self.random = random.Random(seed + number)
        self.names = [f"{number}/{name}" for name in range(8)]
        self.acknowledged = dict.fromkeys(self.names, None)
        self.attempted = {}
        self.version = 0
        self.answered = 0
        self.problem = None

    def run(self):
        with contextlib.suppress(OSError, EOFError, server.http.client.HTTPException):
            with self.running.connect() as stream:
                while self.problem is None:
                    self.step(stream)

    def step(self, stream):
        name = self.random.choice(self.names)
        self.version += 1
        version = None if self.random.random() < 0.1 else self.version
        self.attempted = {name: version}
        if version is None:
            stream.sendall(self.running.signed_head("DELETE", f"/box/{name}"))
            reply = read_reply(stream, "DELETE")
        else:
            body = body_of(name, version)
            stream.sendall(self.running.signed_head("PUT", f"/box/{name}", {
                "content-length": str(len(body))}) + body)
            reply = read_reply(stream, "PUT")
        if reply.status not in (200, 204):
            self.problem = reply
            return
        self.acknowledged[name] = version
        self.attempted = {}
        self.answered += 1


class Killed(ServerTest):
    ROUNDS = int(os.environ.get("LEAT_KILLS", "5"))

    def test_what_was_acknowledged_is_there(self):
        running = self.serve()
        self.expect(running.request("PUT", "/box"), 200)
        seed = answered = 0
        clients = [Client(running, number, seed) for number in range(8)]
        for _ in range(self.ROUNDS):
            for client in clients:
                client.start()
            goal = answered + 200
            self.eventually(lambda: sum(client.answered for client in clients) + answered >= goal
                            or any(client.problem for client in clients), "nothing is answered")
            running.kill()
            for client in clients:
                client.join(server.PATIENCE_S)
                self.assertIsNone(client.problem)
            answered += sum(client.answered for client in clients)
            running.start()
            states = [self.check(running, client) for client in clients]
            seed += len(clients)
            clients = [Client(running, number, seed) for number in range(8)]
            for client, state in zip(clients, states):
                client.acknowledged, client.version = state
        print(f"killed {self.ROUNDS} times, {answered} acknowledged changes checked")

    def check(self, running, client):
        """What is there is what was promised, or the last thing that was asked for, whole."""
        found = {}
        with running.connect() as stream:
            for name, version in client.acknowledged.items():
                stream.sendall(running.signed_head("GET", f"/box/{name}"))
                reply = read_reply(stream)
                possible = {version, client.attempted.get(name, version)}
                for candidate in possible:
                    if candidate is None and reply.status == 404:
                        found[name] = None
                    elif candidate is not None and reply.status == 200 \
                            and reply.body == body_of(name, candidate):
                        found[name] = candidate
                self.assertIn(name, found, (name, possible, reply.status, len(reply.body)))
        return found, client.version


class Vanishing(ServerTest):
    """Clients that go away in the middle leave nothing behind."""

    def setUp(self):
        super().setUp()
        self.running = self.serve()
        self.expect(self.running.request("PUT", "/box"), 200)
        self.expect(self.running.request("PUT", "/box/there", os.urandom(3 << 20)), 200)
        self.expect(self.running.request("GET", "/box/there"), 200)

    def disk_bytes(self):
        printed = subprocess.run(["du", "-s", "-B1", self.running.data], capture_output=True,
                                 check=True).stdout
        return int(printed.split()[0])

    @staticmethod
    def vanish(stream, how):
        if how == "reset":
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif how == "half":
            stream.shutdown(socket.SHUT_WR)
        stream.close()

    def check_nothing_is_left(self, descriptors, disk):
        self.eventually(lambda: self.running.descriptors() <= descriptors, "descriptors are left")
        self.eventually(lambda: self.disk_bytes() <= disk, "bytes are left on the disk")
        left = [path for path in (self.running.data).rglob("temporary/*")]
        self.assertEqual(left, [])

    def test_in_the_middle_of_a_body(self):
        # Packs grow ahead: the first small object after a start is not a leak.
        for target in ("/box/a", "/box/b"):
            self.expect(self.running.request("PUT", target, bytes(1000)), 200)
        descriptors, disk = self.running.descriptors(), self.disk_bytes()
        size = 8 << 20
        for number in range(30):
            stream = self.running.connect()
            if number % 3 == 0:
                headers, piece = {"transfer-encoding": "chunked"}, b"400000\r\n" + bytes(4 << 20)
            elif number % 3 == 1:
                headers, piece = {"content-length": str(size)}, bytes(size - 1)
            else:
                headers, piece = {"content-length": "1000"}, bytes(500)
            stream.sendall(self.running.signed_head("PUT", f"/box/gone-{number}", headers))
            stream.sendall(piece)
            self.vanish(stream, ("reset", "half", "close")[number // 3 % 3])
        self.check_nothing_is_left(descriptors, disk)
        self.assertEqual(self.running.request("GET", "/box").texts("Key"), ["a", "b", "there"])

    def test_in_the_middle_of_an_answer(self):
        descriptors, disk = self.running.descriptors(), self.disk_bytes()
        for number in range(200):
            stream = self.running.connect()
            stream.sendall(self.running.signed_head("GET", "/box/there") * (number % 3 + 1))
            stream.recv(1000)
            self.vanish(stream, ("reset", "half", "close")[number % 3])
        self.check_nothing_is_left(descriptors, disk)

    def test_in_the_middle_of_a_batch(self):
        body = b'{"bucket":"box","items":[' + b",".join([b'{"name":"there"}'] * 200) + b"]}"
        # The store keeps an object open for those who come again.
        self.expect(self.running.request("POST", "/leat/v1/batch", body), 200)
        descriptors, disk = self.running.descriptors(), self.disk_bytes()
        for number in range(10):
            stream = self.running.connect()
            stream.sendall(self.running.signed_head("POST", "/leat/v1/batch", {
                "content-length": str(len(body))}) + body)
            stream.recv(1000)
            self.vanish(stream, ("reset", "half", "close")[number % 3])
        self.check_nothing_is_left(descriptors, disk)


class Closing(ServerTest):
    """A client that closes while its request waits in the pool cancels it."""

    def test_what_it_asked_for_is_not_done(self):
        running = self.serve("--anonymous", "read")
        self.expect(running.request("PUT", "/box"), 200)
        self.expect(running.request("PUT", "/box/there", bytes(1 << 20)), 200)
        copy = running.signed_head("PUT", "/box/copy", {
            "x-amz-copy-source": "/box/there", "content-length": "0"})
        get = b"GET /box/there HTTP/1.1\r\nHost: x\r\n\r\n"
        with running.connect() as half, running.connect() as whole:
            for stream in (half, whole):
                stream.sendall(get)
                self.expect(read_reply(stream), 200)
            # The server finds the request and the end of the connection at once.
            with running.stopped():
                half.sendall(get + copy)
                half.shutdown(socket.SHUT_WR)
                whole.sendall(copy)
                whole.close()
            # What the loop answers is answered; the client that still reads is told of the rest.
            answers = b"".join(iter(lambda: half.recv(1 << 16), b""))
            first, _, second = answers.rpartition(b"HTTP/1.1 ")
            self.assertEqual(first[:12], b"HTTP/1.1 200")
            self.assertGreater(len(first), 1 << 20)
            self.assertEqual(second[:3], b"499", second)
            self.assertIn(b"RequestCancelled", second)

        def are_cancelled():
            rows = running.request("GET", "/leat/v1/stats").json()["operations"]
            row = next(row for row in rows if row["operation"] == "CopyObject")
            return (row["count"], row["client_errors"], row["in_progress"]) == (2, 2, 0)
        self.eventually(are_cancelled, "they are not counted as cancelled")
        self.assertEqual(running.request("GET", "/box").texts("Key"), ["there"])


class FullDisk(ServerTest):
    SIZE = 96 << 20

    def setUp(self):
        super().setUp()
        disk = self.root / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.SIZE}", "tmpfs", disk],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("no small disk can be mounted here: that needs root")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        (disk / "server").mkdir()
        self.running = self.serve(root=disk / "server", config='[store]\npack_size = "8MiB"\n')
        self.expect(self.running.request("PUT", "/box"), 200)

    def test_it_is_told_and_goes_on(self):
        kept = {}
        for number in range(100):
            body = os.urandom(5 << 20)
            reply = self.running.request("PUT", f"/box/{number}", body, payload=sigv4.UNSIGNED)
            if reply.status != 200:
                break
            kept[number] = sigv4.sha256(body)
        self.expect(reply, 507)
        self.assertGreater(len(kept), 5)
        # A body that is announced and does not fit, and one of unknown length.
        self.expect(self.running.request("PUT", "/box/more", bytes(50 << 20)), 507)
        with self.running.connect() as stream:
            stream.sendall(self.running.signed_head("PUT", "/box/more", {
                "transfer-encoding": "chunked"}))
            with contextlib.suppress(ConnectionError):
                for _ in range(50):
                    stream.sendall(b"100000\r\n" + bytes(1 << 20) + b"\r\n")
                stream.sendall(b"0\r\n\r\n")
            self.expect(read_reply(stream, "PUT"), 507)
        # What failed left nothing; what was there is there.
        for number, digest in kept.items():
            self.assertEqual(sigv4.sha256(self.running.request("GET", f"/box/{number}").body),
                             digest)
        listed = self.running.request("GET", "/box").texts("Key")
        self.assertEqual(sorted(map(int, listed)), sorted(kept))
        self.expect(self.running.request("DELETE", "/box/0"), 204)
        self.expect(self.running.request("DELETE", "/box/1"), 204)
        kept.pop(0), kept.pop(1)
        body = os.urandom(5 << 20)
        self.expect(self.running.request("PUT", "/box/1000", body, payload=sigv4.UNSIGNED), 200)
        kept[1000] = sigv4.sha256(body)
        self.running.restart(signal.SIGKILL)
        for number, digest in kept.items():
            self.assertEqual(sigv4.sha256(self.running.request("GET", f"/box/{number}").body),
                             digest)

    def test_small_objects(self):
        kept = []
        with self.running.connect() as stream:
            for number in range(5000):
                body = (b"%d," % number) * 8000
                stream.sendall(self.running.signed_head("PUT", f"/box/{number}", {
                    "content-length": str(len(body))}) + body)
                reply = read_reply(stream, "PUT")
                if reply.status != 200:
                    break
                kept.append(number)
        self.expect(reply, 507)
        self.running.restart()
        for number in kept[::7] + kept[-3:]:
            self.assertEqual(self.running.request("GET", f"/box/{number}").body,
                             (b"%d," % number) * 8000)


class ManyConnections(ServerTest):
    COUNT = 10_000

    def test_idle_ones(self):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < self.COUNT + 1000:
            self.skipTest(f"only {hard} descriptors are allowed here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        running = self.serve("--anonymous", "read")
        self.expect(running.request("PUT", "/box"), 200)
        self.expect(running.request("PUT", "/box/k", b"bytes"), 200)
        before = running.resident_bytes()
        streams = []
        self.addCleanup(lambda: [stream.close() for stream in streams])
        for number in range(self.COUNT):
            stream = socket.create_connection(("127.0.0.1", running.port))
            streams.append(stream)
            if number % 10 == 0:  # some were used
                stream.sendall(b"GET /box/k HTTP/1.1\r\nHost: x\r\n\r\n")
                self.assertEqual(read_reply(stream).body, b"bytes")

        def are_all_there():
            stats = running.request("GET", "/leat/v1/stats").json()
            return stats["connections"]["open"] > self.COUNT
        self.eventually(are_all_there, "connections are missing")
        self.assertEqual(running.request("GET", "/box/k").body, b"bytes")
        after = running.resident_bytes()
        print(f"{self.COUNT} idle connections: {before >> 20} MiB resident before, "
              f"{after >> 20} MiB with them")
        self.assertLess(after, 200_000_000)
        # Each of them still works.
        for stream in streams[::97]:
            stream.sendall(b"GET /box/k HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertEqual(read_reply(stream).body, b"bytes")

    def test_more_than_allowed(self):
        running = self.serve(config="[serve]\nmax_connections = 20\n")
        streams = [running.connect() for _ in range(20)]
        for stream in streams:
            self.addCleanup(stream.close)
        with contextlib.suppress(ConnectionError):
            with running.connect() as stream:
                stream.sendall(b"GET /leat/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertEqual(stream.recv(1), b"")
        streams.pop().close()

        def answers():
            try:
                return running.request("GET", "/leat/v1/health", anonymous=True).status == 200
            except (OSError, server.http.client.HTTPException):
                return False
        self.eventually(answers, "room that was freed is not used")


if __name__ == "__main__":
    server.main(sys.argv)
