#!/usr/bin/env python3
"""serve_test.py LEAT [unittest arguments]: `leat serve` as those see it who run it."""

import concurrent.futures
import contextlib
import gzip
import io
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import tarfile
import urllib.parse

import server
import sigv4
from server import ServerTest, read_reply

MUTATING = {"x-leat-request": "1"}


class Starting(ServerTest):
    def start_by_hand(self, *arguments):
        """What a person sees at the start, and the process."""
        process = subprocess.Popen(
            [self.leat, "serve", "--data", self.root / "data", "--listen", "127.0.0.1:0",
             *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={"HOME": str(self.root), "PATH": os.environ["PATH"]})
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        lines = []
        while not lines or not lines[-1].startswith("try:"):
            lines.append(process.stdout.readline().decode())
            self.assertTrue(lines[-1], lines)
        return "".join(lines), process

    def test_the_first_start_makes_a_key_and_tells_how_to_use_it(self):
        greeting, process = self.start_by_hand()
        keys = self.root / ".config/leat/keys"
        self.assertEqual(stat.S_IMODE(keys.stat().st_mode), 0o600)
        text = keys.read_text()
        self.assertIn(str(keys), greeting)
        secret = text.splitlines()[-1].split()[1]
        self.assertNotIn(secret, greeting)
        # What it says is run as it stands, with the listing by curl in place of aws.
        command = re.search(r"try: (eval .*) && aws --endpoint-url (\S+) s3 ls", greeting)
        script = (f"{command[1]} && curl -sS --fail --aws-sigv4 aws:amz:us-east-1:s3 "
                  f'--user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" {command[2]}/')
        path = f"{os.path.dirname(self.leat)}:{os.environ['PATH']}"
        listing = subprocess.run(["sh", "-c", script], capture_output=True, check=False,
                                 env={"HOME": str(self.root), "PATH": path})
        self.assertEqual(listing.returncode, 0, listing.stderr)
        self.assertIn(b"ListAllMyBucketsResult", listing.stdout)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(server.PATIENCE_S), 0)

        greeting, _ = self.start_by_hand()
        self.assertNotIn("made a key", greeting)
        self.assertEqual(keys.read_text(), text)

    def test_keys_that_are_added(self):
        keys = self.root / "new-keys"

        def add(*rights):
            return subprocess.run([self.leat, "keys", "add", "--keys", keys, *rights],
                                  capture_output=True, text=True, check=False)

        first = add("read:images")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(len(first.stdout.split()), 2)  # the key and its secret, nothing else
        self.assertEqual(len([line for line in keys.read_text().splitlines()
                              if not line.startswith("#")]), 1)
        keys.write_text(keys.read_text().rstrip("\n"))  # as some editors leave it
        self.assertEqual(add("write:results").returncode, 0)
        listed = subprocess.run([self.leat, "keys", "ls", "--json", "--keys", keys],
                                capture_output=True, text=True, check=True).stdout
        self.assertEqual([key["rights"] for key in json.loads(listed)],
                         ["read:images", "write:results"])
        before = keys.read_text()
        self.assertNotEqual(add("read:images/a#b").returncode, 0)
        keys.chmod(0o644)
        self.assertNotEqual(add("admin").returncode, 0)
        self.assertEqual(keys.read_text(), before)

    def test_keys_that_are_removed(self):
        keys = self.root / "new-keys"

        def run(*arguments):
            return subprocess.run([self.leat, "keys", *arguments, "--keys", keys],
                                  capture_output=True, text=True, check=False)

        names = [run("add", right).stdout.split()[0] for right in ("admin", "read", "write")]
        text = "# mine\n" + keys.read_text().rstrip("\n")
        keys.write_text(text)
        link = self.root / "link"
        link.symlink_to(keys)
        for wrong in (names[0][:-1], "#", "mine", ""):
            self.assertNotEqual(run("rm", wrong).returncode, 0, wrong)
            self.assertEqual(keys.read_text(), text)
        removed = subprocess.run([self.leat, "keys", "rm", names[1], "--keys", link],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(removed.returncode, 0, removed.stderr)
        self.assertTrue(link.is_symlink())
        self.assertEqual(keys.read_text().splitlines(),
                         [line for line in text.splitlines() if names[1] not in line])
        self.assertEqual(stat.S_IMODE(keys.stat().st_mode), 0o600)
        self.assertEqual(run("rm", names[2]).returncode, 0)  # the line that has no end
        self.assertNotEqual(run("rm", names[2]).returncode, 0)
        self.assertEqual(run("rm", names[0]).returncode, 0)
        self.assertEqual(json.loads(run("ls", "--json").stdout), [])
        # Many at once: none is lost, none comes back.
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            names = [added.stdout.split()[0] for added in pool.map(lambda _: run("add", "read"),
                                                                   range(16))]
            changes = [pool.submit(run, "rm", name) for name in names[::2]]
            changes += [pool.submit(run, "add", "admin") for _ in range(8)]
            for change in changes:
                self.assertEqual(change.result().returncode, 0, change.result().stderr)
        left = {key["key"] for key in json.loads(run("ls", "--json").stdout)}
        self.assertEqual(len(left), 16)
        self.assertLess(set(names[1::2]), left)
        keys.chmod(0o644)
        self.assertNotEqual(run("rm", names[1]).returncode, 0)

    def test_keys_that_others_can_read_are_refused(self):
        running = self.serve()
        running.stop()
        running.keys.chmod(0o644)
        with self.assertRaises(AssertionError):
            running.start()

    def test_a_key_that_is_removed_ends_with_the_next_start(self):
        running = self.serve()
        key = running.add_key("read")
        running.restart()
        self.expect(running.request("GET", "/", key=key), 200)
        subprocess.run([self.leat, "keys", "rm", key.id, "--keys", running.keys], check=True,
                       capture_output=True)
        running.restart()
        self.expect(running.request("GET", "/", key=key), 403, "InvalidAccessKeyId")

    def test_a_key_that_is_added_holds_from_the_next_start(self):
        running = self.serve()
        key = running.add_key("read")
        self.expect(running.request("GET", "/", key=key), 403, "InvalidAccessKeyId")
        running.restart()
        self.expect(running.request("GET", "/", key=key), 200)

    def test_a_restart_keeps_everything(self):
        running = self.serve()
        self.expect(running.request("PUT", "/box"), 200)
        small, large = os.urandom(1000), os.urandom(3 << 20)
        headers = {"content-type": "image/png", "x-amz-meta-owner": "me"}
        self.expect(running.request("PUT", "/box/small", small, headers), 200)
        self.expect(running.request("PUT", "/box/large", large), 200)
        before = running.request("GET", "/box/small")
        running.restart()
        after = self.expect(running.request("GET", "/box/small"), 200)
        self.assertEqual(after.body, small)
        for name in ("etag", "last-modified", "content-type", "x-amz-meta-owner"):
            self.assertEqual(after.headers[name], before.headers[name])
        self.assertEqual(running.request("GET", "/box/large").body, large)

    def test_one_store_has_one_server(self):
        running = self.serve()
        second = subprocess.run(
            [self.leat, "--timeout", "100ms", "serve", "--data", running.data, "--keys",
             running.keys, "--listen", "127.0.0.1:0"], capture_output=True, check=False, timeout=server.PATIENCE_S)
        self.assertNotEqual(second.returncode, 0)
        self.expect(running.request("GET", "/"), 200)

    def test_a_port_that_is_taken_is_told(self):
        running = self.serve()
        other = self.root / "other"
        for listen in (f"127.0.0.1:{running.port}", f":{running.port}"):
            second = subprocess.run(
                [self.leat, "serve", "--data", other / "data", "--keys", other / "keys", "--listen",
                 listen], capture_output=True, check=False, timeout=server.PATIENCE_S)
            self.assertNotEqual(second.returncode, 0)
            self.assertIn(b"--listen", second.stderr)
            # Nothing was made for a server that never was.
            self.assertFalse(other.exists())

    def test_addresses(self):
        get = b"GET /leat/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        try:
            with socket.create_server(("::1", 0), family=socket.AF_INET6):
                has_v6 = True
        except OSError:
            has_v6 = False
        expected = {":0": ["127.0.0.1"] + ["::1"] * has_v6, "0.0.0.0:0": ["127.0.0.1"]}
        if has_v6:
            expected["[::1]:0"] = ["::1"]
        for number, (listen, addresses) in enumerate(expected.items()):
            running = self.serve("--listen", listen, root=self.make_root(str(number)))
            for address in ("127.0.0.1", "::1"):
                try:
                    with socket.create_connection((address, running.port)) as stream:
                        self.assertIn(address, addresses, listen)
                        stream.sendall(get)
                        self.expect(read_reply(stream), 200)
                except OSError:
                    self.assertNotIn(address, addresses, listen)
            # The address that is told works.
            listed = subprocess.run([self.leat, "bucket", "ls", running.url.replace("http", "leat")],
                                    capture_output=True, check=False,
                                    env=dict(os.environ, LEAT_KEYS=str(running.keys)))
            self.assertEqual(listed.returncode, 0, listed.stderr)

    def make_root(self, name):
        root = self.root / name
        root.mkdir()
        return root

    def test_secrets_are_not_logged(self):
        running = self.serve(config='[log]\nlevel = "debug"\n')
        self.expect(running.request("PUT", "/box"), 200)
        self.expect(running.request("PUT", "/box/k", b"x", payload="0" * 64), 400)
        self.expect(running.request("GET", "/box/k", date="20130524T000000Z"), 403)
        running.stop()
        self.assertNotIn(running.key.secret, running.log.read_text())


class Anonymous(ServerTest):
    def test_none_is_the_default(self):
        running = self.serve()
        self.expect(running.request("PUT", "/box"), 200)
        self.expect(running.request("PUT", "/box/k", b"x"), 200)
        for method, target in (("GET", "/"), ("GET", "/box"), ("GET", "/box/k"), ("GET", "/box/none"),
                               ("PUT", "/box/k"), ("DELETE", "/box/k"), ("DELETE", "/box"),
                               ("PUT", "/can"), ("POST", "/box?delete")):
            self.expect(running.request(method, target, anonymous=True), 403, "AccessDenied")
        self.expect(running.request("GET", "/leat/v1/stats", anonymous=True), 403)
        self.expect(running.request("GET", "/leat/v1/health", anonymous=True), 200)
        self.assertEqual(running.request("GET", "/box/k").body, b"x")

    def test_read(self):
        running = self.serve("--anonymous", "read")
        self.expect(running.request("PUT", "/box"), 200)
        self.expect(running.request("PUT", "/box/k", b"x"), 200)
        self.assertEqual(running.request("GET", "/box/k", anonymous=True).body, b"x")
        self.expect(running.request("HEAD", "/box/k", anonymous=True), 200)
        listing = running.request("GET", "/box?list-type=2", anonymous=True)
        self.assertEqual(listing.texts("Key"), ["k"])
        self.expect(running.request("PUT", "/box/k", b"y", anonymous=True), 403)
        self.expect(running.request("DELETE", "/box/k", anonymous=True), 403)
        self.expect(running.request("PUT", "/leat/v1/objects/box/k", b"y", MUTATING, anonymous=True),
                    403)
        self.assertEqual(running.request("GET", "/box/k").body, b"x")

    def test_write(self):
        running = self.serve("--anonymous", "write")
        self.expect(running.request("PUT", "/box"), 200)
        self.expect(running.request("PUT", "/box/k", b"y", anonymous=True), 200)
        self.assertEqual(running.request("GET", "/box/k", anonymous=True).body, b"y")
        self.expect(running.request("DELETE", "/box/k", anonymous=True), 204)
        # A wrong signature is not nobody's.
        wrong = sigv4.Key(running.key.id, "wrong")
        self.expect(running.request("PUT", "/box/k", b"z", key=wrong), 403, "SignatureDoesNotMatch")


class Stopping(ServerTest):
    def begin_put(self, running, body):
        """A PUT whose body is half there."""
        stream = running.connect()
        self.addCleanup(stream.close)
        stream.sendall(running.signed_head("PUT", "/box/k", {"content-length": str(len(body))}))
        stream.sendall(body[:len(body) // 2])
        return stream

    def wait_until_closed_to_new_ones(self, running):
        def is_closed():
            try:
                with socket.create_connection(("127.0.0.1", running.port), timeout=1) as stream:
                    stream.sendall(b"GET /leat/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    return stream.recv(1) == b""
            except OSError:
                return True
        self.eventually(is_closed, "the server still takes connections")

    def test_a_request_under_way_ends_and_health_says_so(self):
        running = self.serve()
        self.expect(running.request("PUT", "/box"), 200)
        body = os.urandom(1 << 20)
        put = self.begin_put(running, body)
        idle = running.connect()
        self.addCleanup(idle.close)
        # Half of a request is no idle connection.
        asking = running.connect()
        self.addCleanup(asking.close)
        asking.sendall(b"GET /leat/v1/health HTTP/1.1\r\nHost: localhost\r\n")
        self.assertEqual(running.request("GET", "/leat/v1/health", anonymous=True).json(),
                         {"status": "ok"})
        running.process.send_signal(signal.SIGTERM)
        self.assertEqual(idle.recv(1), b"")
        self.wait_until_closed_to_new_ones(running)
        asking.sendall(b"\r\n")
        health = self.expect(read_reply(asking), 503)
        self.assertEqual(health.json(), {"status": "draining"})
        self.assertIsNone(running.process.poll())
        put.sendall(body[len(body) // 2:])
        answer = self.expect(read_reply(put, "PUT"), 200)
        self.assertEqual(answer.headers["connection"], "close")
        self.assertEqual(running.process.wait(server.PATIENCE_S), 0)
        running.restart()
        self.assertEqual(running.request("GET", "/box/k").body, body)

    def test_a_second_signal_stops_at_once(self):
        running = self.serve(config='[serve]\ndrain_timeout = "1h"\n')
        self.expect(running.request("PUT", "/box"), 200)
        put = self.begin_put(running, bytes(1 << 20))
        running.process.send_signal(signal.SIGTERM)
        self.wait_until_closed_to_new_ones(running)
        self.assertIsNone(running.process.poll())
        running.process.send_signal(signal.SIGTERM)
        running.process.wait(server.PATIENCE_S)
        with contextlib.suppress(ConnectionResetError):
            self.assertEqual(put.recv(1), b"")
        running.restart()
        self.expect(running.request("GET", "/box/k"), 404, "NoSuchKey")

    def test_patience_ends(self):
        running = self.serve(config='[serve]\ndrain_timeout = "100ms"\n')
        self.expect(running.request("PUT", "/box"), 200)
        self.begin_put(running, bytes(1 << 20))
        self.assertEqual(running.stop(), 0)
        running.start()
        self.expect(running.request("GET", "/box/k"), 404, "NoSuchKey")


class Tls(ServerTest):
    def setUp(self):
        super().setUp()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                        "/CN=localhost", "-keyout", "key.pem", "-out", "certificate.pem"],
                       cwd=self.root, check=True, capture_output=True)
        self.files = (str(self.root / "certificate.pem"), str(self.root / "key.pem"))

    def serve_tls(self):
        return self.serve("--tls-certificate", self.files[0], "--tls-key", self.files[1])

    def curl(self, running, target, *arguments, body=b""):
        key = running.key
        done = subprocess.run(
            ["curl", "-sSk", "--fail", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user",
             f"{key.id}:{key.secret}", "-H", f"x-amz-content-sha256: {sigv4.sha256(body)}",
             *arguments, running.url + target],
            stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=server.PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_small_large_and_parts(self):
        running = self.serve_tls()
        self.assertTrue(running.url.startswith("https://"))
        self.curl(running, "/box", "-X", "PUT")
        # Packed, a file of its own, more than a window and a turn; lengths that fill no block.
        for size in (0, 1, 4096, 300_001, 9_000_001):
            data = os.urandom(size)
            (self.root / "body").write_bytes(data)
            self.curl(running, f"/box/{size}", "-T", str(self.root / "body"), body=data)
            self.assertEqual(self.curl(running, f"/box/{size}"), data)
            self.assertEqual(running.request("GET", f"/box/{size}").body, data)
            for first, last in ((0, 0), (1, 70_000), (size // 2, size - 1)):
                if last >= size or first > last:
                    continue
                part = running.request("GET", f"/box/{size}", headers={
                    "range": f"bytes={first}-{last}"})
                self.expect(part, 206)
                self.assertEqual(part.body, data[first:last + 1])

    def test_a_kept_connection(self):
        running = self.serve_tls()
        self.expect(running.request("PUT", "/box"), 200)
        data = os.urandom(2_000_000)
        with running.connect() as stream:
            for number in range(5):
                stream.sendall(running.signed_head("PUT", f"/box/{number}", {
                    "content-length": str(len(data))}) + data)
                self.expect(read_reply(stream, "PUT"), 200)
                stream.sendall(running.signed_head("GET", f"/box/{number}"))
                self.assertEqual(self.expect(read_reply(stream), 200).body, data)

    def test_plain_http_fails_cleanly(self):
        running = self.serve_tls()
        with socket.create_connection(("127.0.0.1", running.port), timeout=60) as stream:
            stream.sendall(b"GET /leat/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = b""
            try:
                while piece := stream.recv(4096):
                    answer += piece
            except ConnectionResetError:
                pass
        self.assertNotIn(b"200 OK", answer)
        self.assertEqual(running.request("GET", "/leat/v1/health", anonymous=True).status, 200)

    def test_half_of_a_handshake_harms_nobody(self):
        running = self.serve_tls()
        with socket.create_connection(("127.0.0.1", running.port), timeout=60) as stream:
            stream.sendall(b"\x16\x03\x01\x02\x00\x01")
            self.expect(running.request("GET", "/leat/v1/health", anonymous=True), 200)

    def test_a_certificate_needs_its_key(self):
        for arguments in (("--tls-certificate", self.files[0]), ("--tls-key", self.files[1]),
                          ("--tls-certificate", self.files[1], "--tls-key", self.files[0]),
                          ("--tls-certificate", "/nowhere", "--tls-key", self.files[1])):
            with self.assertRaises(AssertionError):
                self.serve(*arguments)


class VirtualHosts(ServerTest):
    def test_a_bucket_is_a_host(self):
        running = self.serve("--domain", "s3.example.test")
        hosted = f"photos.s3.example.test:{running.port}"
        plain = f"s3.example.test:{running.port}"
        self.expect(running.request("PUT", "/", host=hosted), 200)
        self.expect(running.request("PUT", "/a/b", b"x", host=hosted), 200)
        self.assertEqual(running.request("GET", "/a/b", host=hosted).body, b"x")
        self.assertEqual(running.request("GET", "/photos/a/b", host=plain).body, b"x")
        self.assertEqual(running.request("GET", "/photos/a/b").body, b"x")
        self.assertEqual(running.request("GET", "/", host=hosted).texts("Key"), ["a/b"])
        # There the native API's path is an object like any other, not so under the server's name.
        self.expect(running.request("PUT", "/leat/v1/health", b"mine", host=hosted), 200)
        self.assertEqual(running.request("GET", "/leat/v1/health", host=hosted).body, b"mine")
        self.assertEqual(running.request("GET", "/leat/v1/health", host=plain).json(),
                         {"status": "ok"})
        # Not a part of the name: another host.
        self.expect(running.request("GET", "/", host="nots3.example.test"), 200)

    def test_curl_resolves_it(self):
        running = self.serve("--domain", "s3.example.test", "--anonymous", "read")
        self.expect(running.request("PUT", "/photos"), 200)
        self.expect(running.request("PUT", "/photos/x", b"bytes"), 200)
        name = f"photos.s3.example.test:{running.port}"
        done = subprocess.run(["curl", "-sS", "--fail", "--resolve", f"{name}:127.0.0.1",
                               f"http://{name}/x"], capture_output=True, check=True)
        self.assertEqual(done.stdout, b"bytes")


class NativeApi(ServerTest):
    def test_health_metrics_stats_and_openapi(self):
        running = self.serve()
        self.expect(running.request("PUT", "/box"), 200)
        for number in range(10):
            self.expect(running.request("PUT", f"/box/{number}", b"12345"), 200)
            self.expect(running.request("GET", f"/box/{number}"), 200)
        metrics = self.expect(running.request("GET", "/leat/v1/metrics"), 200)
        self.assertTrue(metrics.headers["content-type"].startswith("text/plain"))
        text = metrics.body.decode()
        self.assertTrue(re.search(r"(?m)^leat_http_connections \d+$", text))
        self.assertTrue(re.search(r"(?m)^leat_drive_objects\{drive=[^}]*\} 1\d$", text))
        sample = re.compile(r"^[a-zA-Z_:][\w:]*(\{[^}]*\})? [-+0-9.eEinfNa]+$")
        for line in filter(None, text.splitlines()):
            self.assertTrue(line.startswith("#") or sample.match(line), line)
        stats = running.request("GET", "/leat/v1/stats").json()
        counted = {(row["api"], row["operation"]): row for row in stats["operations"]}
        self.assertEqual(counted["s3", "PutObject"]["count"], 10)
        self.assertEqual(counted["s3", "GetObject"]["count"], 10)
        self.assertEqual(counted["s3", "GetObject"]["bytes"], 50)
        self.assertEqual(stats["buckets"], ["box"])
        described = running.request("GET", "/leat/v1/openapi.json", anonymous=True)
        self.assertIn("/leat/v1/batch", self.expect(described, 200).json()["paths"])
        self.expect(running.request("GET", "/leat/v1/nothing"), 404)
        refused = self.expect(running.request("DELETE", "/leat/v1/stats"), 405)
        self.assertEqual(refused.headers["allow"], "GET")

    def test_a_batch_is_a_tar(self):
        running = self.serve()
        for bucket in ("box", "can"):
            self.expect(running.request("PUT", f"/{bucket}"), 200)
        bodies = {"small": os.urandom(700), "empty": b"", "large": os.urandom(700_000),
                  "deep/" * 30 + "größe": os.urandom(50)}
        for name, body in bodies.items():
            self.expect(running.request("PUT", f"/box/{urllib.parse.quote(name)}", body), 200)
        self.expect(running.request("PUT", "/can/other", b"other"), 200)
        order = ["large", "missing", *sorted(bodies), "small"]
        items = [{"name": urllib.parse.quote(name)} for name in order]
        items += [{"name": "small", "offset": 10, "length": 20}]
        reply = self.batch(running, {"bucket": "box", "items": items})
        with tarfile.open(fileobj=io.BytesIO(reply.body)) as tar:
            members = [(member.name, tar.extractfile(member).read()) for member in tar]
        self.assertEqual(len(members), len(items))
        for name, (told, data) in zip(order, members):
            if name == "missing":
                self.assertEqual(told, ".leat-error/1.json")
                self.assertEqual(json.loads(data)["error"]["code"], "not found")
            else:
                self.assertEqual((told, data), (name, bodies[name]))
        self.assertEqual(members[-1], ("small", bodies["small"][10:30]))
        # Across buckets the names begin with theirs.
        reply = self.batch(running, {"items": [{"bucket": "can", "name": "other"},
                                               {"bucket": "box", "name": "small"},
                                               {"bucket": "none", "name": "x"}]})
        with tarfile.open(fileobj=io.BytesIO(reply.body)) as tar:
            self.assertEqual(tar.getnames(), ["can/other", "box/small", ".leat-error/2.json"])

    def batch(self, running, document):
        reply = running.request("POST", "/leat/v1/batch", json.dumps(document).encode())
        self.assertEqual(self.expect(reply, 200).headers["content-type"], "application/x-tar")
        return reply

    def test_a_member_of_a_shard(self):
        running = self.serve()
        self.expect(running.request("PUT", "/box"), 200)
        shard = io.BytesIO()
        with tarfile.open(fileobj=shard, mode="w") as tar:
            for number in range(100):
                data = f"sample {number}".encode()
                info = tarfile.TarInfo(f"{number:03}.txt")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        self.expect(running.request("PUT", "/box/s.tar", shard.getvalue()), 200)
        reply = running.request("GET", "/leat/v1/objects/box/s.tar/042.txt")
        self.assertEqual(self.expect(reply, 200).body, b"sample 42")
        reply = running.request("GET", "/leat/v1/shards/box/s.tar")
        self.assertIn(b"099.txt", self.expect(reply, 200).body)
        reply = self.batch(running, {"bucket": "box", "items": [
            {"name": "s.tar/007.txt"}, {"name": "s.tar/100.txt"}, {"name": "s.tar/000.txt"}]})
        with tarfile.open(fileobj=io.BytesIO(reply.body)) as tar:
            self.assertEqual(tar.getnames(), ["s.tar/007.txt", ".leat-error/1.json",
                                              "s.tar/000.txt"])

    def test_compressed_bytes_are_not_touched(self):
        running = self.serve()
        self.expect(running.request("PUT", "/box"), 200)
        packed = gzip.compress(b"text" * 1000)
        self.expect(running.request("PUT", "/box/k", packed, {"content-encoding": "gzip"}), 200)
        reply = running.request("GET", "/box/k")
        self.assertEqual(reply.body, packed)
        self.assertEqual(reply.headers["content-encoding"], "gzip")


class Strangers(ServerTest):
    """Web pages of others that make a browser speak to a server on this machine."""

    def setUp(self):
        super().setUp()
        self.running = self.serve("--anonymous", "write")
        self.expect(self.running.request("PUT", "/box"), 200)

    def put(self, headers, host=None):
        return self.running.request("PUT", "/leat/v1/objects/box/k", b"x", headers, anonymous=True,
                                    host=host).status

    def test_a_name_that_is_not_ours(self):
        for host in ("evil.example", f"evil.example:{self.running.port}", "127.0.0.1.evil.example",
                     "localhost.evil.example", "evil.example#127.0.0.1", "127.0.0.1@evil.example"):
            self.assertIn(self.put(MUTATING, host), (400, 403), host)
            reply = self.running.request("GET", "/leat/v1/stats", anonymous=True, host=host)
            self.assertIn(reply.status, (400, 403), host)
        for host in (self.running.host, f"localhost:{self.running.port}", "[::1]:80"):
            self.assertEqual(self.put(MUTATING, host), 200, host)

    def test_a_page_of_another_origin(self):
        for origin in ("http://evil.example", "null", f"http://evil.example:{self.running.port}",
                       "http://127.0.0.1:1", "file://", ""):
            self.assertEqual(self.put(MUTATING | {"origin": origin}), 403, origin)
        self.assertEqual(self.put(MUTATING | {"origin": self.running.url}), 200)

    def test_a_form_can_change_nothing(self):
        self.assertEqual(self.put({}), 403)
        self.assertEqual(self.put({"content-type": "text/plain"}), 403)
        reply = self.running.request("POST", "/leat/v1/batch", b'{"items":[]}',
                                     {"content-type": "text/plain"}, anonymous=True)
        self.expect(reply, 403)
        reply = self.running.request("DELETE", "/leat/v1/buckets/box", anonymous=True)
        self.expect(reply, 403)

    def test_an_own_domain(self):
        self.running.arguments += ["--domain", "store.example.test"]
        self.running.restart()
        self.assertEqual(self.put(MUTATING, "store.example.test:80"), 200)
        self.assertEqual(self.put(MUTATING, "other.example.test"), 403)

    def test_what_is_signed_needs_no_mark(self):
        self.expect(self.running.request("PUT", "/leat/v1/objects/box/k", b"x"), 200)


if __name__ == "__main__":
    server.main(sys.argv)
