#!/usr/bin/env python3
"""top_test.py LEAT [unittest arguments]: 'leat top' against a real server."""

import json
import os
import pathlib
import pty
import select
import socket
import subprocess
import sys
import tempfile
import termios
import time
import unittest
import urllib.request

LEAT = ""
PATIENCE_S = 60


class Top(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.home = pathlib.Path(scratch.name)
        cls.environment = dict(os.environ, HOME=scratch.name, TERM="xterm")
        cls.environment.pop("XDG_CONFIG_HOME", None)
        base = f"leat+local://{scratch.name}/store"
        subprocess.run([LEAT, "put", "-", f"{base}/images/x"], input=b"y" * 1000, check=True,
                       env=cls.environment)
        cls.server, cls.url = cls.serve("--data", f"{scratch.name}/store")
        # A second one is for everyone, so that the test need not sign.
        cls.open_server, cls.open_url = cls.serve("--data", f"{scratch.name}/other", "--anonymous", "write")

    @classmethod
    def serve(cls, *arguments):
        server = subprocess.Popen([LEAT, "serve", "--listen", "127.0.0.1:0", "--json", *arguments],
                                  env=cls.environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)

        def stop():
            server.terminate()
            server.wait(PATIENCE_S)
            server.stdout.close()
        cls.addClassCleanup(stop)
        return server, json.loads(server.stdout.readline())["url"]

    def top(self, *arguments, code=0, **environment):
        result = subprocess.run([LEAT, "top", *arguments], capture_output=True, check=False,
                                timeout=PATIENCE_S, env=dict(self.environment, **environment))
        self.assertEqual(result.returncode, code, result)
        self.stderr = result.stderr.decode()
        return result.stdout.decode()

    def test_finds_the_key_by_itself(self):
        figures = json.loads(self.top("--once", "--json", self.url))
        self.assertGreater(figures["seconds"], 0.5)
        self.assertGreaterEqual(figures["connections"], 1)
        self.assertEqual([drive["state"] for drive in figures["drives"]], ["in use"])
        self.assertGreaterEqual(figures["drives"][0]["objects"], 1)
        self.assertEqual(figures["total"]["count"], 0)
        stats = next(one for one in figures["operations"] if one["operation"] == "stats")
        self.assertGreater(stats["requests_per_second"], 0)
        self.assertGreater(stats["p99_ns"], 0)

    def test_counts_what_happens_in_between(self):
        top = subprocess.Popen([LEAT, "top", "--json", "--interval", "200ms", self.open_url],
                               env=self.environment, stdout=subprocess.PIPE)
        self.addCleanup(top.stdout.close)
        top.stdout.readline()  # from now on it counts
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for method, path, body in [("PUT", "things", None),
                                   *[("PUT", f"things/{i}", b"z" * 5000) for i in range(20)],
                                   *[("GET", f"things/{i}", None) for i in range(20)]]:
            request = urllib.request.Request(f"{self.open_url}/{path}", data=body, method=method)
            opener.open(request).read()
        requests = bytes_moved = 0
        latencies = []
        deadline = time.monotonic() + PATIENCE_S
        while requests < 41 and time.monotonic() < deadline:
            figures = json.loads(top.stdout.readline())
            requests += round(figures["total"]["requests_per_second"] * figures["seconds"])
            bytes_moved += round(figures["total"]["bytes_per_second"] * figures["seconds"])
            latencies += [figures["total"][name] for name in ("p50_ns", "p99_ns")]
        top.terminate()
        self.assertEqual(top.wait(PATIENCE_S), 0)
        self.assertEqual(requests, 41)
        self.assertGreaterEqual(bytes_moved, 40 * 5000)
        self.assertTrue(any(latencies))

    def test_tables_for_a_pipe(self):
        table = self.top("--once", "--interval", "100ms", self.url)
        self.assertIn("requests/s", table)
        self.assertIn(str(self.home / "store"), table)
        self.assertNotIn("\x1b", table)

    def test_says_what_is_wrong(self):
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            self.top(f"http://127.0.0.1:{nobody.getsockname()[1]}", code=1)
        self.assertIn("leat serve", self.stderr)
        with tempfile.TemporaryDirectory() as elsewhere:
            self.top("--once", self.url, HOME=elsewhere, code=1)
        self.assertIn("--keys", self.stderr)
        self.top("--once", self.url, "--keys", str(self.home / "none"), code=1)
        for arguments in (["ftp://127.0.0.1"], ["http://127.0.0.1:99999"], ["--interval", "1ms"], ["http://"]):
            self.top(*arguments, code=2)

    def leave_by(self, key):
        """Runs it in a terminal and presses `key` once it shows figures; what it wrote."""
        master, terminal = pty.openpty()
        before = termios.tcgetattr(terminal)
        process = subprocess.Popen([LEAT, "top", "--interval", "100ms", self.url], stdin=terminal,
                                   stdout=terminal, stderr=terminal, env=self.environment,
                                   start_new_session=True, preexec_fn=take_terminal)
        written = b""
        deadline = time.monotonic() + PATIENCE_S
        while process.poll() is None and time.monotonic() < deadline:
            if select.select([master], [], [], 0.1)[0]:
                written += os.read(master, 65536)
            if b"requests/s" in written and key:
                os.write(master, key)
                key = b""
        self.assertEqual(process.wait(PATIENCE_S), 0)
        while select.select([master], [], [], 0)[0]:
            written += os.read(master, 65536)
        self.assertEqual(termios.tcgetattr(terminal), before)
        os.close(master)
        os.close(terminal)
        return written

    def test_leaves_the_terminal_as_it_was(self):
        for key in (b"q", b"\x03"):
            written = self.leave_by(key)
            self.assertIn(b"\x1b[?1049h", written)
            self.assertTrue(written.endswith(b"\x1b[?25h\x1b[?1049l"), written[-40:])


def take_terminal():
    """Ctrl-C goes to whom the terminal belongs."""
    import fcntl  # in the child, which has only this thread
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


if __name__ == "__main__":
    LEAT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
