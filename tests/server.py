"""`leat serve` for tests: starts it on a free port of this machine, speaks to it, and ends it."""

import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import xml.etree.ElementTree
from typing import NamedTuple

import sigv4

PATIENCE_S = 60


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]  # names in lower case
    body: bytes

    def code(self) -> str:
        """Of an S3 error."""
        return xml.etree.ElementTree.fromstring(self.body).findtext("Code")

    def texts(self, element: str) -> list[str]:
        """Of all elements of that name in an S3 answer."""
        root = xml.etree.ElementTree.fromstring(self.body)
        return [found.text or "" for found in root.iter()
                if found.tag.rpartition("}")[2] == element]

    def json(self):
        return json.loads(self.body)


def read_reply(stream: socket.socket, method: str = "GET") -> Reply:
    """The next answer on a raw connection."""
    response = http.client.HTTPResponse(stream, method=method)
    response.begin()
    body = response.read()
    return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, body)


class Server:
    """A running server. Its store, its keys and its log are in `root`."""

    def __init__(self, leat: str, root: pathlib.Path, *arguments: str, config: str = ""):
        self.leat = leat
        self.root = root
        self.data = root / "data"
        self.keys = root / "keys"
        self.log = root / "server.log"
        self.arguments = list(arguments)
        self.config = root / "leat.toml"
        self.config.write_text(config)
        self.process = None
        self.start()

    def start(self) -> None:
        command = [self.leat, "--config", self.config, "--json", "serve", "--data", self.data,
                   "--keys", self.keys, *self.arguments]
        if "--listen" not in self.arguments:
            command += ["--listen", "127.0.0.1:0"]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log,
                                            env=dict(os.environ, HOME=str(self.root)))
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.process.stdout.close()
            raise AssertionError(f"the server did not start: {self.log.read_text()}")
        self.url = json.loads(line)["url"]
        parts = urllib.parse.urlsplit(self.url)
        self.host, self.port, self.is_tls = parts.netloc, parts.port, parts.scheme == "https"
        self.key = self.read_keys()[0]

    def read_keys(self) -> list[sigv4.Key]:
        lines = [line.split() for line in self.keys.read_text().splitlines()]
        return [sigv4.Key(*words[:2]) for words in lines if words and words[0] != "#"]

    def add_key(self, *rights: str) -> sigv4.Key:
        """A new key; the server knows it when it is started again."""
        printed = subprocess.run([self.leat, "keys", "add", "--keys", self.keys, "--json", *rights],
                                 capture_output=True, check=True).stdout
        made = json.loads(printed)
        return sigv4.Key(made["key"], made["secret"])

    def end(self, signal_number: int) -> int:
        """Sends the signal and waits for the end; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        try:
            return self.process.wait(PATIENCE_S)
        finally:
            self.process.stdout.close()

    def stop(self) -> int:
        return self.end(signal.SIGTERM)

    def kill(self) -> int:
        return self.end(signal.SIGKILL)

    def restart(self, signal_number: int = signal.SIGTERM) -> None:
        self.end(signal_number)
        self.start()

    def connect(self) -> socket.socket:
        stream = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        if not self.is_tls:
            return stream
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context.wrap_socket(stream)

    def send(self, raw: bytes, method: str = "GET") -> Reply:
        """These very bytes on a new connection, and the first answer to them."""
        with self.connect() as stream:
            stream.sendall(raw)
            return read_reply(stream, method)

    def signed_head(self, method: str, target: str, headers: dict[str, str] | None = None,
                    payload: str = sigv4.UNSIGNED, key: sigv4.Key | None = None) -> bytes:
        """The head of a signed request, as it goes over a raw connection. Content-Length and its
        like are not signed: they come in `headers`, too."""
        headers = dict(headers or {})
        apart = {name: headers.pop(name) for name in list(headers)
                 if name.lower() in ("content-length", "transfer-encoding", "expect")}
        lines = sigv4.sign(key or self.key, method, target, {"host": self.host} | headers, payload)
        text = "".join(f"{name}: {value}\r\n" for name, value in (lines | apart).items())
        return f"{method} {target} HTTP/1.1\r\n{text}\r\n".encode()

    def request(self, method: str, target: str, body: bytes = b"",
                headers: dict[str, str] | None = None, *, key: sigv4.Key | None = None,
                anonymous: bool = False, payload: str | None = None, date: str | None = None,
                host: str | None = None) -> Reply:
        """One request on a connection of its own, signed unless `anonymous`."""
        headers = {"host": host or self.host} | (headers or {})
        if not anonymous:
            headers = sigv4.sign(key or self.key, method, target, headers,
                                 payload or sigv4.sha256(body), date)
        if body or method in ("PUT", "POST"):
            headers["content-length"] = str(len(body))
        text = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"{method} {target} HTTP/1.1\r\n{text}\r\n".encode("latin-1")
        with self.connect() as stream:
            try:
                stream.sendall(head + body)
            except (BrokenPipeError, ConnectionResetError):
                pass  # refused before the body: the answer is there
            return read_reply(stream, method)

    @contextlib.contextmanager
    def stopped(self):
        """Meanwhile none of its threads runs; what comes waits for all of it to go on."""
        def all_stand():
            tasks = pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()
            return all((task / "stat").read_text().rpartition(")")[2].split()[0] == "T"
                       for task in tasks)
        self.process.send_signal(signal.SIGSTOP)
        try:
            while not all_stand():
                time.sleep(0.001)
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def resident_bytes(self) -> int:
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) * 1024


class ServerTest(unittest.TestCase):
    """A test with a directory of its own, and servers that end with it."""

    leat = ""  # the program

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name).resolve()

    def serve(self, *arguments: str, config: str = "", root: pathlib.Path | None = None) -> Server:
        server = Server(self.leat, root or self.root, *arguments, config=config)
        self.addCleanup(server.kill)
        return server

    def expect(self, reply: Reply, status: int, code: str | None = None) -> Reply:
        self.assertEqual(reply.status, status, (reply.headers, reply.body[:500]))
        if code is not None:
            self.assertEqual(reply.code(), code, reply.body[:500])
        return reply

    def eventually(self, condition, message: str) -> None:
        """Waits until `condition()` holds; how long that takes is not judged."""
        end = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > end:
                self.fail(message)
            time.sleep(0.02)


class AbuseTest(ServerTest):
    """A server with a bucket, and nothing asked of who writes to it."""

    arguments = ("--anonymous", "write")
    config = ""

    def setUp(self):
        super().setUp()
        self.running = self.serve(*self.arguments, config=self.config)
        self.expect(self.running.request("PUT", "/box"), 200)

    def put(self, key, body=b"x", **options):
        return self.running.request("PUT", f"/box/{urllib.parse.quote(key)}", body, **options)

    def get(self, key, **options):
        return self.running.request("GET", f"/box/{urllib.parse.quote(key)}", **options)

    def still_answers(self):
        self.assertIsNone(self.running.process.poll(), self.running.log.read_text())
        self.expect(self.running.request("GET", "/leat/v1/health", anonymous=True), 200)

    def all_answers(self, raw):
        """Everything that comes back on one connection until the server closes it. The last
        request says "Connection: close": a client that ends its side first cancels what it asked
        for."""
        with self.running.connect() as stream:
            stream.sendall(raw)
            answer = b""
            try:
                while piece := stream.recv(1 << 16):
                    answer += piece
            except ConnectionResetError:
                pass
            return answer


def main(arguments: list[str]) -> None:
    """Runs the tests of the calling module: LEAT [unittest arguments]."""
    if len(arguments) < 2:
        raise SystemExit(f"usage: {os.path.basename(arguments[0])} LEAT [unittest arguments]")
    ServerTest.leat = os.path.abspath(arguments[1])
    unittest.main(argv=[arguments[0], *arguments[2:]])
