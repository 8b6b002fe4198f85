#!/usr/bin/env python3
"""serve_access_test.py LEAT [unittest arguments]: `leat serve` and requests that would read what they
may not, or change it: signatures, rights, payloads, web pages of strangers."""

import base64
import binascii
import hashlib
import io
import json
import os
import sys
import tarfile
import time

import server
import sigv4
from server import AbuseTest


class Payloads(AbuseTest):
    """What is not what was promised leaves the old object as it is."""

    def setUp(self):
        super().setUp()
        self.expect(self.put("k", b"old"), 200)

    def refused(self, reply, *codes):
        self.assertIn(reply.code(), codes, reply.body)
        self.assertEqual(reply.status, 400)
        self.assertEqual(self.get("k").body, b"old")

    def test_a_wrong_hash(self):
        for size in (1, 5000, 400_000, 5_000_000):
            self.refused(self.put("k", os.urandom(size), payload=sigv4.sha256(b"other")),
                         "XAmzContentSHA256Mismatch")

    def test_a_wrong_hash_to_the_native_api(self):
        reply = self.running.request("PUT", "/leat/v1/objects/box/k", b"new" * 200_000,
                                     payload=sigv4.sha256(b"other"))
        self.expect(reply, 400)
        self.assertEqual(self.get("k").body, b"old")

    def test_wrong_checksums(self):
        wrong = base64.b64encode(b"\x00\x00\x00\x01").decode()
        right = base64.b64encode(binascii.crc32(b"new").to_bytes(4, "big")).decode()
        self.refused(self.put("k", b"new", headers={"x-amz-checksum-crc32": wrong}), "BadDigest")
        self.refused(self.put("k", b"new", headers={"x-amz-checksum-crc32": "junk"}),
                     "InvalidRequest", "InvalidDigest")
        self.refused(self.put("k", b"new", headers={
            "content-md5": base64.b64encode(bytes(16)).decode()}), "BadDigest")
        self.refused(self.put("k", b"new", headers={"content-md5": "junk"}), "InvalidDigest")
        self.expect(self.put("k2", b"new", headers={"x-amz-checksum-crc32": right}), 200)

    def chunked(self, body, checksum, decoded):
        headers = {"content-length": str(len(body)), "x-amz-decoded-content-length": str(decoded),
                   "content-encoding": "aws-chunked", "x-amz-trailer": "x-amz-checksum-crc32"}
        head = self.running.signed_head("PUT", "/box/k", headers,
                                        "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
        return self.running.send(head + body.replace(b"CRC", checksum), "PUT")

    def test_chunks_of_an_sdk(self):
        right = base64.b64encode(binascii.crc32(b"new").to_bytes(4, "big"))
        end = b"0\r\nx-amz-checksum-crc32:CRC=====\r\n\r\n"
        body = b"3\r\nnew\r\n" + end.replace(b"CRC=====", right)
        self.refused(self.chunked(body.replace(right, b"AAAAAA=="), b"", 3), "BadDigest")
        self.refused(self.chunked(body, b"", 4), "IncompleteBody")
        for broken in (body.replace(b"3\r\n", b"4\r\n", 1), body.replace(b"3\r\n", b"2\r\n", 1),
                       body[:-2], b"3\r\nnew\r\n", b"fffffffffffffffff\r\nnew\r\n",
                       body.replace(b"x-amz-checksum-crc32", b"x-amz-checksum-sha1")):
            reply = self.chunked(broken, b"", 3)
            self.assertEqual(reply.status, 400, (broken, reply.body))
            self.assertEqual(self.get("k").body, b"old")
        self.expect(self.chunked(body, b"", 3), 200)
        self.assertEqual(self.get("k").body, b"new")

    def test_signed_chunks(self):
        date = sigv4.stamp()
        for breaks in ("nothing", "data", "signature"):
            data, parts = b"new bytes", []
            headers = sigv4.sign(self.running.key, "PUT", "/box/k", {
                "host": self.running.host, "x-amz-decoded-content-length": str(len(data))},
                "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", date)
            previous = headers["authorization"].rpartition("=")[2]
            for piece in (data, b""):
                previous = self.chunk_signature(date, previous, piece)
                shown = previous if breaks != "signature" or piece else "0" * 64
                sent = piece.upper() if breaks == "data" else piece
                parts.append(b"%x;chunk-signature=%s\r\n%s\r\n" % (len(sent), shown.encode(), sent))
            body = b"".join(parts)
            text = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            reply = self.running.send(f"PUT /box/k HTTP/1.1\r\n{text}content-length: {len(body)}"
                                      "\r\n\r\n".encode() + body, "PUT")
            if breaks == "nothing":
                self.expect(reply, 200)
            else:
                self.expect(reply, 403)
            self.assertEqual(self.get("k").body, data)

    def chunk_signature(self, date, previous, piece):
        text = "\n".join(["AWS4-HMAC-SHA256-PAYLOAD", date, f"{date[:8]}/us-east-1/s3/aws4_request",
                          previous, sigv4.sha256(b""), sigv4.sha256(piece)])
        return sigv4.keyed_text(self.running.key, date, text)


class Signatures(AbuseTest):
    arguments = ()

    def setUp(self):
        super().setUp()
        self.expect(self.put("k", b"hidden"), 200)

    def test_wrong_keys(self):
        key = self.running.key
        for wrong, code in ((sigv4.Key(key.id, key.secret[:-1] + "!"), "SignatureDoesNotMatch"),
                            (sigv4.Key(key.id, ""), "SignatureDoesNotMatch"),
                            (sigv4.Key("NOBODY", key.secret), "InvalidAccessKeyId"),
                            (sigv4.Key("", key.secret), "InvalidAccessKeyId"),
                            (sigv4.Key(key.id.lower(), key.secret), "InvalidAccessKeyId")):
            for method in ("GET", "PUT", "DELETE"):
                self.expect(self.running.request(method, "/box/k", key=wrong), 403, code)

    def test_time(self):
        now = time.time()
        for minutes in (-14, 14):
            self.expect(self.get("k", date=sigv4.stamp(now + 60 * minutes)), 200)
        for minutes in (-16, 16, -60 * 24, 60 * 24 * 400):
            self.expect(self.get("k", date=sigv4.stamp(now + 60 * minutes)), 403,
                        "RequestTimeTooSkewed")
        for date in ("", "yesterday", "20130524", "20130524T000000", "2013-05-24T00:00:00Z",
                     "99999999T999999Z", "-0130524T000000Z"):
            reply = self.get("k", date=date or " ")
            self.assertIn(reply.status, (400, 403), date)

    def test_what_was_signed_cannot_be_changed(self):
        head = self.running.signed_head("GET", "/box/k?partNumber=1", {"x-amz-meta-a": "b"})
        good = self.running.signed_head("GET", "/box/k")
        self.expect(self.running.send(good), 200)
        for old, new in ((b"GET /box/k", b"PUT /box/k"), (b"/box/k", b"/box/l"),
                         (b"/box/k", b"/box/k?acl"), (b"host: ", b"host: evil."),
                         (b"x-amz-date: ", b"x-amz-date:2"),
                         (b"Signature=", b"Signature=0"), (b"UNSIGNED-PAYLOAD", b"0" * 64)):
            reply = self.running.send(good.replace(old, new, 1))
            self.assertIn(reply.status, (400, 403), (old, new))
        for old, new in ((b"partNumber=1", b"partNumber=2"), (b"x-amz-meta-a: b", b"x-amz-meta-a: c"),
                         (b"x-amz-meta-a: b", b"x-amz-meta-a: b\r\nx-amz-meta-c: d"),
                         (b"x-amz-meta-a: b\r\n", b"")):
            self.expect(self.running.send(head.replace(old, new, 1)), 403)

    def test_headers_that_must_be_signed(self):
        head = self.running.signed_head("PUT", "/box/k", {"content-length": "0"})
        for line in (b"x-amz-copy-source: /box/other", b"x-amz-meta-a: b",
                     b"x-amz-acl: public-read"):
            reply = self.running.send(head[:-2] + line + b"\r\n\r\n", "PUT")
            self.expect(reply, 403, "AccessDenied")
        self.assertEqual(self.get("k").body, b"hidden")

    def test_headers_that_make_no_sense(self):
        good = self.running.signed_head("GET", "/box/k").decode()
        line = next(line for line in good.split("\r\n") if line.startswith("authorization"))
        for value in ("", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 ", "Basic eDp5", "Bearer x",
                      "AWS AKID:x", "AWS4-HMAC-SHA256 Credential=", "AWS4-HMAC-SHA256 =,=,=",
                      "AWS4-HMAC-SHA256 Credential=a/b/c/d/e/f,SignedHeaders=,Signature=",
                      "AWS4-HMAC-SHA256 Credential=////,SignedHeaders=host,Signature=" + "0" * 64,
                      "AWS4-ECDSA-P256-SHA256 Credential=x", "AWS4-HMAC-SHA256" + "," * 5000,
                      line.removeprefix("authorization: ").replace("Signature=", "Signature=\"")):
            raw = good.replace(line, f"authorization: {value}").encode()
            reply = self.running.send(raw)
            self.assertIn(reply.status, (400, 403), value)
            self.assertNotIn(b"hidden", reply.body)

    def presigned(self, target="/box/k", method="GET", **options):
        return sigv4.presign(self.running.key, method, self.running.host, target, **options)

    def ask(self, target, method="GET", host=None, body=b""):
        return self.running.request(method, target, body, anonymous=True, host=host)

    def test_presigned(self):
        self.assertEqual(self.ask(self.presigned()).body, b"hidden")
        self.assertEqual(self.ask(self.presigned(method="HEAD"), "HEAD").status, 200)
        self.expect(self.ask(self.presigned("/box/new", "PUT"), "PUT", body=b"new"), 200)
        self.assertEqual(self.get("new").body, b"new")
        override = self.presigned("/box/k?response-content-type=text%2Fplain")
        self.assertEqual(self.ask(override).headers["content-type"], "text/plain")

    def test_presigned_and_then(self):
        now = time.time()
        good = self.presigned()
        cases = [self.presigned(expires=60, date=sigv4.stamp(now - 61)),
                 self.presigned(expires=604_801), self.presigned(expires=0),
                 self.presigned(expires=-1), self.presigned(date=sigv4.stamp(now + 3600)),
                 good.replace("/box/k", "/box/new"), good.replace("Expires=600", "Expires=6000"),
                 good.replace("X-Amz-Date=2", "X-Amz-Date=1"), good[:-1], good + "0",
                 good + "&response-content-type=text%2Fhtml", good + "&acl",
                 good.replace("X-Amz-SignedHeaders=host", "X-Amz-SignedHeaders="),
                 good.replace("X-Amz-Algorithm=AWS4-HMAC-SHA256", "X-Amz-Algorithm=none"),
                 good.partition("&X-Amz-Signature")[0],
                 good + "&X-Amz-Expires=604800", good.replace("&X-Amz-Expires=600", "")]
        for target in cases:
            reply = self.ask(target)
            self.assertIn(reply.status, (400, 403), target)
            self.assertNotIn(b"hidden", reply.body)
        self.assertIn(self.ask(good, "DELETE").status, (400, 403))
        self.assertIn(self.ask(good, "PUT", body=b"x").status, (400, 403))
        self.assertIn(self.ask(good, host="evil.example").status, (400, 403))
        self.assertIn(self.running.request("GET", good).status, (400, 403))  # and a header
        self.assertEqual(self.get("k").body, b"hidden")

    def test_version_2(self):
        reply = self.ask("/box/k?AWSAccessKeyId=x&Signature=y&Expires=9999999999")
        self.expect(reply, 400, "InvalidRequest")

    def test_an_upload_link_allows_nothing_more(self):
        link = self.presigned("/box/up", "PUT")
        self.expect(self.ask(link, "PUT", body=b"1"), 200)
        reply = self.running.request("PUT", link, b"2", {"x-amz-copy-source": "/box/k"},
                                     anonymous=True)
        self.assertIn(reply.status, (400, 403))
        self.assertEqual(self.get("up").body, b"1")


class Rights(AbuseTest):
    """A key for a part of the store sees and changes that part, by whatever operation."""

    arguments = ()

    def setUp(self):
        super().setUp()
        self.reader = self.running.add_key("read:box/public/")
        self.writer = self.running.add_key("write:box/public/", "read:other/public/")
        self.steward = self.running.add_key("admin:box/public/")
        self.running.restart()
        self.expect(self.running.request("PUT", "/other"), 200)
        shard = io.BytesIO()
        with tarfile.open(fileobj=shard, mode="w") as tar:
            info = tarfile.TarInfo("member")
            info.size = 6
            tar.addfile(info, io.BytesIO(b"hidden"))
        for bucket in ("box", "other"):
            for folder in ("public", "private"):
                self.expect(self.running.request("PUT", f"/{bucket}/{folder}/k", b"hidden"), 200)
                self.expect(self.running.request("PUT", f"/{bucket}/{folder}/s.tar",
                                                 shard.getvalue()), 200)

    def ask(self, key, method, target, body=b"", headers=None):
        return self.running.request(method, target, body, headers, key=key)

    def allowed(self, *request):
        reply = self.ask(*request)
        self.assertIn(reply.status, (200, 204), (request, reply.body))
        return reply

    def denied(self, *request):
        reply = self.ask(*request)
        self.assertEqual(reply.status, 403, (request, reply.body))
        self.assertNotIn(b"hidden", reply.body)

    def test_names(self):
        for key in (self.reader, self.writer):
            self.allowed(key, "GET", "/box/public/k")
            self.allowed(key, "GET", "/box?prefix=public/")
            self.allowed(key, "GET", "/leat/v1/objects/box/public/k")
            self.allowed(key, "GET", "/leat/v1/objects/box/public/s.tar/member")
            self.allowed(key, "GET", "/leat/v1/shards/box/public/s.tar")
            self.allowed(key, "GET", "/leat/v1/list/box?prefix=public/")
            for target in ("/box/private/k", "/box", "/box?prefix=", "/box?prefix=p",
                           "/box?prefix=private/", "/box/publi", "/other", "/other/private/k",
                           "/box?prefix=private/&prefix=public/", "/box/private/none",
                           "/leat/v1/objects/box/private/k", "/leat/v1/stats", "/leat/v1/metrics",
                           "/leat/v1/objects/box/private/s.tar/member", "/leat/v1/list/box",
                           "/leat/v1/shards/box/private/s.tar", "/leat/v1/list/box?prefix=p",
                           "/box/%70rivate/k", "/leat/v1/objects/box/%70rivate/k"):
                self.denied(key, "GET", target)
            # Names are names: this one begins with public/, and is not there.
            self.assertEqual(self.ask(key, "GET", "/box/public/../private/k").status, 404)
            self.assertEqual(self.ask(key, "GET", "/box/public/%2e%2e/private/k").status, 404)

    def test_changes(self):
        for target in ("/box/public/new", "/leat/v1/objects/box/public/new"):
            self.denied(self.reader, "PUT", target, b"x")
            self.denied(self.reader, "DELETE", target)
            self.allowed(self.writer, "PUT", target, b"x")
            self.allowed(self.writer, "DELETE", target)
        for target in ("/box/private/k", "/other/public/k", "/box/public",
                       "/leat/v1/objects/box/private/k"):
            self.denied(self.writer, "PUT", target, b"x")
            self.denied(self.writer, "DELETE", target)
        for target in ("/new", "/leat/v1/buckets/new"):
            self.denied(self.writer, "PUT", target)
        for target in ("/box", "/leat/v1/buckets/box"):
            self.denied(self.writer, "DELETE", target)

    def test_a_prefix_in_the_query_makes_no_right(self):
        for target in ("/box?prefix=public/", "/other?prefix=public/", "/new?prefix=public/"):
            self.denied(self.steward, "PUT", target)
            self.denied(self.steward, "DELETE", target)
        self.allowed(self.running.key, "GET", "/box/private/k")

    def test_sources_of_copies(self):
        for source in ("/box/public/k", "other/public/k", "other%2Fpublic%2Fk"):
            self.allowed(self.writer, "PUT", "/box/public/copy", b"", {"x-amz-copy-source": source})
        for source in ("/box/private/k", "other/private/k", "other%2Fprivate%2Fk",
                       "/other/%70rivate/k", "box/private/none"):
            self.denied(self.writer, "PUT", "/box/public/copy2", b"", {"x-amz-copy-source": source})
        self.denied(self.reader, "PUT", "/box/public/copy2", b"",
                    {"x-amz-copy-source": "/box/public/k"})
        self.denied(self.writer, "PUT", "/box/private/copy", b"",
                    {"x-amz-copy-source": "/box/public/k"})
        for source, status in (("box/public/k", 200), ("box/private/k", 403),
                               ("other/%70rivate/k", 403)):
            reply = self.ask(self.writer, "PUT", "/leat/v1/objects/box/public/copy3", b"",
                             {"x-leat-copy-source": source})
            self.assertEqual(reply.status, status, source)
        self.assertEqual(self.ask(self.running.key, "GET", "/box/public/copy2").status, 404)

    def test_items_of_a_batch(self):
        names = ["public/k", "private/k", "public/s.tar/member", "private/s.tar/member",
                 "public/../private/k", "none", "private/none"]
        items = [{"bucket": bucket, "name": name} for bucket in ("box", "other") for name in names]
        reply = self.allowed(self.reader, "POST", "/leat/v1/batch",
                             json.dumps({"items": items}).encode())
        with tarfile.open(fileobj=io.BytesIO(reply.body)) as tar:
            answers = [(member.name, tar.extractfile(member).read()) for member in tar]
        self.assertEqual(len(answers), len(items))
        for item, (name, data) in zip(items, answers):
            told = f"{item['bucket']}/{item['name']}"
            if told in ("box/public/k", "box/public/s.tar/member"):
                self.assertEqual((name, data), (told, b"hidden"))
            else:
                expected = "not found" if told.startswith("box/public/") else "permission denied"
                self.assertEqual(json.loads(data)["error"]["code"], expected, told)

    def test_items_of_a_delete(self):
        body = (b"<Delete><Object><Key>private/k</Key></Object><Object><Key>public/k</Key></Object>"
                b"<Object><Key>public/none</Key></Object></Delete>")
        md5 = {"content-md5": base64.b64encode(hashlib.md5(body).digest()).decode()}
        self.denied(self.reader, "POST", "/box?delete", body, md5)
        reply = self.allowed(self.writer, "POST", "/box?delete", body, md5)
        self.assertEqual(reply.texts("Code"), ["AccessDenied"])
        self.assertEqual(reply.texts("Key"), ["private/k", "public/k", "public/none"])
        self.allowed(self.running.key, "GET", "/box/private/k")
        self.assertEqual(self.ask(self.running.key, "GET", "/box/public/k").status, 404)

    def test_buckets_that_are_seen(self):
        self.assertNotIn("other", self.ask(self.reader, "GET", "/").texts("Name"))
        listed = self.allowed(self.reader, "GET", "/leat/v1/buckets").body
        self.assertNotIn(b"other", listed)


class Strangers(AbuseTest):
    """Who has no key, where one is needed."""

    arguments = ()

    def test_no_list_is_held(self):
        # Refused by its head: the body is never read.
        reply = self.running.send(b"POST /leat/v1/batch HTTP/1.1\r\nHost: " +
                                  self.running.host.encode() + b"\r\nx-leat-request: 1\r\n"
                                  b"Content-Length: 16000000\r\n\r\n", "POST")
        self.expect(reply, 403)


class WebPages(AbuseTest):
    """What a page of somebody else makes a browser send to an open server."""

    def test_changes(self):
        self.expect(self.put("a"), 200)
        body = b"<Delete><Object><Key>a</Key></Object></Delete>"
        for host, origin in ((None, "http://evil.example"), ("evil.example", "http://evil.example"),
                             (None, "null")):
            for method, target, data in (("POST", "/box?delete", body), ("POST", "/box/a?uploads", b""),
                                         ("PUT", "/box/a", b"theirs"), ("DELETE", "/box/a", b"")):
                reply = self.running.request(method, target, data,
                                             {"origin": origin, "content-type": "text/plain"},
                                             anonymous=True, host=host)
                self.expect(reply, 403)
        self.assertEqual(self.expect(self.get("a"), 200).body, b"x")

    def test_our_own(self):
        reply = self.running.request("PUT", "/box/a", b"ours",
                                     {"origin": f"http://{self.running.host}"}, anonymous=True)
        self.expect(reply, 200)


if __name__ == "__main__":
    server.main(sys.argv)
