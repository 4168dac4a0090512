"""A headless Chromium, driven by the DevTools protocol over pipes: no port, nobody else can talk to it."""

import base64
import fcntl
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time

BINARIES = ("chromium-headless-shell", "chromium")
# All waiting together scales with the slowness of the machine.
PATIENCE = 15 * float(os.environ.get("TRANSFA_TEST_SLOWNESS", "1"))
# What the page is not to blame for: refusals that a test asks for.
EXPECTED = ("Failed to load resource",)
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}


class Failure(Exception):
    """Something on the page is not as it should be."""


class Browser:
    """`with Browser() as browser:`; one page, in a profile of its own that is gone afterwards."""

    def __init__(self):
        binary = next(filter(None, map(shutil.which, BINARIES)), None)
        if binary is None:
            raise Failure("there is no Chromium: scripts/bootstrap installs it")
        self.folder = tempfile.mkdtemp(prefix="transfa-browser-")
        (ours_in, low_out), (low_in, ours_out) = os.pipe(), os.pipe()
        # Out of the way of the numbers that the browser asks for.
        theirs_in, theirs_out = (fcntl.fcntl(pipe, fcntl.F_DUPFD, 10) for pipe in (low_in, low_out))
        os.close(low_in)
        os.close(low_out)
        options = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
            "--force-color-profile=srgb", "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "about:blank",
        ]
        # It reads from 3 and writes to 4; only a shell can number them without touching ours.
        script = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out} {theirs_in}<&- {theirs_out}>&-'
        self.process = subprocess.Popen(
            ["bash", "-c", script, "browser", binary, *options],
            pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.out = os.fdopen(ours_out, "wb", buffering=0)
        self.arrived = queue.Queue()
        self.problems = []
        self.number = 0
        self.session = None
        threading.Thread(target=self._read, args=(os.fdopen(ours_in, "rb", buffering=0),), daemon=True).start()

    def __enter__(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.size(1280, 800)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    # The protocol

    def _read(self, stream):
        rest = b""
        while chunk := stream.read(65536):
            *messages, rest = (rest + chunk).split(b"\0")
            for message in messages:
                self.arrived.put(json.loads(message))
        self.arrived.put(None)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.out.write(json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 2 * PATIENCE
        while True:
            try:
                answer = self.arrived.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                raise Failure(f"the browser does not answer {method}") from None
            if answer is None:
                raise Failure("the browser has ended")
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def _note(self, event):
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            detail = parameters["exceptionDetails"]
            self.problems.append(detail.get("exception", {}).get("description") or detail["text"])
        if event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            text = parameters["entry"]["text"]
            if not text.startswith(EXPECTED):
                self.problems.append(text)

    # The page

    def evaluate(self, script):
        """The value of an expression; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            detail = answer["exceptionDetails"]
            raise Failure(f"{script[:200]}: {detail.get('exception', {}).get('description', detail['text'])}")
        return answer["result"].get("value")

    def until(self, what, script, patience=1):
        """Waits until an expression is true, and gives it."""
        deadline = time.monotonic() + patience * PATIENCE
        while True:
            found = self.evaluate(
                f"(() => {{ try {{ const found = {script}; return found instanceof Node ? true : found }} catch {{ return null }} }})()"
            )
            if found:
                return found
            if time.monotonic() > deadline:
                shown = self.evaluate("document.body?.innerText ?? ''")
                raise Failure(f"still waiting for {what}; the page says:\n{shown[:1500]}\n{self.problems}")
            time.sleep(0.05)

    def open(self, url):
        """Shows another document, or another place of the same one."""
        # The answer may come while the old document is still the one that is asked.
        self.evaluate("window.isLeft = true")
        answer = self.call("Page.navigate", url=url)
        is_shown = "!window.isLeft && " if answer.get("loaderId") else ""
        self.until("the page to load", f"{is_shown}document.readyState === 'complete' && location.href !== 'about:blank'")

    def text(self, selector="main"):
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def says(self, text, selector="main", patience=1):
        """Waits until a part of the page says something."""
        query = json.dumps(selector)
        self.until(
            f"{selector} to say {text!r}",
            f"[...document.querySelectorAll({query})].some((element) => element.innerText.includes({json.dumps(text)}))",
            patience,
        )

    def click(self, selector, text=None, within=None):
        """Clicks the first element that fits, once there is one and it can be clicked."""
        root = f"document.querySelector({json.dumps(within)})" if within else "document"
        find = f"[...{root}.querySelectorAll({json.dumps(selector)})]"
        wanted = json.dumps(text)
        match = f"{find}.find((one) => !one.disabled && ({wanted} === null || one.innerText.trim().startsWith({wanted})))"
        self.until(f"{selector} {text or ''} to be there", f"!!{match}")
        self.evaluate(f"{match}.click()")

    def fill(self, selector, text):
        """Puts a text into a field as if it was typed."""
        self.until(f"{selector} to be there", f"!!document.querySelector({json.dumps(selector)})")
        self.evaluate(f"(() => {{ const field = document.querySelector({json.dumps(selector)}); field.focus(); field.select?.(); }})()")
        self.call("Input.insertText", text=text)

    def choose(self, selector, value):
        self.evaluate(f"document.querySelector({json.dumps(selector)}).value = {json.dumps(value)}")

    def press(self, key):
        common = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        text = {"Enter": "\r", " ": " "}.get(key)
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    # How it looks

    def size(self, width, height, is_phone=False):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_phone
        )

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def picture(self, path, whole=True):
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))
