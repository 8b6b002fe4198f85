#!/usr/bin/env python3
"""page_test.py LEAT PICTURES [unittest arguments]: the page, in a real browser, with real clicks.

Pictures of what it looks like are left in the directory PICTURES.
"""

import io
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest
import urllib.parse
import zlib

from browser import Browser

LEAT = ""
PICTURES = pathlib.Path()

# Each would set `hacked`, or break the page, if it were ever more than text.
HOSTILE = [
    "<img src=x onerror=window.hacked=1>.png",
    "\"><script src=data:,hacked=1>.txt",
    "'-window.hacked=1-'",
    "javascript:window.hacked=1",
    "&lt;b&gt;bold&lt;",
    "{{constructor.constructor('window.hacked=1')()}}",
    "größe 図 🐈.txt",
    "\u202egpj.exe",
    "new\nline",
    "%3Cb%3E",
    "a?after=b#c",
    "__proto__",
]
SCRIPTED_HTML = b"<!doctype html><script>window.hacked=1</script><h1>hello</h1>"
SCRIPTED_SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>window.hacked=1</script></svg>"


def png(index, size=96):
    """A picture with a hue of its own."""
    rows = []
    for y in range(size):
        row = bytearray(b"\0")
        for x in range(size):
            wave = math.sin((x + index * 7) / 9) + math.sin((y - index * 5) / 11)
            row += bytes((int(127 + 60 * wave), (index * 37 + y) % 256, (90 + index * 53 + x) % 256))
        rows.append(bytes(row))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(b"".join(rows))) + chunk(b"IEND", b""))


def bomb():
    """Says that it has 10 gigapixels."""
    return png(1)[:16] + struct.pack(">II", 100_000, 100_000) + png(1)[24:]


def shard():
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        def add(name, data):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(data), 1_700_000_000
            archive.addfile(entry, io.BytesIO(data))
        for i in range(70):
            add(f"{i:04}.png", png(i))
            add(f"{i:04}.cls", b"%d\n" % (i % 10))
        for name in HOSTILE:
            add(f"z{name}", name.encode())
        add("zz-script.png", SCRIPTED_SVG)
        add("zz-bomb.png", bomb())
    return stream.getvalue()


class Server:
    """A server with a store of its own, and with keys that nobody else has."""

    def __init__(self, *arguments, lose_a_drive=False):
        self._scratch = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self._scratch.name)
        self._environment = dict(os.environ, HOME=str(self.root))
        self._fill()
        self.leat("keys", "add", "admin")  # the first one is that of the commands
        self.limited_key = self.leat("keys", "add", "read:empty").split()[:2]
        if lose_a_drive:
            self.leat("drive", "add", f"leat+local://{self.root}/store", str(self.root / "second"))
        self._process = subprocess.Popen(
            [LEAT, "serve", "--data", str(self.root / "store"), "--listen", "127.0.0.1:0", "--json", *arguments],
            env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.url = json.loads(self._process.stdout.readline())["url"]

    def leat(self, *arguments, stdin=b""):
        return subprocess.run([LEAT, *arguments], input=stdin, env=self._environment, check=True,
                              capture_output=True).stdout

    def _fill(self):
        base = f"leat+local://{self.root}/store"
        for bucket in ("images", "empty"):
            self.leat("bucket", "create", f"{base}/{bucket}")
        tree = self.root / "tree"
        (tree / "many").mkdir(parents=True)
        (tree / "train").mkdir()
        for i in range(450):
            (tree / "many" / f"{i:04}").write_bytes(b"%d" % i)
        (tree / "train" / "000.tar").write_bytes(shard())
        (tree / "cat.png").write_bytes(png(5, 300))
        (tree / "bytes.bin").write_bytes(bytes(range(256)) * 8)
        (tree / "notes.txt").write_text("A leat is the channel that brings water to a mill.\n" * 3)
        (tree / "nothing").write_bytes(b"")
        (tree / "page.html").write_bytes(SCRIPTED_HTML)
        (tree / "script.png").write_bytes(SCRIPTED_SVG)
        self.leat("cp", "-r", str(tree), f"{base}/images/")
        for name in [*HOSTILE, "dots/../up"]:
            self.leat("put", "-", f"{base}/images/odd/{urllib.parse.quote(name)}", stdin=name.encode())

    def key(self):
        return re.findall(r"=(\S+)", self.leat("keys", "env").decode())[:2]

    def close(self):
        self._process.terminate()
        self._process.wait(60)
        self._process.stdout.close()
        self._scratch.cleanup()


class PageTest(unittest.TestCase):
    ARGUMENTS = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.ARGUMENTS)
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        self.browser = Browser(hosts={"storage.example": "127.0.0.1"})
        self.addCleanup(self.browser.close)

    def check_nothing_ran(self):
        self.assertIsNone(self.browser.evaluate("globalThis.hacked ?? null"))
        self.assertEqual(self.browser.violations(), [])

    def picture(self, name):
        for scheme in ("dark", "light"):
            self.browser.prefer(scheme)
            self.browser.screenshot(PICTURES / f"{name}-{scheme}.png")

    def open(self, fragment=""):
        self.browser.go(f"{self.server.url}/leat{fragment}")

    def drawn(self, selector):
        """How many different colours the canvas shows: an empty one has one."""
        return self.browser.wait(f"""(() => {{
            const canvas = document.querySelector({json.dumps(selector)});
            if (!canvas) return 0;
            const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            return new Set(new Uint32Array(data.buffer)).size;
        }})()""")


class WithKeys(PageTest):
    def sign_in(self, key=None):
        self.browser.wait_for_text("This server wants a key")
        access, secret = key or self.server.key()
        self.browser.click("#id")
        self.browser.type(access)
        self.browser.click("#secret")
        self.browser.type(secret)
        self.browser.click("button", "Sign in")
        self.browser.wait("!document.getElementById('nav').hidden")

    def test_a_key_is_needed_and_forgotten(self):
        self.open()
        self.browser.wait_for_text("This server wants a key")
        self.picture("signin")
        self.assertEqual(len(self.browser.problems), 1)  # 403, which the browser logs by itself
        self.browser.click("#id")
        self.browser.type("nobody")
        self.browser.click("#secret")
        self.browser.type("nothing")
        self.browser.press("Enter", 13)
        self.browser.wait_for_text("There is no such access key")
        self.open()
        self.sign_in()
        secret = self.server.key()[1]
        self.assertNotIn(secret, self.browser.evaluate("document.documentElement.outerHTML"))
        self.open("#/buckets")  # the tab knows it still
        self.browser.wait_for_text("images")
        self.browser.click("button", "Sign out")
        self.browser.wait_for_text("This server wants a key")
        self.assertEqual(self.browser.evaluate("sessionStorage.length + localStorage.length"), 0)
        self.assertEqual(self.browser.evaluate("document.cookie"), "")
        self.check_nothing_ran()

    def test_a_walk(self):
        self.open()
        self.sign_in()
        self.browser.problems.clear()
        self.browser.wait_for_text("Requests per second")
        self.browser.click("#nav a", "Buckets")
        self.browser.click("table a", "images")
        self.browser.wait_for_text("cat.png")
        self.picture("bucket")
        # A picture, text, bytes, nothing.
        self.browser.click("table a", "cat.png")
        self.browser.wait_for_text("PNG, 300 × 300")
        self.assertGreater(self.drawn(".picture canvas"), 100)
        self.picture("image")
        self.browser.click(".trail a", "images")
        self.browser.click("table a", "notes.txt")
        self.browser.wait_for_text("A leat is the channel")
        self.browser.click(".trail a", "images")
        self.browser.click("table a", "bytes.bin")
        self.browser.wait_for_text("000010  10 11 12")
        self.picture("bytes")
        self.browser.click(".trail a", "images")
        self.browser.click("table a", "nothing")
        self.browser.wait_for_text("The object is empty")
        # A shard, its second page, a member.
        self.browser.click(".trail a", "images")
        self.browser.click("table a", "train/")
        self.browser.click("table a", "000.tar")
        self.browser.wait_for_text("154 members")
        self.assertGreater(self.drawn(".tiles canvas"), 100)
        self.browser.wait("document.querySelectorAll('.tiles canvas').length >= 8")
        self.picture("shard")
        self.browser.click(".pager a", "Next page")
        self.browser.wait_for_text("0030")
        self.browser.wait("document.querySelector('.tile .value').textContent === '0'")  # its class
        self.browser.click(".tile:nth-child(2) .thumb")
        self.browser.wait_for_text("PNG, 96 × 96")
        self.browser.evaluate("history.back()")
        self.browser.click(".tile:nth-child(2) .part", "cls\n1")
        self.browser.wait("document.querySelector('pre')?.textContent === '1\\n'")
        self.browser.click(".trail a", "000.tar")
        self.browser.wait_for_text("154 members")
        self.browser.click(".trail a", "Buckets")
        self.browser.click("table a", "empty")
        self.browser.wait_for_text("Nothing is here yet")
        self.picture("empty")
        self.assertEqual(self.browser.problems, [])
        self.check_nothing_ran()

    def test_what_the_command_line_prints_can_be_pasted(self):
        self.open()
        self.browser.wait_for_text("This server wants a key")
        self.browser.evaluate(f"""(() => {{
            const clipboardData = new DataTransfer();
            clipboardData.setData("text", {json.dumps(self.server.leat("keys", "env").decode())});
            document.getElementById("id").dispatchEvent(
              new ClipboardEvent("paste", {{clipboardData, bubbles: true, cancelable: true}}));
        }})()""")
        self.browser.press("Enter", 13)
        self.browser.wait("!document.getElementById('nav').hidden")

    def test_a_key_for_one_bucket(self):
        self.open()
        self.sign_in([word.decode() for word in self.server.limited_key])
        self.browser.wait_for_text("This key may not see the figures")
        self.picture("limited")
        self.browser.click("#nav a", "Buckets")
        self.browser.wait_for_text("empty")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('tbody tr').length"), 1)
        self.open("#/b/images/")
        self.browser.wait_for_text("This key may not do that")
        self.check_nothing_ran()

    def test_no_secret_where_others_could_change_the_page(self):
        self.browser.go(self.server.url.replace("127.0.0.1", "storage.example") + "/leat")
        self.browser.wait_for_text("Signing in needs a safe connection")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('input').length"), 0)
        self.picture("insecure")

    def test_a_download_needs_no_key(self):
        self.open("#/o/images/notes.txt")
        self.sign_in()
        self.browser.wait_for_text("Download")
        status = self.browser.evaluate(
            "import('/leat/page/api.js').then(({api}) => api.link('images', 'odd/%25253Cb%25253E'.replaceAll('%25', '%')))"
            ".then((link) => fetch(link)).then((answer) => answer.text())")
        self.assertEqual(status, "%3Cb%3E")


class WithFaults(PageTest):
    ARGUMENTS = ("--anonymous", "read")

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.ARGUMENTS, lose_a_drive=True)
        cls.addClassCleanup(cls.server.close)

    def test_a_drive_is_missing(self):
        self.open()
        self.browser.wait_for_text("is missing")
        self.browser.evaluate("window.scrollTo(0, 1e6)")
        self.picture("faults")
        self.open("#/b/images/many/00")
        self.browser.wait_for_text("Not everything can be listed")
        reachable = self.browser.evaluate("[...document.querySelectorAll('tbody bdi')].map((one) => one.innerText)")
        self.assertTrue(0 < len(reachable) < 100)
        self.picture("degraded")
        self.browser.click("tbody a", reachable[0])
        self.browser.wait("document.querySelector('pre') !== null")
        lost = next(name for i in range(100) if (name := f"{i:04}") not in reachable)
        self.open(f"#/o/images/many/{lost}")
        self.browser.wait_for_text("That did not work")
        self.check_nothing_ran()


class Anonymous(PageTest):
    ARGUMENTS = ("--anonymous", "read")

    def test_live_figures(self):
        self.open()
        self.browser.wait_for_text("Requests per second")
        self.browser.wait_for_text("Nothing is wrong.")
        self.browser.wait_for_text("free of")
        self.browser.evaluate("""(async () => {
            const get = async (name) =>
              (await fetch(`/images/${name}`, {cache: "no-store"})).arrayBuffer();
            for (let i = 0; i < 400; ++i) await get(`many/${String(i).padStart(4, "0")}`);
            for (let i = 0; i < 100; ++i) await get("train/000.tar");
        })()""")
        self.browser.wait("/GetObject[^]*\\b500\\b/.test(document.querySelector('table').innerText)")
        self.browser.wait("document.querySelector('.area').getAttribute('d').length > 20")
        self.browser.wait("(document.querySelector('.line-1').getAttribute('d') ?? '').length > 0")
        self.picture("live")
        self.browser.resize(420, 860)
        self.picture("narrow")
        self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), 420)
        self.assertEqual(self.browser.problems, [])
        self.check_nothing_ran()

    def test_hostile_names_are_text(self):
        self.open("#/b/images/odd/")
        self.browser.wait("document.querySelectorAll('tbody tr').length === 13")
        shown = self.browser.evaluate("[...document.querySelectorAll('tbody bdi')].map((one) => one.textContent)")
        for name in HOSTILE:
            visible = name.replace("\u202e", "%E2%80%AE").replace("\n", "%0A")
            self.assertIn(visible, shown)
        self.picture("hostile")
        for name in HOSTILE:
            visible = name.replace("\u202e", "%E2%80%AE").replace("\n", "%0A")
            self.browser.click("tbody a", visible)
            self.browser.wait(f"document.querySelector('pre')?.textContent === {json.dumps(name)}")
            self.browser.evaluate("history.back()")
            self.browser.wait("document.querySelectorAll('tbody tr').length === 13")
        self.browser.click("tbody a", "dots/")
        self.browser.click("tbody a", "../")
        self.browser.click("tbody a", "up")
        self.browser.wait_for_text("A browser cannot ask for a name")
        self.check_nothing_ran()
        self.assertEqual(self.browser.problems, [])

    def test_hostile_members_are_text_too(self):
        self.open("#/o/images/train/000.tar?after=0069.png")
        self.browser.wait("document.querySelectorAll('.tiles li').length >= 10")
        self.browser.evaluate("window.scrollTo(0, 1e6)")
        self.browser.wait("document.querySelectorAll('.tiles .snippet').length >= 9")
        self.picture("members")
        for name in HOSTILE:
            path = urllib.parse.quote(f"z{name}", safe="")
            self.open(f"#/o/images/train/000.tar/{path}")
            self.browser.wait(f"document.querySelector('pre')?.textContent === {json.dumps(name)}")
        self.assertEqual(self.browser.problems, [])
        self.check_nothing_ran()

    def test_only_raster_images_are_drawn(self):
        for name in ("page.html", "script.png"):
            self.open(f"#/o/images/{name}")
            self.browser.wait_for_text("window.hacked=1")  # as text
            self.assertEqual(self.browser.evaluate("document.querySelectorAll('main canvas, main img, iframe').length"), 0)
        self.open("#/o/images/train/000.tar/zz-bomb.png")
        self.browser.wait("document.querySelector('pre.hex') !== null")
        self.check_nothing_ran()
        self.assertEqual(self.browser.problems, [])

    def test_pages_and_prefixes(self):
        self.open("#/b/images/many/")
        first = "document.querySelector('tbody bdi')?.textContent"
        self.browser.wait(f"{first} === '0000'")
        for begin in ("0200", "0400"):
            self.browser.click(".pager a", "Next page")
            self.browser.wait(f"{first} === '{begin}'")
        self.browser.wait("document.querySelectorAll('tbody tr').length === 50")
        self.browser.click(".pager a", "First page")
        self.browser.wait(f"{first} === '0000'")
        self.browser.click("#begin")
        self.browser.type("012")
        self.browser.press("Enter", 13)
        self.browser.wait("document.querySelectorAll('tbody tr').length === 10")
        self.browser.click("#begin")
        self.browser.type("x")
        self.browser.press("Enter", 13)
        self.browser.wait_for_text("No name begins like this")
        self.assertEqual(self.browser.problems, [])

    def test_what_is_not_there(self):
        self.open("#/o/images/none")
        self.browser.wait_for_text("There is no such object")
        self.open("#/b/none/")
        self.browser.wait_for_text("There is no bucket none")
        self.picture("missing")
        self.open("#/nowhere")
        self.browser.wait_for_text("There is no such page")
        self.open("#/o/%zz/x")
        self.browser.wait_for_text("There is no such page")
        self.check_nothing_ran()

    def test_keyboard(self):
        self.open("#/buckets")
        self.browser.wait_for_text("images")
        self.browser.evaluate("document.querySelector('tbody a').focus()")
        self.browser.press("Tab", 9)
        self.assertEqual(self.browser.evaluate("document.activeElement.innerText"), "images")
        self.browser.press("Enter", 13)
        self.browser.wait_for_text("cat.png")
        self.assertEqual(self.browser.evaluate("document.activeElement.id"), "main")


if __name__ == "__main__":
    LEAT = os.path.abspath(sys.argv.pop(1))
    PICTURES = pathlib.Path(sys.argv.pop(1))
    PICTURES.mkdir(parents=True, exist_ok=True)
    unittest.main()
