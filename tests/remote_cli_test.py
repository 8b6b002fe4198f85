#!/usr/bin/env python3
"""remote_cli_test.py LEAT: the command line against servers: leat serve, and plain web servers."""

import functools
import http.server
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

LEAT = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""


class ServedTest(unittest.TestCase):
    """A server on a free port, with a key in a HOME of its own."""

    options: list[str] = []
    scheme = "leat"

    def setUp(self) -> None:
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("AWS_", "LEAT_", "XDG_"))}
        self.environment["HOME"] = str(self.directory)
        self.prepare()
        self.server = subprocess.Popen(
            [LEAT, "serve", "--data", self.directory / "store", "--listen", "127.0.0.1:0",
             *self.options], env=self.environment, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(self.stop)
        greeting = self.server.stdout.readline()
        self.url = f"{self.scheme}://{greeting.rsplit('://', 1)[1].strip()}"

    def prepare(self) -> None:
        """What the server needs."""

    def stop(self) -> None:
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(60)
        self.server.stdout.close()

    def leat(self, *arguments, status: int = 0, **options) -> bytes:
        done = subprocess.run([LEAT, "--quiet", *arguments], env=self.environment, check=False,
                              capture_output=True, **options)
        self.assertEqual(done.returncode, status, (arguments, done.stderr.decode()))
        return done.stdout if status == 0 else done.stderr

    def make_tree(self) -> pathlib.Path:
        tree = self.directory / "tree"
        (tree / "sub").mkdir(parents=True)
        for number in range(20):
            (tree / "sub" / f"{number}.bin").write_bytes(os.urandom(1000 * number))
        (tree / "big.bin").write_bytes(os.urandom(5_000_000))
        (tree / "odd name %?#é.txt").write_bytes(b"odd")
        return tree


class LeatServerTest(ServedTest):
    def test_an_ordinary_day(self) -> None:
        tree = self.make_tree()
        bucket = f"{self.url}/photos"
        self.leat("bucket", "create", bucket)
        self.leat("bucket", "create", bucket, status=1)
        self.assertEqual(self.leat("ls", self.url), b"photos/\n")
        self.assertIn(b"photos", self.leat("bucket", "ls", self.url))
        self.leat("cp", "-r", tree, f"{bucket}/day/")
        self.assertEqual(self.leat("ls", f"{bucket}/day").splitlines()[:2],
                         [b"day/big.bin", "day/odd name %25?#é.txt".encode()])
        self.assertIn(b"22", self.leat("du", bucket))
        self.assertEqual(self.leat("cat", f"{bucket}/day/big.bin"), (tree / "big.bin").read_bytes())
        self.leat("get", f"{bucket}/day/sub/7.bin", self.directory / "seven")
        self.assertEqual((self.directory / "seven").read_bytes(), (tree / "sub/7.bin").read_bytes())
        self.assertIn(b"5000000", self.leat("stat", f"{bucket}/day/big.bin"))
        self.leat("cp", f"{bucket}/day/big.bin", f"{bucket}/copy.bin")
        self.leat("cp", f"{bucket}/day/big.bin", f"{self.url}/made-in-passing/big.bin")
        self.leat("put", "-", f"{bucket}/word", input=b"hello")
        self.assertEqual(self.leat("cat", f"{bucket}/word"), b"hello")
        (tree / "big.bin").unlink()
        self.leat("sync", "--delete", tree, f"{bucket}/day/")
        self.leat("stat", f"{bucket}/day/big.bin", status=1)
        self.leat("sync", f"{bucket}/day/", self.directory / "back")
        subprocess.run(["diff", "-r", tree, self.directory / "back"], check=True)
        self.leat("bucket", "rm", bucket, status=1)
        self.leat("rm", "-r", "--yes", f"{bucket}/")
        self.leat("bucket", "rm", bucket)
        self.assertEqual(self.leat("ls", self.url), b"made-in-passing/\n")
        self.assertIn(b"no bucket", self.leat("ls", bucket, status=1))

    def test_shards_are_taken_apart(self) -> None:
        tree = self.make_tree()
        bucket = f"{self.url}/shards"
        self.leat("bucket", "create", bucket)
        self.leat("shard", "create", tree, f"{bucket}/")
        shard = f"{bucket}/shard-000000.tar"
        self.assertEqual(len(self.leat("shard", "ls", shard).splitlines()), 22)
        self.assertIn(b"shard-000000.tar/sub/7.bin", self.leat("ls", "-r", "--members", bucket))
        self.assertEqual(self.leat("cat", f"{shard}/sub/7.bin"), (tree / "sub/7.bin").read_bytes())
        self.leat("shard", "extract", shard, self.directory / "apart")
        subprocess.run(["diff", "-r", tree, self.directory / "apart"], check=True)

    def test_without_a_key_nothing_is_told(self) -> None:
        keys = self.directory / ".config/leat/keys"
        elsewhere = keys.rename(self.directory / "elsewhere")
        self.assertIn(b"key", self.leat("ls", self.url, status=1))
        self.assertIn(b"LEAT_KEYS", self.leat("ls", self.url, status=1))  # the advice
        self.environment["LEAT_KEYS"] = str(elsewhere)
        self.leat("top", "--once", "--json", self.url)
        self.leat("ls", self.url)
        self.environment["LEAT_KEYS"] = str(keys)
        self.leat("ls", self.url, status=1)
        del self.environment["LEAT_KEYS"]
        self.leat("ls", f"{self.url}?keys={elsewhere}")
        self.leat("ls", f"{self.url}?keys=none", status=1)
        exports = self.leat("keys", "env", "--keys", elsewhere).decode().split()
        self.environment.update(pair.split("=", 1) for pair in exports if "=" in pair)
        self.leat("ls", self.url)


class TlsServerTest(ServedTest):
    scheme = "leats"

    def prepare(self) -> None:
        certificate, key = self.directory / "certificate.pem", self.directory / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=leat test", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", key, "-out", certificate], check=True, capture_output=True)
        self.options = ["--tls-certificate", str(certificate), "--tls-key", str(key)]
        self.certificate = certificate

    def test_a_trusted_server_is_used_and_another_is_not(self) -> None:
        tree = self.make_tree()
        self.assertIn(b"certificate", self.leat("ls", self.url, status=1))
        self.environment["SSL_CERT_FILE"] = str(self.certificate)
        self.leat("cp", "-r", tree, f"{self.url}/photos/")
        self.leat("cp", "-r", f"{self.url}/photos/", self.directory / "back")
        subprocess.run(["diff", "-r", tree, self.directory / "back"], check=True)
        for url in (self.url, self.url.replace("leats:", "https:")):
            self.assertIn(b"requests_per_second", self.leat("top", "--once", "--json", url))
        # The certificate is for an address, not for this name.
        named = self.url.replace("127.0.0.1", "localhost")
        self.assertIn(b"certificate", self.leat("ls", named, status=1))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        pass


class WebServerTest(ServedTest):
    """Python's own server: index pages, HTTP/1.0, no ranges."""

    def serve(self, tree: pathlib.Path) -> str:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                 functools.partial(Quiet, directory=tree))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

    def test_a_tree_is_listed_and_copied(self) -> None:
        tree = self.make_tree()
        web = self.serve(tree)
        self.assertEqual(self.leat("ls", f"{web}/").splitlines(),
                         [b"big.bin", "odd name %25?#é.txt".encode(), b"sub/"])
        self.assertEqual(len(self.leat("ls", f"{web}/sub").splitlines()), 20)
        self.leat("cp", "-r", f"{web}/", f"{self.url}/photos/")
        self.leat("cp", "-r", f"{self.url}/photos/", self.directory / "back")
        subprocess.run(["diff", "-r", tree, self.directory / "back"], check=True)
        self.assertEqual(self.leat("cat", f"{web}/sub/7.bin"), (tree / "sub/7.bin").read_bytes())
        self.assertEqual(len(self.leat("ls", f"{web}/sub/{{3..6}}.bin").splitlines()), 4)
        self.leat("ls", f"{web}/sub/{{18..21}}.bin", status=1)
        (tree / "names.txt").write_text("sub/3.bin\nbig.bin\n")
        self.assertEqual(self.leat("ls", "-r", f"{web}/#manifest=names.txt"),
                         b"big.bin\nsub/3.bin\n")
        self.assertIn(b"only be read", self.leat("put", tree / "big.bin", f"{web}/x", status=1))
        self.assertIn(b"only be read", self.leat("rm", f"{web}/big.bin", status=1))
        self.leat("cat", f"{web}/none", status=1)

    def test_errors_tell_no_secrets(self) -> None:
        web = self.serve(self.make_tree())
        place = web.removeprefix("http://")
        for url in (f"{web}/none?token=hidden", f"http://user:hidden@{place}/none",
                    f"{self.url}/none/none?keys=/hidden"):
            told = self.leat("cat", url, status=1)
            self.assertNotIn(b"hidden", told.replace(b"open /hidden", b""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
