"""Browser: a headless Chromium, steered over a pipe by the DevTools protocol.

Only what a test of a page needs: to go somewhere, to wait until the page shows something, to click
and type as a person does, to take a picture, and to know what went wrong meanwhile.
"""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE_S = 60
PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome")

# Runs before every page's own scripts; the page itself knows nothing of it.
WATCHER = """
  globalThis.violations = [];
  document.addEventListener("securitypolicyviolation", (event) =>
    globalThis.violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`));
"""


class Browser:
    def __init__(self, width=1280, height=860, hosts=None):
        """`hosts`: names, and the addresses that they have for this browser."""
        program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
        if program is None:
            raise FileNotFoundError("no Chromium: scripts/deps.sh browser installs one")
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        their_input, self._commands = os.pipe()
        self._messages, their_output = os.pipe()
        rules = ",".join(f"MAP {name} {address}" for name, address in (hosts or {}).items())
        # The protocol has descriptors 3 and 4 for itself.
        arguments = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={self._home.name}",
                     f"--host-resolver-rules={rules}"]
        self._process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{their_input} 4>&{their_output}', "sh", *arguments],
            pass_fds=(their_input, their_output), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dict(os.environ, HOME=self._home.name))
        os.close(their_input)
        os.close(their_output)
        self._pending = b""
        self._next_id = 0
        self._session = None
        self.problems = []  # exceptions and errors that the page logged
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")
        self._call("Page.addScriptToEvaluateOnNewDocument", source=WATCHER)
        self.resize(width, height)

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._commands)
        os.close(self._messages)
        self._home.cleanup()

    def _receive(self, deadline):
        while b"\0" not in self._pending:
            ready, _, _ = select.select([self._messages], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self._messages, 1 << 20)
            if not piece:
                raise ConnectionError("the browser ended")
            self._pending += piece
        message, _, self._pending = self._pending.partition(b"\0")
        return json.loads(message)

    def _call(self, method, **parameters):
        self._next_id += 1
        message = {"id": self._next_id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._commands, data):]
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self._next_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _note(self, event):
        if event.get("method") == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(event["params"]["exceptionDetails"]))
        if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
            self.problems.append(event["params"]["entry"]["text"])

    def resize(self, width, height):
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                   deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        """"light" or "dark"."""
        self._call("Emulation.setEmulatedMedia",
                   features=[{"name": "prefers-color-scheme", "value": scheme}])

    def go(self, url):
        self._call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def evaluate(self, expression):
        result = self._call("Runtime.evaluate", expression=expression, returnByValue=True,
                            awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression):
        """Until it is true, which it becomes."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            value = self.evaluate(expression)
            if value:
                return value
            if time.monotonic() > deadline:
                raise TimeoutError(f"{expression}; the page shows: {self.text()}")
            time.sleep(0.05)

    def text(self):
        return self.evaluate("document.body ? document.body.innerText : ''")

    def wait_for_text(self, text):
        self.wait(f"document.body.innerText.includes({json.dumps(text)})")

    def click(self, selector, text=None):
        """The first visible element that fits and, if given, shows exactly `text`."""
        place = self.wait(f"""(() => {{
            const wanted = {json.dumps(text)};
            const found = [...document.querySelectorAll({json.dumps(selector)})].find((element) =>
              element.checkVisibility() && (wanted === null || element.innerText.trim() === wanted));
            if (!found) return null;
            found.scrollIntoView({{block: "center"}});
            const box = found.getBoundingClientRect();
            const x = box.left + Math.min(box.width / 2, 40), y = box.top + box.height / 2;
            const hit = document.elementFromPoint(x, y);
            return found.contains(hit) || hit?.contains(found) ? [x, y] : null;
        }})()""")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left",
                       clickCount=1)

    def type(self, text):
        self._call("Input.insertText", text=text)

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            extra = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self._call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                       windowsVirtualKeyCode=code, **extra)

    def violations(self):
        return self.evaluate("globalThis.violations")

    def screenshot(self, path):
        data = self._call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
