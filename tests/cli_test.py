#!/usr/bin/env python3
"""cli_test.py LEAT [unittest arguments]: the command line, as people and scripts use it."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

LEAT = ""


class CommandLine(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name).resolve()

    def leat(self, *arguments, stdin=b"", code=0):
        """Runs leat, checks its exit code, and returns standard output."""
        result = subprocess.run([LEAT, *arguments], input=stdin, capture_output=True, check=False,
                                cwd=self.root, timeout=60)
        self.assertEqual(result.returncode, code, (arguments, result.stdout, result.stderr))
        self.stderr = result.stderr.decode()
        return result.stdout

    def json(self, *arguments, code=0):
        return json.loads(self.leat(*arguments, "--json", code=code))

    def write(self, path, data=b"x"):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        return target

    def tree(self, path):
        base = self.root / path
        return {file.relative_to(base).as_posix(): file.read_bytes()
                for file in base.rglob("*") if file.is_file()}

    def bucket(self, name="images"):
        self.leat("bucket", "create", f"leat+local://{self.root}/store/{name}")
        return f"leat+local://{self.root}/store/{name}"

    def damage(self, text):
        """Changes one letter of what a closed store holds."""
        file = next(path for path in (self.root / "store").rglob("*")
                    if path.is_file() and text in path.read_bytes())
        file.chmod(0o644)
        file.write_bytes(file.read_bytes().replace(text, text.swapcase(), 1))


class Objects(CommandLine):
    def check_round_trip(self, folder):
        data = bytes(range(256)) * 5000
        self.write("in.bin", data)
        self.leat("put", "in.bin", folder + "/a/")
        self.assertEqual(self.leat("cat", folder + "/a/in.bin"), data)
        self.leat("put", "-", folder + "/piped", stdin=data)
        self.assertEqual(self.leat("get", folder + "/piped", "-"), data)
        self.leat("get", folder + "/piped", "out.bin")
        self.assertEqual((self.root / "out.bin").read_bytes(), data)
        self.leat("put", "-", folder + "/empty", stdin=b"")
        self.assertEqual(self.leat("cat", folder + "/empty"), b"")
        self.assertEqual(self.leat("ls", "-r", folder + "/").split(),
                         [b"a/in.bin", b"empty", b"piped"])
        self.assertEqual(self.leat("ls", folder + "/").split(), [b"a/", b"empty", b"piped"])
        self.assertEqual(self.json("stat", folder + "/piped")["size_bytes"], len(data))
        self.assertEqual(self.json("du", folder + "/"), {"objects": 3, "bytes": 2 * len(data)})
        self.leat("rm", folder + "/empty")
        self.leat("stat", folder + "/empty", code=1)
        self.leat("rm", "-r", folder + "/", code=2)  # nobody said yes
        self.leat("rm", "-r", "--dry-run", folder + "/")
        self.leat("rm", "-r", "--yes", folder + "/")
        self.assertEqual(self.leat("ls", "-r", folder + "/"), b"")

    def test_files(self):
        (self.root / "tree").mkdir()
        self.check_round_trip(f"file://{self.root}/tree")

    def test_local_store(self):
        self.check_round_trip(self.bucket())

    def test_names_of_any_bytes(self):
        url = self.bucket()
        names = [b"new\nline", b"percent%41", b"not-utf8-\xff", "größe".encode(), b"a,b", b" "]
        for name in names:
            self.leat("put", "-", f"{url}/{urllib.parse.quote(name)}", stdin=name)
        lines = [json.loads(line) for line in self.leat("ls", "-r", "--json", url).splitlines()]
        found = [urllib.parse.unquote_to_bytes(line["name_encoded"]) if "name_encoded" in line
                 else line["name"].encode() for line in lines]
        self.assertEqual(found, sorted(names))
        self.assertEqual(self.leat("ls", "-r", url).count(b"\n"), len(names))
        self.leat("cp", "-r", url, "copy")
        self.assertEqual({os.fsencode(entry) for entry in os.listdir(self.root / "copy")},
                         set(names))

    def test_several_files_need_a_folder(self):
        self.write("1")
        self.write("2")
        self.leat("put", "1", "2", "target", code=2)
        self.leat("put", "1", "2", "target/")
        self.assertEqual(set(self.tree("target")), {"1", "2"})
        self.write("other/1")
        self.leat("put", "1", "other/1", "target/", code=1)  # one would replace the other


class Transfers(CommandLine):
    def test_a_second_run_copies_what_is_new(self):
        for i in range(50):
            self.write(f"source/{i % 5}/{i}", os.urandom(i * 100))
        url = self.bucket()
        self.assertEqual(self.json("cp", "-r", "source", url + "/")["copied"], 50)
        again = self.json("cp", "-r", "source", url + "/")
        self.assertEqual((again["copied"], again["unchanged"]), (0, 50))
        self.write("source/new")
        self.assertEqual(self.json("sync", "source", url + "/")["copied"], 1)
        self.leat("sync", url, "back")
        self.assertEqual(self.tree("back"), self.tree("source"))

    def test_checksum_sees_what_times_do_not(self):
        self.write("source/a", b"1")
        self.write("target/a", b"2")
        os.utime(self.root / "source/a", (1, 1))
        self.assertEqual(self.json("sync", "source", "target")["copied"], 0)
        self.assertEqual(self.json("sync", "--checksum", "source", "target")["copied"], 1)

    def test_checksum_mends_what_is_damaged(self):
        for name, size in (("a", 100), ("b", 100), ("c", 100), ("large", 1 << 20)):
            self.write("source/" + name, f"{name}-treasure".encode() * size)
        url = self.bucket()
        store = f"leat+local://{self.root}/store"
        self.leat("cp", "-r", "source", url + "/")
        self.damage(b"b-treasure")
        self.damage(b"large-treasure")
        self.leat("cat", url + "/b", code=1)
        self.assertIn("leat cp -r --checksum", self.stderr)
        self.leat("cat", url + "/large", code=1)
        self.assertEqual(self.json("cp", "-r", "source", url + "/")["copied"], 0)
        report = self.json("cp", "-r", "--checksum", "source", url + "/")
        self.assertEqual((report["copied"], report["unchanged"]), (2, 2))
        for name, data in self.tree("source").items():
            self.assertEqual(self.leat("cat", f"{url}/{name}"), data)
        self.leat("verify", store)

    def test_a_copy_within_a_bucket_takes_no_space(self):
        data = os.urandom(4 << 20)
        self.write("big", data)
        url = self.bucket()
        self.leat("put", "big", url + "/big")
        for target in ("copy", "big"):  # the second is the source itself
            self.leat("cp", url + "/big", f"{url}/{target}")
        self.assertEqual(list(self.tree("store/objects").values()), [data])
        self.leat("rm", url + "/big")
        self.assertEqual(self.leat("cat", url + "/copy"), data)

    def test_delete_is_careful(self):
        self.write("target/old", b"old")
        (self.root / "empty").mkdir()
        self.leat("sync", "--delete", "empty", "target", code=1)
        self.leat("sync", "--delete", "missing", "target", code=1)
        self.leat("sync", "--delete", ".", "target", code=1)
        self.leat("sync", "--delete", "target", ".", code=1)
        self.write("source/new", b"new")
        self.leat("sync", "--delete", "--dry-run", "source", "target")
        self.leat("sync", "--delete", "--exclude", "old", "source", "target")
        self.assertEqual(set(self.tree("target")), {"new", "old"})
        self.leat("sync", "--delete", "source", "target")
        self.assertEqual(self.tree("target"), {"new": b"new"})

    def test_a_store_in_a_tree_is_not_files_of_that_tree(self):
        url = self.bucket()
        self.leat("put", "-", url + "/x", stdin=b"x")
        self.leat("sync", "--delete", url, ".", code=1)
        self.leat("cp", "-r", ".", url + "/all/", code=1)
        self.assertEqual(self.leat("cat", url + "/x"), b"x")
        self.leat("cp", "-r", url, "beside")  # nothing is removed there
        self.assertEqual(self.tree("beside"), {"x": b"x"})

    def test_links_that_lead_out_are_told_and_their_copies_kept(self):
        self.write("blobs/1", b"one")
        self.write("snapshot/2", b"two")
        (self.root / "snapshot/1").symlink_to("../blobs/1")
        (self.root / "snapshot/3").symlink_to("nowhere")
        self.write("backup/1", b"one")
        self.leat("sync", "--delete", "snapshot", "backup", code=1)
        self.assertIn("leads out of", self.stderr)
        self.assertEqual(self.tree("backup"), {"1": b"one", "2": b"two"})

    def test_patterns(self):
        for name in ("a/1.jpg", "a/1.txt", "b/2.jpg"):
            self.write("source/" + name)
        self.leat("cp", "-r", "--include", "*.jpg", "--exclude", "b/**", "source", "target")
        self.assertEqual(set(self.tree("target")), {"a/1.jpg"})
        self.leat("cp", "-r", "--include", "[", "source", "target", code=2)

    def test_failures_are_named_and_the_rest_is_copied(self):
        self.write("source/good")
        self.write("source/x/y")
        self.write("target/x", b"a file in the way")
        report = self.json("cp", "-r", "source", "target", code=1)
        self.assertEqual((report["copied"], report["failed"]), (1, 1))
        self.assertEqual(report["failures"][0]["name"], "x/y")

    def test_interruption_leaves_nothing_behind_and_can_be_resumed(self):
        source, count = "null:?size=1MiB&count=1500", 1500
        process = subprocess.Popen([LEAT, "cp", "-r", source, "target"], cwd=self.root,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 30
        while len(self.tree_names("target")) < 5 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        names = self.tree_names("target")
        self.assertLess(len(names), count)
        self.assertEqual([name for name in names if name.startswith(".")], [])
        self.leat("cp", "-r", source, "target")
        self.assertEqual(len(self.tree_names("target")), count)

    def tree_names(self, path):
        directory = self.root / path
        return os.listdir(directory) if directory.exists() else []


class LocalStores(CommandLine):
    def test_buckets(self):
        url = self.bucket("one")
        store = f"leat+local://{self.root}/store"
        self.leat("bucket", "create", "--durability", "memory", store + "/two")
        self.leat("bucket", "create", store + "/two", code=1)
        self.assertEqual([(b["bucket"], b["durability"]) for b in self.json("bucket", "ls", store)],
                         [("one", "disk"), ("two", "memory")])
        self.leat("bucket", "set", "--durability", "disk", store + "/two")
        self.assertEqual(self.json("bucket", "ls", store)[1]["durability"], "disk")
        self.assertEqual(self.leat("ls", store), b"one/\ntwo/\n")
        self.leat("put", "-", url + "/x", stdin=b"x")
        self.leat("bucket", "rm", url, code=1)
        self.leat("rm", url + "/x")
        self.leat("bucket", "rm", url)
        self.assertEqual(self.leat("ls", store), b"two/\n")

    def test_only_empty_directories_become_stores(self):
        self.write("precious/file")
        self.write("x")
        self.leat("cp", "x", f"leat+local://{self.root}/precious/bucket/x", code=1)
        self.leat("ls", f"leat+local://{self.root}/new/bucket", code=1)
        self.assertFalse((self.root / "new").exists())
        self.leat("cp", "x", f"leat+local://{self.root}/new/bucket/x")
        self.assertEqual(self.leat("cat", f"leat+local://{self.root}/new/bucket/x"), b"x")

    def test_drives(self):
        url = self.bucket()
        store = f"leat+local://{self.root}/store"
        for i in range(20):
            self.leat("put", "-", f"{url}/{i}", stdin=b"%d" % i)
        self.leat("drive", "add", store, "second")
        both = f"{store},{self.root}/second"
        self.assertEqual(len(self.json("drive", "ls", both)), 2)
        self.assertEqual(self.json("du", both + "/images")["objects"], 20)
        # A drive that is away: nothing is taken for removed, and nothing given up by a slip.
        self.write("backup/7", b"7")
        self.leat("sync", "--delete", url, "backup", code=1)
        self.leat("cp", "-r", url, "backup", code=1)
        self.assertEqual(set(self.tree("backup")), {"7"})
        self.assertTrue(0 < len(self.leat("ls", url, code=1).split()) < 20)
        self.leat("bucket", "rm", url, code=1)
        lost = next(drive["id"] for drive in self.json("drive", "ls", store)
                    if drive["state"] == "missing")
        self.leat("drive", "remove", store, lost, code=2)
        self.leat("ls", f"leat+local://{self.root}/gone,{self.root}/store/images", code=1)
        self.leat("put", "-", f"{store},{self.root}/gone/images/x", code=1)
        self.assertFalse((self.root / "gone").exists())
        self.leat("drive", "remove", both, "second/")
        self.assertEqual(self.json("du", url)["objects"], 20)

    def test_verify(self):
        url = self.bucket()
        store = f"leat+local://{self.root}/store"
        self.leat("put", "-", url + "/x", stdin=b"treasure" * 100)
        self.assertTrue(self.json("verify", store)["ok"])
        self.damage(b"treasure")
        report = self.json("verify", store, code=1)
        self.assertEqual(report["damaged"][0]["name"], "images/x")
        self.leat("cat", url + "/x", code=1)


class Shards(CommandLine):
    def test_create_list_index_extract(self):
        for i in range(30):
            self.write(f"in/{i:03}.jpg", os.urandom(500))
            self.write(f"in/{i:03}.cls", b"%d" % i)
        created = self.json("shard", "create", "--count", "10", "in", "shards")
        self.assertEqual((len(created["shards"]), created["samples"]), (3, 30))
        shard = "shards/shard-000000.tar"
        listed = self.leat("shard", "ls", shard).split()
        self.assertEqual(len(listed), 20)
        self.assertEqual(self.json("shard", "index", shard)["members"], 20)
        self.assertEqual(subprocess.run(["tar", "tf", self.root / shard], check=True,
                                        capture_output=True).stdout.split(), sorted(listed))
        for i in range(3):
            self.leat("shard", "extract", f"shards/shard-{i:06}.tar", "out")
        self.assertEqual(self.tree("out"), self.tree("in"))
        url = self.bucket()
        self.leat("put", shard, url + "/train.tar")
        self.assertEqual(self.leat("cat", url + "/train.tar/003.cls"), b"3")
        members = self.leat("ls", "-r", "--members", url + "/train.tar").split()
        self.assertIn(b"train.tar/003.jpg", members)
        for arguments in (("rm",), ("rm", "--dry-run")):
            self.leat(*arguments, url + "/train.tar/003.cls", code=1)
            self.assertIn("members of a shard", self.stderr)
            self.leat(*arguments, url + "/train.tar/missing", code=1)
            self.assertNotIn("members of a shard", self.stderr)
        self.leat("rm", "--dry-run", url + "/train.tar")
        self.leat("rm", url + "/train.tar")

    def test_what_is_no_shard(self):
        self.write("x.tar", b"not a tar" * 1000)
        self.leat("shard", "ls", "x.tar", code=1)


class Conversation(CommandLine):
    def test_errors_say_what_to_try(self):
        for arguments, code in ((("cat", "missing"), 1), (("stat", "nowhere://x"), 1),
                                (("lss", "x"), 2), (("bucket", "creat", "x"), 2), (("cat",), 2),
                                (("ls", "--no-such-flag", "."), 2), (("cp", ".", "x"), 2),
                                (("--timeout", "soon", "ls", "."), 2)):
            self.leat(*arguments, code=code)
            self.assertIn("leat: ", self.stderr)
            self.assertIn("\ntry: ", self.stderr)
        self.leat("lss", code=2)
        self.assertIn("'ls'", self.stderr)
        self.leat("cat", "missing", "--json", code=1)
        self.assertEqual(json.loads(self.stderr)["code"], "not found")

    def test_every_verb_helps_by_example(self):
        verbs = ["put", "get", "cat", "ls", "stat", "du", "cp", "sync", "rm", "verify", "version",
                 "completion", "bucket create", "bucket ls", "bucket rm", "bucket set",
                 "shard create", "shard ls", "shard index", "shard extract", "drive add",
                 "drive remove", "drive ls", "config check"]
        for verb in verbs:
            text = self.leat(*verb.split(), "--help").decode()
            examples = text.partition("Examples:")[2]
            self.assertGreaterEqual(examples.count("leat "), 2, verb)

    def test_configuration(self):
        self.write("good.toml", b'[store]\nsmall_object_size = "64KiB"\n[log]\nlevel = "error"\n')
        self.write("bad.toml", b"[store]\nsmal_object_size = 1\n")
        self.leat("config", "check", "good.toml")
        self.leat("config", "check", "bad.toml", code=1)
        self.assertIn("small_object_size", self.stderr)
        self.leat("--config", "good.toml", "ls", ".")
        self.write("scrub.toml", b'[store]\nscrub_rate = "1GiB"\nscrub_pause = "1h30m"\n'
                                 b'record_cache = 0\n')
        shown = self.leat("config", "check", "scrub.toml").decode()
        for line in ('scrub_rate = "1GiB"', 'scrub_pause = "1h30m"', 'record_cache = "0B"'):
            self.assertIn(line, shown)
        url = self.bucket()
        self.leat("--config", "scrub.toml", "put", "-", url + "/x", stdin=b"x")
        self.assertEqual(self.leat("--config", "scrub.toml", "cat", url + "/x"), b"x")
        self.leat("--config", "bad.toml", "ls", ".", code=2)

    def test_version_and_completion(self):
        self.assertIn("version", self.json("version"))
        script = self.leat("completion", "bash")
        subprocess.run(["bash", "-n"], input=script, check=True)
        completed = subprocess.run(
            ["bash", "-c", script.decode() +
             "\nCOMP_WORDS=(leat bucket cre); COMP_CWORD=2; _leat; echo ${COMPREPLY[@]}"],
            capture_output=True, check=True, cwd=self.root)
        self.assertEqual(completed.stdout.strip(), b"create")
        self.leat("completion", "fish", code=2)

    def test_a_deadline(self):
        self.leat("--timeout", "1ms", "cp", "-r", "null:?size=1MiB&count=100000", "target", code=1)


if __name__ == "__main__":
    LEAT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
