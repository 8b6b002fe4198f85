#!/usr/bin/env python3
"""serve_abuse_test.py LEAT [unittest arguments]: what `leat serve` does with requests that were
made to break it."""

import base64
import hashlib
import io
import json
import os
import re
import socket
import sys
import tarfile
import time
import urllib.parse

import server
import sigv4
from server import AbuseTest, read_reply

ANSWER = re.compile(rb"HTTP/1\.1 \d\d\d ")


class Smuggling(AbuseTest):
    """Shapes on which a proxy in front and a server behind have disagreed where a request ends.
    Each is refused, and what follows it on the connection is never taken for a request."""

    NEXT = b"GET /leat/v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

    def refused(self, raw, statuses=(400,)):
        answer = self.all_answers(raw + self.NEXT)
        self.assertEqual(len(ANSWER.findall(answer)), 1, (raw[:200], answer))
        self.assertIn(int(answer[9:12]), statuses, (raw[:200], answer))
        self.expect(self.get("victim"), 404)

    def head(self, *lines, first=b"PUT /box/victim HTTP/1.1"):
        return b"\r\n".join([first, b"Host: x", *lines]) + b"\r\n\r\n"

    def test_lengths(self):
        for lines in ([b"Content-Length: 1", b"Content-Length: 1"],
                      [b"Content-Length: 1", b"Content-Length: 44"],
                      [b"Content-Length: 1, 1"], [b"Content-Length: +1"], [b"Content-Length: -1"],
                      [b"Content-Length: 0x1"], [b"Content-Length: 1 1"], [b"Content-Length:"],
                      [b"Content-Length: 99999999999999999999"],
                      [b"Content-Length: 18446744073709551616"],
                      [b"Content-Length: 5", b"Transfer-Encoding: chunked"],
                      [b"Transfer-Encoding: chunked", b"Content-Length: 5"]):
            self.refused(self.head(*lines) + b"0\r\n\r\n")

    def test_encodings(self):
        for value in (b"chunked, chunked", b"identity", b"gzip, chunked", b"xchunked", b"chunked;q",
                      b"\x0bchunked", b"", b"chunked\x00"):
            self.refused(self.head(b"Transfer-Encoding: " + value) + b"0\r\n\r\n", (400, 501))
        self.refused(self.head(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked") +
                     b"0\r\n\r\n")
        self.refused(self.head(b"Transfer-Encoding : chunked") + b"0\r\n\r\n")
        self.refused(self.head(b"Transfer-Encoding: chunked", first=b"PUT /box/victim HTTP/1.0") +
                     b"0\r\n\r\n")

    def test_ends_of_lines(self):
        self.refused(b"PUT /box/victim HTTP/1.1\nHost: x\nContent-Length: 1\n\n\r\n\r\n")
        self.refused(self.head(b"X: 1\nContent-Length: 1"))
        self.refused(self.head(b"X: 1\rContent-Length: 1"))
        self.refused(self.head(b"X: a\r\n folded"))
        self.refused(self.head(b"X: a\r\n\tfolded: 1"))
        self.refused(self.head(b" Content-Length: 1"))

    def test_first_lines(self):
        for first in (b"PUT  /box/victim HTTP/1.1", b"PUT /box/vic tim HTTP/1.1", b"PUT HTTP/1.1",
                      b"PUT /box/victim", b"PUT /box/victim HTTP/1.1 ", b" PUT /box/victim HTTP/1.1",
                      b"PUT /box/victim http/1.1", b"PUT /box/victim HTTP/1.1\x00",
                      b"PUT /box/vic\x00tim HTTP/1.1", b"PUT /box/vic\x7ftim HTTP/1.1",
                      b"PUT /box/\xff HTTP/1.1", b"PUT box/victim HTTP/1.1", b"PUT * HTTP/1.1",
                      b"PUT\t/box/victim\tHTTP/1.1", b"P\x01T /box/victim HTTP/1.1",
                      b"PUT /box/victim#x HTTP/1.1", b"\x16\x03\x01\x02\x00\x01\x00"):
            self.refused(self.head(b"Content-Length: 0", first=first), (400, 501, 505))
        for version in (b"HTTP/2.0", b"HTTP/1.2", b"HTTP/0.9", b"HTTP/11"):
            self.refused(self.head(first=b"PUT /box/victim " + version), (505,))
        self.refused(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (505,))

    def test_each_api_refuses_in_its_own_words(self):
        broken = b" HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"
        endless = b" HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 100_000 + b"\r\n\r\n"
        for end, status in ((broken, 400), (endless, 431), (b" HTTP/3.0\r\n\r\n", 505)):
            reply = self.expect(self.running.send(b"GET /leat/v1/stats" + end), status)
            self.assertEqual(reply.headers["content-type"], "application/json")
            self.assertIn("message", reply.json()["error"])
            reply = self.expect(self.running.send(b"GET /box/victim" + end), status)
            self.assertEqual(reply.headers["content-type"], "application/xml")
            self.assertTrue(reply.code())
        self.assertTrue(self.expect(self.running.send(b"nonsense\r\n\r\n"), 400).code())

    def test_hosts(self):
        self.refused(b"PUT /box/victim HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
        self.refused(self.head(b"Host: y", b"Content-Length: 0"))

    def test_names_and_values(self):
        for line in (b"Na me: x", b"Name\x00: x", b"Name: \x00", b"Name: a\x01b", b"Name: \x7f",
                     b": x", b"no colon", b"N\xc3\xa4me: x", b"Name(x): y", b"Name : x"):
            self.refused(self.head(line, b"Content-Length: 0"))
        self.refused(self.head(b"Expect: 200-ok", b"Content-Length: 0"), (400, 417))

    def test_chunks(self):
        for body in (b"ffffffffffffffff1\r\nx", b"10000000000000000\r\nx", b"-1\r\nx\r\n",
                     b"+1\r\nx\r\n", b"0x1\r\nx\r\n", b" 1\r\nx\r\n", b"1 \r\nx\r\n", b"\r\nx\r\n",
                     b"1\nx\n0\n\n", b"1\r\nxy\r\n0\r\n\r\n", b"1\r\nx0\r\n\r\n", b"g\r\n",
                     b"1;" + b"e" * 100_000, b"1;a\nb\r\nx\r\n", b"1\r\nx\n\n0\r\n\r\n",
                     b"0\r\nTrailer: " + b"t" * 100_000):
            self.refused(self.head(b"Transfer-Encoding: chunked") + body, (400, 431))
        self.expect(self.running.send(self.head(b"Transfer-Encoding: chunked") +
                                      b"1;x=y\r\nx\r\n00\r\n\r\n"), 200)
        self.assertEqual(self.get("victim").body, b"x")
        self.expect(self.running.request("DELETE", "/box/victim"), 204)

    def test_what_is_left_of_a_refused_body_is_no_request(self):
        head = self.running.signed_head("PUT", "/none/k", {
            "content-length": str(len(self.NEXT)), "connection": "close"})
        answer = self.all_answers(head + self.NEXT)
        self.assertEqual(len(ANSWER.findall(answer)), 1, answer)
        answer = self.all_answers(b"PUT /box/victim HTTP/1.1\r\nHost: x\r\nAuthorization: junk\r\n"
                                  b"Content-Length: %d\r\n\r\n" % len(self.NEXT) + self.NEXT)
        self.assertEqual(len(ANSWER.findall(answer)), 1, answer)

    def test_pipelined_requests_are_answered_in_order(self):
        for number in range(20):
            self.expect(self.put(str(number), b"%d" % number), 200)
        raw = b"".join(b"GET /box/%d HTTP/1.1\r\nHost: x\r\n\r\n" % number for number in range(20))
        with self.running.connect() as stream:
            stream.sendall(raw)
            reader = stream.makefile("rb")
            for number in range(20):
                lines = []
                while (line := reader.readline()) != b"\r\n":
                    lines.append(line)
                length = next(int(line.split()[1]) for line in lines
                              if line.lower().startswith(b"content-length"))
                self.assertEqual(reader.read(length), b"%d" % number)


class Sizes(AbuseTest):
    def test_heads_that_never_end(self):
        huge = [b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
                b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
                b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: a\r\n" * 1000 + b"\r\n",
                b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: a\r\n" * 100_000,
                b"a" * 2_000_000]
        for raw in huge:
            with self.running.connect() as stream:
                try:
                    stream.sendall(raw)
                except (BrokenPipeError, ConnectionResetError):
                    pass
                self.expect(read_reply(stream), 431)
        self.still_answers()

    def test_as_many_headers_as_allowed(self):
        lines = b"".join(b"X-%d: a\r\n" % number for number in range(120))
        self.expect(self.running.send(b"GET /leat/v1/health HTTP/1.1\r\nHost: localhost\r\n" +
                                      lines + b"\r\n"), 200)

    def test_metadata_fits_or_is_refused(self):
        for size in (2000, 8000, 20_000):
            reply = self.put("meta", headers={"x-amz-meta-big": "m" * size})
            self.assertIn(reply.status, (200, 400), size)
            if reply.status == 200:
                self.assertEqual(self.get("meta").headers["x-amz-meta-big"], "m" * size)
        self.still_answers()

    def test_a_body_that_is_announced_and_never_comes(self):
        before = self.running.resident_bytes()
        streams = [self.running.connect() for _ in range(50)]
        for stream in streams:
            self.addCleanup(stream.close)
            stream.sendall(b"PUT /box/k HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000000000\r\n\r\n")
        self.still_answers()
        self.assertLess(self.running.resident_bytes() - before, 200 << 20)


class SlowClients(AbuseTest):
    config = '[serve]\nidle_timeout = "1s"\n'

    def test_heads_drop_by_drop(self):
        stream = self.running.connect()
        self.addCleanup(stream.close)
        stream.settimeout(0.1)
        stream.sendall(b"GET /box/k HTTP/1.1\r\nHost: x\r\n")

        def is_cut():
            try:
                stream.sendall(b"X: y\r\n")
                return stream.recv(1) == b""
            except TimeoutError:
                return False
            except OSError:
                return True
        self.eventually(is_cut, "a head may take as long as it likes")

    def test_nothing_at_all(self):
        with self.running.connect() as stream:
            self.assertEqual(stream.recv(1), b"")

    def test_half_of_a_body(self):
        with self.running.connect() as stream:
            stream.sendall(b"PUT /box/k HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
            self.assertEqual(stream.recv(1), b"")
        self.expect(self.get("k"), 404)

    def test_who_does_not_read(self):
        self.expect(self.put("large", bytes(30 << 20)), 200)
        stream = socket.socket()
        self.addCleanup(stream.close)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stream.connect(("127.0.0.1", self.running.port))
        stream.sendall(b"GET /box/large HTTP/1.1\r\nHost: x\r\n\r\n")

        def is_cut():
            stats = self.running.request("GET", "/leat/v1/stats").json()
            return stats["connections"]["open"] == 1  # that of this request
        self.eventually(is_cut, "a client that does not read keeps its connection")

    def test_a_kept_connection_may_pause_between_requests(self):
        with self.running.connect() as stream:
            for _ in range(4):
                stream.sendall(b"GET /leat/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.expect(read_reply(stream), 200)
                time.sleep(0.4)


class Names(AbuseTest):
    TRAVERSALS = (
        "..", ".", "../x", "../../x", "a/../../x", "/etc/passwd", "//etc/passwd", "..\\..\\x",
        "C:\\x", "%2e%2e/x", "%2e%2e%2fx", "..%2fx", "%2e%2e%5cx", "%252e%252e%252fx", "..%252fx",
        "%c0%ae%c0%ae/x", "%uff0e%uff0e/x", "....//x", "..;/x", "./x", "a/./b", "a/..", "a/.",
        "..%00/x", "%2f%2fetc%2fpasswd", "temporary/x", "objects/../x", "~/x", "$HOME/x", "a//../x")

    def outside(self):
        """What is on the disk, save the store."""
        return {path: path.stat().st_size for path in self.root.rglob("*")
                if path.is_file() and self.running.data not in path.parents
                and path != self.running.log}

    def test_no_name_leads_out_of_the_store(self):
        (self.root / "x").write_text("not yours")
        before = self.outside()
        kept = {}
        for name in self.TRAVERSALS:
            for size in (10, 400_000):  # packed, and a file of its own
                body = os.urandom(size)
                target = f"/box/{name}"
                if " " in target or "\\" in target:
                    target = target.replace("\\", "%5C")
                reply = self.running.request("PUT", target, body, anonymous=True)
                self.assertIn(reply.status, (200, 400), (name, reply.body))
                if reply.status == 200:
                    kept[urllib.parse.unquote_to_bytes(target)] = body
        kept = {urllib.parse.quote(target): body for target, body in kept.items()}
        self.assertEqual(self.outside(), before)
        for target, body in kept.items():
            reply = self.running.request("GET", target, anonymous=True)
            self.assertEqual(self.expect(reply, 200).body, body, target)
        self.running.restart()
        for target, body in kept.items():
            self.assertEqual(self.running.request("GET", target).body, body, target)
        listed = set(self.running.request("GET", "/box?list-type=2&encoding-type=url").texts("Key"))
        for target in kept:
            name = target.removeprefix("/box/")
            decoded = urllib.parse.unquote_to_bytes(name)
            self.assertIn(decoded, {urllib.parse.unquote_to_bytes(key) for key in listed})
        for target in kept:
            self.expect(self.running.request("DELETE", target), 204)
        self.assertEqual(self.running.request("GET", "/box").texts("Key"), [])
        self.assertEqual(self.outside(), before)

    def test_no_bucket_leads_out_of_the_store(self):
        for bucket in ("..", ".", "%2e%2e", "%2e%2e%2fx", "...", "a%2fb", "%00", "%2f", "ABC",
                       "..%5c..", "x" * 64, "a" * 1000, "-abc", "a b".replace(" ", "%20")):
            for target in (f"/{bucket}", f"/{bucket}/x", f"/leat/v1/buckets/{bucket}",
                           f"/leat/v1/objects/{bucket}/x"):
                reply = self.running.request("PUT", target, headers={"x-leat-request": "1"})
                self.assertIn(reply.status, (400, 403, 404, 501), (target, reply.body))
                reply = self.running.request("GET", target)
                self.assertIn(reply.status, (400, 403, 404, 501), (target, reply.body))
        # The path of the page and of the native API is no bucket.
        self.assertGreaterEqual(self.running.request("PUT", "/leat").status, 400)
        self.assertGreaterEqual(self.running.request("PUT", "/leat/v1/buckets/leat").status, 400)
        self.assertEqual(self.running.request("GET", "/").texts("Name"), ["box"])

    def test_native_names(self):
        (self.root / "x").write_text("not yours")
        before = self.outside()
        for name in self.TRAVERSALS:
            name = name.replace("\\", "%5C")
            body = os.urandom(300_000)
            target = f"/leat/v1/objects/box/{name}"
            reply = self.running.request("PUT", target, body)
            self.assertIn(reply.status, (200, 400), (name, reply.body))
            if reply.status == 200:
                self.assertEqual(self.running.request("GET", target).body, body)
            batch = {"bucket": "box", "items": [{"name": name}]}
            answer = self.running.request("POST", "/leat/v1/batch?format=frames",
                                          json.dumps(batch).encode())
            self.assertNotIn(b"not yours", answer.body)
        self.assertEqual(self.outside(), before)

    ODD = (" ", "a b", " a ", "a+b", "a%b", "a%20b", "a&b=c", "a?b", "a#b", "a;b", "a,b", "a'b",
           'a"b', "a<b>c", "a\\b", "a|b", "a*b", "größe", "日本語/名前", "😀", "e\u0301", "\u00e9",
           "a/", "a//", "/a", "//", "a//b", ".", "..", "-", "--", "~", "[x]", "{x}", "a\tb",
           "a\nb", "a\rb", "n" * 1024, "é" * 512, "x/" * 512, "aws-chunked", "index.html",
           "leat/v1/health", "a.tar", "CON", "a:b", "@", "!", "(a)")

    def test_odd_keys_are_keys_like_any_other(self):
        bodies = {key: f"[{key}]".encode() for key in self.ODD}
        for key, body in bodies.items():
            self.expect(self.put(key, body), 200)
        for key, body in bodies.items():
            self.assertEqual(self.expect(self.get(key), 200).body, body, key)
            self.assertEqual(self.get(key, anonymous=True).body, body, key)
        by_bytes = sorted(bodies, key=str.encode)
        for version in ("", "list-type=2&"):
            reply = self.running.request("GET", f"/box?{version}encoding-type=url")
            # S3 encodes spaces as '+', or "%20"; never a '+' as itself.
            listed = [urllib.parse.unquote_plus(key) for key in reply.texts("Key")]
            self.assertEqual(listed, by_bytes)
            self.assertEqual(self.paged(version), by_bytes)
        document = "".join(f"<Object><Key>{self.escaped(key)}</Key></Object>" for key in bodies)
        body = f"<Delete>{document}</Delete>".encode()
        md5 = base64.b64encode(hashlib.md5(body).digest()).decode()
        reply = self.running.request("POST", "/box?delete", body, {"content-md5": md5})
        self.assertEqual(self.expect(reply, 200).texts("Code"), [])
        self.assertEqual(self.running.request("GET", "/box").texts("Key"), [])

    @staticmethod
    def escaped(text):
        return "".join(f"&#{ord(c)};" if c in "&<>\"'\r\n\t" else c for c in text)

    def paged(self, version):
        """All names, seven at a time."""
        names, place = [], ""
        while True:
            reply = self.running.request("GET",
                                         f"/box?{version}encoding-type=url&max-keys=7{place}")
            names += [urllib.parse.unquote_plus(key) for key in reply.texts("Key")]
            if reply.texts("IsTruncated") == ["false"]:
                return names
            if version:
                token = reply.texts("NextContinuationToken")[0]
                place = f"&continuation-token={urllib.parse.quote(token, safe='')}"
            else:
                place = f"&marker={urllib.parse.quote(names[-1], safe='')}"

    def test_keys_that_are_none(self):
        for key in ("n" * 1025, "é" * 513):
            self.expect(self.put(key), 400)
            self.assertIn(self.get(key).status, (400, 404))
        for target in ("/box/%", "/box/%4", "/box/%zz", "/box/a%"):
            for method in ("PUT", "GET", "DELETE"):
                reply = self.running.request(method, target, anonymous=True)
                self.assertEqual(reply.status, 400, (method, target))

    def test_names_are_text_in_errors(self):
        target = "/box/" + urllib.parse.quote("<script>&\x01\x02\u2028]]>")
        reply = self.expect(self.running.request("GET", target), 404, "NoSuchKey")
        self.assertEqual(reply.headers["content-type"], "application/xml")
        self.assertNotIn(b"<script>", reply.body)


class Headers(AbuseTest):
    """Nobody writes headers into answers that other clients get."""

    def lines(self, target):
        """The lines of an answer's head, as they come over the wire."""
        answer = self.all_answers(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n"
                                  "Connection: close\r\n\r\n".encode())
        head, _, body = answer.partition(b"\r\n\r\n")
        return head.split(b"\r\n"), body

    def check(self, target):
        lines, body = self.lines(target)
        names = [line.split(b":")[0].lower() for line in lines[1:]]
        self.assertNotIn(b"injected", names, lines)
        self.assertNotIn(b"set-cookie", names, lines)
        self.assertEqual(names.count(b"content-length"), 1, lines)
        self.assertEqual(names.count(b"transfer-encoding"), 0, lines)
        self.assertEqual(names.count(b"content-type"), 1, lines)
        for line in lines:
            self.assertNotIn(b"\n", line)
            self.assertNotIn(b"\x00", line)
        return lines, body

    def test_overrides(self):
        self.expect(self.put("k", b"bytes"), 200)
        evil = urllib.parse.quote("x\r\nInjected: yes", safe="")
        for query in (f"response-content-type={evil}", f"response-x{evil}=1",
                      f"response-{evil}%3a=1", "response-set-cookie=a", "response-injected=1",
                      "response-content-length=0", "response-transfer-encoding=chunked",
                      "response-content-type=a%00b", "response-content-type=a%0ab",
                      "response-content-disposition=%0d%0a%0d%0ahello", "response-=x",
                      "response-content-type%20=x", "response-connection=close"):
            lines, body = self.lines(f"/box/k?{query}")
            if not lines[0].startswith(b"HTTP/1.1 400"):
                lines, body = self.check(f"/box/k?{query}")
                self.assertEqual(body, b"bytes", (query, lines))
            self.assertNotIn(b"Injected", b"\n".join(line[:8] for line in lines))

    def test_overrides_that_are_meant(self):
        self.expect(self.put("k", b"bytes", headers={"content-type": "a/b"}), 200)
        wanted = {"content-type": "text/plain; charset=utf-8", "cache-control": "no-store",
                  "content-disposition": 'attachment; filename="a b.txt"',
                  "content-language": "de", "content-encoding": "x", "expires": "never"}
        query = "&".join(f"response-{name}={urllib.parse.quote(value, safe='')}"
                         for name, value in wanted.items())
        reply = self.running.request("GET", f"/box/k?{query}")
        self.assertEqual(self.expect(reply, 200).body, b"bytes")
        for name, value in wanted.items():
            self.assertEqual(reply.headers[name], value)
        part = self.running.request("GET", f"/box/k?{query}", headers={"range": "bytes=1-2"})
        self.assertEqual(self.expect(part, 206).body, b"yt")
        self.assertEqual(part.headers["content-disposition"], wanted["content-disposition"])

    def test_metadata_of_the_native_api(self):
        evil = urllib.parse.quote("a\r\nInjected: yes\r\n\r\nbody", safe="")
        for number, headers in enumerate((
                {"x-leat-meta-note": evil}, {"x-leat-meta-" + evil: "x"},
                {"x-leat-header-content-type": evil}, {"x-leat-header-" + evil: "x"},
                {"x-leat-header-content-length": "1"}, {"x-leat-header-set-cookie": "a=b"},
                {"x-leat-header-transfer-encoding": "chunked"}, {"x-leat-header-injected": "1"},
                {"x-leat-meta-null": "a%00b"}, {"x-leat-meta-a%3a%20b": "c"},
                {"x-leat-header-content-disposition": "a%0ab"},
                {"x-leat-etag": "a%0d%0aInjected: 1"}, {"x-leat-checksum-crc32": evil},
                {"x-leat-checksum-" + evil: "00"})):
            reply = self.running.request("PUT", f"/leat/v1/objects/box/{number}", b"bytes",
                                         headers | {"x-leat-request": "1"}, anonymous=True)
            self.assertIn(reply.status, (200, 400), (headers, reply.body))
            if reply.status != 200:
                continue
            for target in (f"/box/{number}", f"/leat/v1/objects/box/{number}"):
                _, body = self.check(target)
                self.assertEqual(body, b"bytes", headers)
            reply = self.running.request("GET", f"/box/{number}",
                                         headers={"x-amz-checksum-mode": "ENABLED"})
            self.assertNotIn("injected", reply.headers)
            # A copy takes its metadata along.
            reply = self.running.request("PUT", f"/box/copy-{number}",
                                         headers={"x-amz-copy-source": f"/box/{number}"})
            self.expect(reply, 200)
            self.check(f"/box/copy-{number}")

    def test_metadata_survives(self):
        native = {"x-leat-meta-note": "line%0abreak", "x-leat-meta-plain": "plain"}
        self.expect(self.running.request("PUT", "/leat/v1/objects/box/k", b"x", native), 200)
        reply = self.running.request("GET", "/leat/v1/objects/box/k")
        self.assertEqual(urllib.parse.unquote(reply.headers["x-leat-meta-note"]), "line\nbreak")
        self.assertEqual(self.get("k").headers["x-amz-meta-plain"], "plain")

    def test_request_ids_and_resources(self):
        lines, _ = self.lines("/box/" + urllib.parse.quote("a\r\nInjected: yes"))
        self.assertFalse([line for line in lines if line.startswith(b"Injected")])


class KeptConnections(AbuseTest):
    """A body of no bytes does not stall what comes after it, whatever announces it."""

    def test_empty_bodies(self):
        heads = [b"Content-Length: 0\r\n", b"", b"Content-Length: 0\r\nExpect: 100-continue\r\n",
                 b"Expect: 100-continue\r\n"]
        with self.running.connect() as stream:
            for number, head in enumerate(heads * 3):
                stream.sendall(b"PUT /box/%d HTTP/1.1\r\nHost: x\r\n%s\r\n" % (number, head))
                self.expect(read_reply(stream, "PUT"), 200)
                stream.sendall(b"GET /box/%d HTTP/1.1\r\nHost: x\r\n\r\n" % number)
                self.assertEqual(self.expect(read_reply(stream), 200).body, b"")
            stream.sendall(b"PUT /box/chunked HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
                           b"\r\n0\r\n\r\nGET /box/chunked HTTP/1.1\r\nHost: x\r\n\r\n")
            self.expect(read_reply(stream, "PUT"), 200)

    def test_empty_bodies_that_are_signed(self):
        with self.running.connect() as stream:
            for number, more in enumerate(({"content-length": "0"}, {},
                                           {"content-length": "0", "expect": "100-continue"}) * 3):
                stream.sendall(self.running.signed_head("PUT", f"/box/{number}", more,
                                                        payload=sigv4.sha256(b"")))
                self.expect(read_reply(stream, "PUT"), 200)
                stream.sendall(self.running.signed_head("GET", f"/box/{number}"))
                self.assertEqual(self.expect(read_reply(stream), 200).body, b"")

    def test_empty_bodies_in_chunks_of_an_sdk(self):
        body = b"0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n"
        headers = {"content-length": str(len(body)), "x-amz-decoded-content-length": "0",
                   "content-encoding": "aws-chunked", "x-amz-trailer": "x-amz-checksum-crc32"}
        with self.running.connect() as stream:
            for _ in range(3):
                stream.sendall(self.running.signed_head(
                    "PUT", "/box/k", headers, "STREAMING-UNSIGNED-PAYLOAD-TRAILER") + body)
                self.expect(read_reply(stream, "PUT"), 200)
        self.assertEqual(self.get("k").body, b"")

    def test_who_waits_for_100_is_told(self):
        with self.running.connect() as stream:
            stream.sendall(self.running.signed_head("PUT", "/box/k", {
                "content-length": "5", "expect": "100-continue"}))
            self.assertTrue(stream.recv(100).startswith(b"HTTP/1.1 100 "))
            stream.sendall(b"bytes")
            self.expect(read_reply(stream, "PUT"), 200)
        # And one who is refused, before a byte of the body.
        wrong = sigv4.Key(self.running.key.id, "wrong")
        with self.running.connect() as stream:
            stream.sendall(self.running.signed_head("PUT", "/box/k", {
                "content-length": "5", "expect": "100-continue"}, key=wrong))
            self.expect(read_reply(stream, "PUT"), 403, "SignatureDoesNotMatch")
        self.assertEqual(self.get("k").body, b"bytes")


class Documents(AbuseTest):
    """XML made to be small on the wire and large in memory, or never to end."""

    def delete(self, body):
        md5 = base64.b64encode(hashlib.md5(body).digest()).decode()
        return self.running.request("POST", "/box?delete", body, {"content-md5": md5})

    def refused(self, body, statuses=(400,)):
        reply = self.delete(body)
        self.assertIn(reply.status, statuses, reply.body[:300])
        self.assertEqual(self.get("k").body, b"x")

    def setUp(self):
        super().setUp()
        self.expect(self.put("k"), 200)

    def test_entities(self):
        laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
        for entity in (f'<!DOCTYPE d [<!ENTITY l0 "k">{laughs}]>', '<!DOCTYPE Delete>',
                       '<!DOCTYPE d [<!ENTITY l9 SYSTEM "file:///etc/passwd">]>',
                       '<!DOCTYPE d [<!ENTITY % l9 "k"> %l9;]>'):
            self.refused(f"<?xml version='1.0'?>{entity}<Delete><Object><Key>&l9;</Key></Object>"
                         "</Delete>".encode())
        self.refused(b"<Delete><Object><Key>&k;</Key></Object></Delete>")
        self.refused(b"<Delete><Object><Key>&#0;</Key></Object></Delete>")
        self.refused(b"<Delete><Object><Key>&#x110000;</Key></Object></Delete>")
        self.refused(b"<Delete><Object><Key>&#xD800;</Key></Object></Delete>")

    def test_depth_and_length(self):
        self.refused(b"<Delete>" * 100_000)
        self.refused(b"<a>" * 1_000_000)
        self.refused(b"<Delete " + b'a="" ' * 1_000_000)
        self.refused(b"<Delete>" + b"<!--" * 1_000_000)
        self.refused(b"<Delete>" + b"<Object><Key>k</Key></Object>" * 1001 + b"</Delete>")
        self.refused(b"<Delete>" + b" " * 9_000_000 + b"</Delete>", (400, 413))
        self.refused(b"<Delete><Object><Key>" + b"k" * 7_000_000 + b"</Key>")
        before = self.running.resident_bytes()
        for _ in range(5):
            self.refused(b"<Delete>" + b"<Object><Key>k" * 500_000)
        self.assertLess(self.running.resident_bytes() - before, 300 << 20)
        self.still_answers()

    def test_shapes(self):
        for body in (b"", b"<", b"<>", b"</Delete>", b"<Delete/>", b"<Delete></Deletes>",
                     b"<Delete><Object></Object></Delete>", b"<Delete><Key>k</Key></Delete>",
                     b"<Remove><Object><Key>k</Key></Object></Remove>", b"\xff\xfe<\x00",
                     b"<Delete><Object><Key>k</Key></Object></Delete><Delete/>", b"{}",
                     b"<Delete><Object><Key>k</Object></Key></Delete>", b"\x00" * 1000,
                     b"<![CDATA[x]]>", b"<Delete><?php x ?></Delete>"):
            self.refused(body)


class Batches(AbuseTest):
    """Lists that hold nothing, and lists of those who may have nothing."""

    def post(self, body, *lines):
        head = b"\r\n".join([b"POST /leat/v1/batch HTTP/1.1", b"Host: " + self.running.host.encode(),
                             b"x-leat-request: 1", *lines])
        return self.running.send(head + b"\r\n\r\n" + body, "POST")

    def test_empty(self):
        for text in (b'{"bucket":"box","items":[]}', b'{"items":[]}', b'{"items":[]}' + b" " * 70000):
            chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(text), text)
            for reply in (self.post(text, b"Content-Length: %d" % len(text)),
                          self.post(chunks, b"Transfer-Encoding: chunked")):
                self.expect(reply, 200)
                with tarfile.open(fileobj=io.BytesIO(reply.body)) as tar:
                    self.assertEqual(tar.getnames(), [])
        self.still_answers()


if __name__ == "__main__":
    server.main(sys.argv)
