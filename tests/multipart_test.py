#!/usr/bin/env python3
"""multipart_test.py LEAT [unittest arguments]: uploads in parts, over the wire: what goes wrong in
them, who may touch them, and what is left of them when something dies."""

import concurrent.futures
import hashlib
import os
import signal
import subprocess
import sys

import server
import sigv4
from server import ServerTest

MIB = 1 << 20


class MultipartTest(ServerTest):
    def setUp(self):
        super().setUp()
        self.running = self.serve(config=self.config(), root=self.place())
        self.expect(self.running.request("PUT", "/box"), 200)

    def config(self):
        return ""

    def place(self):
        return self.root

    def create(self, name="k", **options):
        reply = self.running.request("POST", f"/box/{name}?uploads", **options)
        return self.expect(reply, 200).texts("UploadId")[0]

    def part(self, upload, number, body, name="k", **options):
        target = f"/box/{name}?partNumber={number}&uploadId={upload}"
        return self.running.request("PUT", target, body, payload=sigv4.UNSIGNED, **options)

    def etag(self, reply):
        return self.expect(reply, 200).headers["etag"]

    @staticmethod
    def document(parts):
        listed = "".join(f"<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>"
                         for number, etag in parts)
        return f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()

    def complete(self, upload, parts, name="k", **options):
        body = parts if isinstance(parts, bytes) else self.document(parts)
        return self.running.request("POST", f"/box/{name}?uploadId={upload}", body, **options)

    def abort(self, upload, name="k", **options):
        return self.running.request("DELETE", f"/box/{name}?uploadId={upload}", **options)

    def uploads(self):
        return self.expect(self.running.request("GET", "/box?uploads"), 200).texts("UploadId")

    def refused(self, reply, code):
        self.assertEqual(reply.code(), code, reply.body)
        self.assertLess(reply.status, 500)


class Uploads(MultipartTest):
    def test_parts_in_any_order_at_once(self):
        bodies = [os.urandom(5 * MIB + number) for number in range(5)] + [b"the end"]
        upload = self.create()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            order = [3, 0, 5, 1, 4, 2]
            replies = list(pool.map(lambda i: self.part(upload, i + 1, bodies[i]), order))
        etags = dict(zip(order, map(self.etag, replies)))
        self.expect(self.running.request("GET", "/box/k"), 404)
        self.assertEqual(self.uploads(), [upload])
        reply = self.complete(upload, [(i + 1, etags[i]) for i in range(6)])
        whole = b"".join(bodies)
        digest = hashlib.md5(b"".join(hashlib.md5(body).digest() for body in bodies)).hexdigest()
        self.assertEqual(self.expect(reply, 200).texts("ETag"), [f'"{digest}-6"'])
        got = self.running.request("GET", "/box/k")
        self.assertEqual(got.headers["etag"], f'"{digest}-6"')
        self.assertEqual(got.body, whole)
        cut = 5 * MIB - 10
        part = self.running.request("GET", "/box/k", headers={"range": f"bytes={cut}-{cut + 99}"})
        self.assertEqual(part.body, whole[cut:cut + 100])
        self.assertEqual(self.uploads(), [])
        self.running.restart(signal.SIGKILL)
        self.assertEqual(self.running.request("GET", "/box/k").body, whole)

    def test_a_part_can_be_sent_again(self):
        upload = self.create()
        first = self.etag(self.part(upload, 1, b"first"))
        second = self.etag(self.part(upload, 1, b"second"))
        self.refused(self.complete(upload, [(1, first)]), "InvalidPart")
        self.expect(self.complete(upload, [(1, second)]), 200)
        self.assertEqual(self.running.request("GET", "/box/k").body, b"second")

    def test_lists_that_do_not_fit(self):
        upload = self.create()
        etags = [self.etag(self.part(upload, number, bytes(100))) for number in (1, 2)]
        self.refused(self.complete(upload, [(1, etags[0]), (2, etags[1])]), "EntityTooSmall")
        self.refused(self.complete(upload, [(2, etags[1]), (1, etags[0])]), "InvalidPartOrder")
        self.refused(self.complete(upload, [(1, etags[0]), (1, etags[0])]), "InvalidPartOrder")
        self.refused(self.complete(upload, [(1, '"0"')]), "InvalidPart")
        self.refused(self.complete(upload, [(3, etags[0])]), "InvalidPart")
        self.refused(self.complete(upload, []), "MalformedXML")
        for number in ("0", "-1", "10001", "x", "", "1.5", "99999999999999999999"):
            self.assertIn(self.part(upload, number, b"x").status, (400, 501), number)
        self.expect(self.running.request("GET", "/box/k"), 404)
        self.expect(self.complete(upload, [(2, etags[1])]), 200)

    def test_documents_that_are_bombs(self):
        upload = self.create()
        etag = self.etag(self.part(upload, 1, b"x"))
        laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
        good = self.document([(1, etag)])
        for body in (f'<!DOCTYPE d [<!ENTITY l0 "1">{laughs}]>'.encode() + good,
                     b"<CompleteMultipartUpload>" * 100_000, b"<a>" * 1_000_000, b"", b"{}",
                     b"<CompleteMultipartUpload " + b'a="" ' * 1_000_000, good[:-1], good + b"<a/>",
                     b"<CompleteMultipartUpload>" + b"<Part>" * 300_000,
                     b"<CompleteMultipartUpload>" + b" " * 9_000_000,
                     self.document([(number, etag) for number in range(1, 10_002)])):
            self.assertIn(self.complete(upload, body).status, (400, 413), body[:60])
        self.expect(self.complete(upload, good), 200)

    def test_uploads_that_are_not(self):
        upload = self.create()
        etag = self.etag(self.part(upload, 1, b"x"))
        other = self.create("other")
        for wrong in (other, "none", upload[:-1], upload + "0", "..%2f..%2fx", "%00", "x" * 5000):
            self.refused(self.part(wrong, 1, b"x"), "NoSuchUpload")
            self.refused(self.complete(wrong, [(1, etag)]), "NoSuchUpload")
            self.refused(self.abort(wrong), "NoSuchUpload")
            reply = self.running.request("GET", f"/box/k?uploadId={wrong}")
            self.refused(reply, "NoSuchUpload")
        self.assertEqual(sorted(self.uploads()), sorted([upload, other]))
        self.expect(self.abort(upload), 204)
        self.refused(self.part(upload, 1, b"x"), "NoSuchUpload")
        self.refused(self.complete(upload, [(1, etag)]), "NoSuchUpload")
        self.expect(self.abort(other, "other"), 204)

    def test_a_wrong_hash_leaves_the_part_as_it_was(self):
        upload = self.create()
        etag = self.etag(self.part(upload, 1, b"good"))
        target = f"/box/k?partNumber=1&uploadId={upload}"
        reply = self.running.request("PUT", target, b"bad", payload=sigv4.sha256(b"other"))
        self.expect(reply, 400, "XAmzContentSHA256Mismatch")
        self.expect(self.complete(upload, [(1, etag)]), 200)
        self.assertEqual(self.running.request("GET", "/box/k").body, b"good")

    def test_conditions_at_the_end(self):
        upload = self.create()
        etag = self.etag(self.part(upload, 1, b"new"))
        self.expect(self.running.request("PUT", "/box/k", b"old"), 200)
        self.refused(self.complete(upload, [(1, etag)], headers={"if-none-match": "*"}),
                     "PreconditionFailed")
        self.refused(self.complete(upload, [(1, etag)], headers={"if-match": '"other"'}),
                     "PreconditionFailed")
        self.assertEqual(self.running.request("GET", "/box/k").body, b"old")
        known = self.running.request("HEAD", "/box/k").headers["etag"]
        self.expect(self.complete(upload, [(1, etag)], headers={"if-match": known}), 200)

    def test_uploads_outlive_a_kill(self):
        body = os.urandom(6 * MIB)
        upload = self.create()
        etags = [self.etag(self.part(upload, 1, body))]
        self.running.restart(signal.SIGKILL)
        self.assertEqual(self.uploads(), [upload])
        etags.append(self.etag(self.part(upload, 2, b"tail")))
        self.expect(self.complete(upload, list(enumerate(etags, start=1))), 200)
        self.assertEqual(self.running.request("GET", "/box/k").body, body + b"tail")

    def test_a_bucket_with_uploads_only(self):
        upload = self.create()
        self.expect(self.part(upload, 1, bytes(MIB)), 200)
        reply = self.running.request("DELETE", "/box")
        self.assertIn(reply.status, (204, 409))
        if reply.status == 409:
            self.expect(self.abort(upload), 204)
            self.expect(self.running.request("DELETE", "/box"), 204)


class Rights(MultipartTest):
    def setUp(self):
        super().setUp()
        self.writer = self.running.add_key("write:box/public/")
        self.reader = self.running.add_key("read:box")
        self.running.restart()
        for name in ("public", "private"):
            self.expect(self.running.request("PUT", f"/box/{name}/source", b"hidden"), 200)

    def test_of_an_upload(self):
        private, public = self.create("private/k"), self.create("public/k")
        etag = self.etag(self.part(private, 1, b"x", "private/k"))
        for key in (self.writer, self.reader):
            self.expect(self.part(private, 1, b"y", "private/k", key=key), 403)
            self.expect(self.complete(private, [(1, etag)], "private/k", key=key), 403)
            self.expect(self.abort(private, "private/k", key=key), 403)
        # The id of somebody else's upload opens nothing under a name of one's own.
        self.refused(self.part(private, 1, b"y", "public/k", key=self.writer), "NoSuchUpload")
        self.refused(self.complete(private, [(1, etag)], "public/k", key=self.writer),
                     "NoSuchUpload")
        self.refused(self.abort(private, "public/k", key=self.writer), "NoSuchUpload")
        self.expect(self.part(public, 1, b"z", "public/k", key=self.reader), 403)
        self.expect(self.running.request("GET", "/box?uploads", key=self.writer), 403)
        reply = self.running.request("POST", "/box/private/new?uploads", key=self.writer)
        self.expect(reply, 403)
        etag = self.etag(self.part(public, 1, b"z", "public/k", key=self.writer))
        self.expect(self.complete(public, [(1, etag)], "public/k", key=self.writer), 200)
        self.expect(self.abort(private, "private/k"), 204)

    def test_of_the_source_of_a_part(self):
        upload = self.create("public/k", key=self.writer)
        for source, status in (("/box/public/source", 200), ("/box/private/source", 403),
                               ("/box/%70rivate/source", 403), ("/none/x", 403)):
            reply = self.part(upload, 1, b"", "public/k", key=self.writer,
                              headers={"x-amz-copy-source": source})
            self.assertEqual(reply.status, status, (source, reply.body))


class Leftovers(MultipartTest):
    def disk_bytes(self):
        printed = subprocess.run(["du", "-s", "-B1", self.running.data], capture_output=True,
                                 check=True).stdout
        return int(printed.split()[0])

    def test_an_aborted_upload_leaves_nothing(self):
        upload = self.create()  # whatever is made once
        self.expect(self.part(upload, 1, bytes(MIB)), 200)
        self.expect(self.abort(upload), 204)
        before = self.disk_bytes()
        upload = self.create()
        for number in range(1, 5):
            self.expect(self.part(upload, number, os.urandom(6 * MIB)), 200)
        self.expect(self.abort(upload), 204)
        self.eventually(lambda: self.disk_bytes() < before + MIB, "an aborted upload is left")

    def test_a_client_that_vanishes_in_a_part(self):
        upload = self.create()
        self.expect(self.part(upload, 1, bytes(MIB)), 200)
        descriptors, before = self.running.descriptors(), self.disk_bytes()
        for number in range(1, 6):
            with self.running.connect() as stream:
                stream.sendall(self.running.signed_head(
                    "PUT", f"/box/k?partNumber={number}&uploadId={upload}",
                    {"content-length": str(8 * MIB)}) + bytes(7 * MIB))
        self.eventually(lambda: self.running.descriptors() <= descriptors, "descriptors are left")
        self.eventually(lambda: self.disk_bytes() < before + MIB, "bytes are left on the disk")
        listed = self.running.request("GET", f"/box/k?uploadId={upload}")
        self.assertEqual(listed.texts("PartNumber"), ["1"])


class FullDisk(MultipartTest):
    def place(self):
        disk = self.root / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={64 * MIB}", "tmpfs", disk],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("no small disk can be mounted here: that needs root")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        (disk / "server").mkdir()
        return disk / "server"

    def config(self):
        return '[store]\npack_size = "8MiB"\n'

    def test_parts_until_it_is_full(self):
        upload = self.create()
        parts = []
        for number in range(1, 100):
            body = os.urandom(6 * MIB)
            reply = self.part(upload, number, body)
            if reply.status != 200:
                break
            parts.append((number, reply.headers["etag"], body))
        self.expect(reply, 507)
        self.assertGreater(len(parts), 3)
        # What was taken can be finished, without room for a second copy of it.
        reply = self.complete(upload, [(number, etag) for number, etag, _ in parts])
        self.expect(reply, 200)
        whole = b"".join(body for _, _, body in parts)
        self.assertEqual(self.running.request("GET", "/box/k").body, whole)
        self.running.restart(signal.SIGKILL)
        self.assertEqual(self.running.request("GET", "/box/k").body, whole)


if __name__ == "__main__":
    server.main(sys.argv)
