#!/usr/bin/env python3
"""clients_test.py LEAT [unittest arguments]: the S3 clients that Debian packages do their ordinary
day with `leat serve`: make a bucket, upload a tree, list it, download it, compare every byte, sync
again with nothing to do, delete.

They run with an environment of their own: no user's configuration is read, and the only address is
that of the server.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import urllib.parse

import server
import sigv4
from server import ServerTest

PATH = "/usr/bin:/bin"
TESTS = pathlib.Path(__file__).resolve().parent
TIME_LIMIT_S = 240

LARGE = "dir/deeper/21m.bin"  # every client sends this in parts

TREE = {
    "plain.txt": b"plain\n",
    "empty": b"",
    "dir/300k.bin": os.urandom(300_000),
    "dir/deeper/5m.bin": os.urandom(5_000_000),
    LARGE: os.urandom(21_000_000),
    "dir/Größe und Abstand.txt": b"umlauts and spaces",
    "dir/a+b&c=d;e,f'g.txt": b"signs",
    "dir/100%25.txt": b"percent",
    "日本語/名前": b"names",
}


class ClientTest(ServerTest):
    program = ""

    def setUp(self):
        super().setUp()
        if shutil.which(self.program, path=PATH) is None:
            self.fail(f"{self.program} is not installed: scripts/deps.sh clients")
        self.running = self.serve()
        self.source = self.root / "source"
        for name, data in TREE.items():
            path = self.source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.home = self.root / "home"
        self.home.mkdir()
        self.environment = {
            "HOME": str(self.home), "PATH": PATH, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8",
            "AWS_ACCESS_KEY_ID": self.running.key.id, "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_SECRET_ACCESS_KEY": self.running.key.secret, "AWS_EC2_METADATA_DISABLED": "true"}

    def call(self, *arguments, code=0):
        """Runs the client; returns what it printed."""
        done = subprocess.run([self.program, *map(str, arguments)], env=self.environment,
                              cwd=self.root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, timeout=TIME_LIMIT_S)
        printed = done.stdout.decode(errors="replace")
        if code is not None:
            self.assertEqual(done.returncode, code, (arguments, printed[-2000:]))
        return printed

    def check_store(self, prefix=""):
        """The server has the tree, as another client sees it."""
        reply = self.running.request("GET", "/day?list-type=2&encoding-type=url")
        names = {urllib.parse.unquote_plus(key) for key in reply.texts("Key")}
        self.assertEqual({name for name in names if not name.endswith("/")},
                         {prefix + name for name in TREE})
        for name, data in TREE.items():
            reply = self.running.request("GET", "/day/" + urllib.parse.quote(prefix + name))
            self.assertEqual(self.expect(reply, 200).body, data, name)

    def check_parts(self):
        """The large file was sent in parts: the etag says how many."""
        etag = self.running.request("HEAD", f"/day/{LARGE}").headers["etag"]
        self.assertRegex(etag, r'^"[0-9a-f]{32}-[0-9]+"$')

    def check_tree(self, directory):
        found = {path.relative_to(directory).as_posix(): path.read_bytes()
                 for path in directory.rglob("*") if path.is_file()}
        self.assertEqual(set(found), set(TREE))
        for name, data in TREE.items():
            self.assertEqual(found[name], data, name)


class AwsCli(ClientTest):
    program = "aws"

    def aws(self, *arguments, code=0):
        return self.call("--endpoint-url", self.running.url, *arguments, code=code)

    def test_a_day(self):
        self.aws("s3", "mb", "s3://day")
        self.assertIn("day", self.aws("s3", "ls"))
        self.aws("s3", "sync", self.source, "s3://day")
        self.check_store()
        self.check_parts()
        listing = self.aws("s3", "ls", "--recursive", "s3://day")
        for name in TREE:
            self.assertIn(name, listing)
        self.assertIn("PRE dir/", self.aws("s3", "ls", "s3://day/"))
        self.assertEqual(self.aws("s3", "sync", self.source, "s3://day"), "")
        self.aws("s3", "sync", "s3://day", self.root / "target")
        self.check_tree(self.root / "target")
        self.assertEqual(self.aws("s3", "sync", "s3://day", self.root / "target"), "")
        self.aws("s3", "cp", "s3://day/plain.txt", "s3://day/copied.txt")
        self.aws("s3", "mv", "s3://day/copied.txt", "s3://day/moved.txt")
        self.assertEqual(self.aws("s3", "cp", "s3://day/moved.txt", "-"), "plain\n")
        link = self.aws("s3", "presign", "s3://day/moved.txt").strip()
        target = link.removeprefix(self.running.url)
        self.assertEqual(self.running.request("GET", target, anonymous=True).body, b"plain\n")
        self.aws("s3", "cp", "s3://day/none", "-", code=1)
        self.aws("s3api", "head-object", "--bucket", "day", "--key", "none", code=254)
        self.aws("s3", "rm", "--recursive", "s3://day/dir/")
        self.assertNotIn("dir/", self.aws("s3", "ls", "--recursive", "s3://day"))
        self.aws("s3", "rb", "s3://day", code=1)
        self.aws("s3", "rb", "--force", "s3://day")
        self.assertEqual(self.aws("s3", "ls"), "")


class S3cmd(ClientTest):
    program = "s3cmd"

    def setUp(self):
        super().setUp()
        self.settings = self.root / "s3cfg"
        self.settings.write_text(f"""[default]
access_key = {self.running.key.id}
secret_key = {self.running.key.secret}
host_base = {self.running.host}
host_bucket = {self.running.host}
use_https = False
""")

    def s3cmd(self, *arguments, code=0):
        return self.call("-c", self.settings, "--no-progress", *arguments, code=code)

    def test_a_day(self):
        self.s3cmd("mb", "s3://day")
        self.assertIn("s3://day", self.s3cmd("ls"))
        self.s3cmd("sync", f"{self.source}/", "s3://day/")
        self.check_store()
        self.check_parts()
        listing = self.s3cmd("ls", "--recursive", "s3://day")
        for name in TREE:
            self.assertIn(f"s3://day/{name}", listing)
        self.assertNotIn("upload:", self.s3cmd("sync", f"{self.source}/", "s3://day/"))
        target = self.root / "target"
        target.mkdir()
        self.s3cmd("sync", "s3://day/", f"{target}/")
        self.check_tree(target)
        self.assertNotIn("download:", self.s3cmd("sync", "s3://day/", f"{target}/"))
        self.s3cmd("cp", "s3://day/plain.txt", "s3://day/copied.txt")
        self.s3cmd("mv", "s3://day/copied.txt", "s3://day/moved.txt")
        self.assertIn("File size: 6", self.s3cmd("info", "s3://day/moved.txt"))
        self.assertIn("s3://day", self.s3cmd("du", "s3://day"))
        self.s3cmd("del", "s3://day/moved.txt")
        self.s3cmd("del", "--recursive", "--force", "s3://day")
        self.assertEqual(self.s3cmd("ls", "--recursive", "s3://day"), "")
        self.s3cmd("rb", "s3://day")
        self.assertNotEqual(self.s3cmd("ls", "s3://day", code=None), "")


class Rclone(ClientTest):
    program = "rclone"

    def setUp(self):
        super().setUp()
        self.environment |= {
            "RCLONE_CONFIG": str(self.root / "rclone.conf"), "RCLONE_CONFIG_LEAT_TYPE": "s3",
            "RCLONE_CONFIG_LEAT_PROVIDER": "Other", "RCLONE_CONFIG_LEAT_ENV_AUTH": "true",
            "RCLONE_CONFIG_LEAT_ENDPOINT": self.running.url,
            "RCLONE_CONFIG_LEAT_REGION": "us-east-1"}
        (self.root / "rclone.conf").touch()

    def test_a_day(self):
        self.call("mkdir", "leat:day")
        self.assertIn("day", self.call("lsd", "leat:"))
        self.call("sync", "--s3-upload-cutoff", "6M", "--s3-chunk-size", "5M", self.source,
                  "leat:day")
        self.check_store()
        self.check_parts()
        self.assertEqual(set(self.call("lsf", "-R", "--files-only", "leat:day").splitlines()),
                         set(TREE))
        self.assertIn("There was nothing to transfer",
                      self.call("sync", "-v", self.source, "leat:day"))
        # Compares the MD5s that the server tells with those of the files.
        self.assertIn("0 differences found", self.call("check", self.source, "leat:day"))
        self.assertIn("0 differences found",
                      self.call("check", "--download", self.source, "leat:day"))
        self.call("sync", "leat:day", self.root / "target")
        self.check_tree(self.root / "target")
        self.call("copyto", "leat:day/plain.txt", "leat:day/copied.txt")
        self.call("moveto", "leat:day/copied.txt", "leat:day/moved.txt")
        self.assertEqual(self.call("cat", "leat:day/moved.txt"), "plain\n")
        self.assertEqual(self.call("cat", "--offset", "2", "--count", "3", "leat:day/moved.txt"),
                         "ain")
        self.call("delete", "leat:day/dir")
        self.call("purge", "leat:day")
        self.assertEqual(self.call("lsd", "leat:"), "")

    def test_objects_of_another_door_are_not_compared_by_md5(self):
        self.call("mkdir", "leat:day")
        for name, data in TREE.items():
            reply = self.running.request(
                "PUT", "/leat/v1/objects/day/" + urllib.parse.quote(name), data)
            self.expect(reply, 200)
        printed = self.call("check", "-v", self.source, "leat:day")
        self.assertIn("0 differences found", printed)
        self.call("copy", "leat:day", self.root / "target")
        self.check_tree(self.root / "target")


class S3fs(ClientTest):
    program = "s3fs"

    def setUp(self):
        super().setUp()
        if not os.path.exists("/dev/fuse"):
            self.skipTest("there is no /dev/fuse on this machine, so nothing can be mounted")
        password = self.root / "password"
        password.write_text(f"{self.running.key.id}:{self.running.key.secret}\n")
        password.chmod(0o600)
        self.expect(self.running.request("PUT", "/day"), 200)
        self.mount = self.root / "mount"
        self.mount.mkdir()
        self.password = password
        self.mount_it()

    def mount_it(self):
        log = open(self.root / "s3fs.log", "ab")  # pylint: disable=consider-using-with
        self.addCleanup(log.close)
        process = subprocess.Popen(
            [self.program, "day", str(self.mount), "-f", "-o", f"url={self.running.url}", "-o",
             "use_path_request_style", "-o", f"passwd_file={self.password}", "-o", "sigv4",
             "-o", "endpoint=us-east-1", "-o", "logfile=/dev/stderr"],
            env=self.environment, stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(subprocess.run, ["umount", "-l", self.mount], check=False,
                        stderr=subprocess.DEVNULL)
        self.eventually(lambda: os.path.ismount(self.mount) or process.poll() is not None,
                        "s3fs does not mount")
        self.assertIsNone(process.poll(), (self.root / "s3fs.log").read_text())

    def test_a_day(self):
        for name, data in TREE.items():
            path = self.mount / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.check_store()
        self.check_parts()
        self.check_tree(self.mount)
        self.assertEqual(sorted(os.listdir(self.mount / "dir")),
                         sorted({name.split("/")[1] for name in TREE if name.startswith("dir/")}))
        with open(self.mount / "plain.txt", "ab") as file:
            file.write(b"appended\n")
        self.assertEqual((self.mount / "plain.txt").read_bytes(), b"plain\nappended\n")
        os.rename(self.mount / "plain.txt", self.mount / "renamed.txt")
        os.rename(self.mount / "dir", self.mount / "moved")
        self.assertEqual((self.mount / "moved/300k.bin").read_bytes(), TREE["dir/300k.bin"])
        with open(self.mount / "moved/5m.bin", "wb") as file:
            file.write(b"short now")
        with open(self.mount / "moved/deeper/5m.bin", "rb") as file:
            file.seek(4_000_000)
            self.assertEqual(file.read(1000), TREE["dir/deeper/5m.bin"][4_000_000:4_001_000])
        # What was written is what the server has.
        subprocess.run(["umount", self.mount], check=True)
        reply = self.running.request("GET", "/day/renamed.txt")
        self.assertEqual(self.expect(reply, 200).body, b"plain\nappended\n")
        self.assertEqual(self.running.request("GET", "/day/moved/5m.bin").body, b"short now")
        self.expect(self.running.request("GET", "/day/plain.txt"), 404)
        # And after a new mount all of it can go.
        self.mount_it()
        for entry in sorted(os.listdir(self.mount)):
            path = self.mount / entry
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.assertEqual(os.listdir(self.mount), [])
        self.assertEqual(self.running.request("GET", "/day").texts("Key"), [])


class Curl(ClientTest):
    program = "curl"

    def curl(self, target, *arguments, payload=sigv4.UNSIGNED, code=0):
        key = self.running.key
        return self.call("-sS", "--fail", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user",
                         f"{key.id}:{key.secret}", "-H", f"x-amz-content-sha256: {payload}",
                         *arguments, self.running.url + target, code=code)

    def test_a_day(self):
        self.curl("/day", "-X", "PUT")
        for name in TREE:
            self.curl("/day/" + urllib.parse.quote(name), "-T", self.source / name)
        self.check_store()
        self.assertIn("<Key>plain.txt</Key>", self.curl("/day"))
        for name in TREE:
            target = self.root / "target" / name
            self.curl("/day/" + urllib.parse.quote(name), "--create-dirs", "-o", target)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()  # curl makes no file of an empty answer
        self.check_tree(self.root / "target")
        self.assertEqual(self.curl("/day/plain.txt", "-r", "1-3"), "lai")
        self.curl("/day/none", code=22)
        for name in TREE:
            self.curl("/day/" + urllib.parse.quote(name), "-X", "DELETE")
        self.curl("/day", "-X", "DELETE")
        self.assertNotIn("day", self.curl("/"))

    def test_without_a_header_of_the_hash(self):
        self.curl("/day", "-X", "PUT")
        key = self.running.key
        printed = self.call("-sS", "--fail", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user",
                            f"{key.id}:{key.secret}", self.running.url + "/day")
        self.assertIn("ListBucketResult", printed)


class Boto3(ClientTest):
    program = "/usr/bin/python3"

    def test_a_day(self):
        self.environment["LEAT_URL"] = self.running.url
        self.assertIn(": good", self.call("-B", TESTS / "boto3_day.py"))


if __name__ == "__main__":
    server.main(sys.argv)
