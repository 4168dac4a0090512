#!/usr/bin/env python3
"""Makes deploy/console.png, the picture in README.md: the console's overview above the trace of a payment, as they are.

usage: .test/venv/bin/python3 scripts/lib/console_picture.py [folder of a running suite]    (.run, as scripts/run leaves it)

Two invented people pay meanwhile, so that there is something to see; it takes a minute and a half.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "Tests/Python"))

from browser import Browser

PICTURE = ROOT / "deploy/console.png"
WIDTH = 1440
HEIGHT = 900
# Below a table; between both pictures.
EDGE, MARGIN = 12, 24
# As long as the charts show, in seconds, and how often somebody pays meanwhile.
BUSY, PAUSE = 60, 1
MOST_BYTES = 300_000
# What the trace of a payment has when all of it was written down.
STEPS = ("POST /transactions/p2p", "create_transfer", "POST /webhooks/anchor", "apply_transfer_fact")
HANDLERS = ("notification", "customer", "analytics")
PATIENCE = 15


class Town:
    """The running suite, and the people who pay in it."""

    def __init__(self, run):
        self.run = run
        suite = json.loads((run / "suite.json").read_text())
        auth = next(part for part in suite["parts"] if part["name"] == "auth")
        self.tool = pathlib.Path(auth["program"]).parent / "transfactl"
        self.settings = suite["tool"]

    @property
    def address(self):
        return self.settings["GATEWAY_URL"]

    @property
    def token(self):
        return (self.run / "secrets/operator-ada").read_text().strip()

    def act(self, *words):
        command = [self.tool, *words, "--people", self.run / "people.json"]
        environment = {"PATH": os.environ["PATH"], **self.settings}
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
        if done.returncode:
            sys.exit(f"transfactl {' '.join(words)}: {(done.stdout + done.stderr)[-400:]}")
        return done.stdout

    def gather(self):
        for name in ("ada", "bola"):
            self.act("sandbox", "person", name)
        self.act("sandbox", "fund", "ada", "500000")

    def pay(self, kobo):
        """Where the trace of a payment is."""
        return re.search(r"its trace: (\S+)", self.act("pay", "ada", "bola", str(kobo)))[1]

    def be_busy(self):
        until = time.monotonic() + BUSY
        while time.monotonic() < until:
            self.pay(1000)
            time.sleep(PAUSE)


def take(browser, path, table):
    """A picture of the page down to the end of one of its tables."""
    bottom = browser.evaluate(f"[...document.querySelectorAll('main table')].at({table}).getBoundingClientRect().bottom")
    browser.size(WIDTH, int(bottom) + EDGE)
    browser.picture(path, whole=False)
    browser.size(WIDTH, HEIGHT)


def is_whole(text):
    handled = [re.search(rf"transaction\.completed\s+{name}", text) for name in HANDLERS]
    return all(handled) and all(step in text for step in STEPS)


def follow(browser, address):
    """Shows a trace, and again until all is in it: requests are written down a moment after their answers."""
    browser.open(address)
    until = time.monotonic() + PATIENCE
    while True:
        browser.until("the trace", "!document.querySelector('[aria-busy]')")
        if is_whole(browser.text()):
            return
        if time.monotonic() > until:
            sys.exit(f"the trace has not all steps: {browser.text()}")
        time.sleep(0.3)
        browser.evaluate("window.dispatchEvent(new HashChangeEvent('hashchange'))")


def look(town, folder):
    """Pictures of both views."""
    overview, trace = folder / "overview.png", folder / "trace.png"
    with Browser() as browser:
        browser.scheme("light")
        browser.size(WIDTH, HEIGHT)
        browser.open(town.address + "/console")
        browser.fill("input[name=token]", town.token)
        browser.click("button.main", "Sign in")
        browser.says("Services")
        town.be_busy()
        take(browser, overview, 0)
        follow(browser, town.pay(120_000))
        take(browser, trace, -1)
    return overview, trace


def main():
    run = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".run")
    if not (run / "suite.json").exists():
        sys.exit(f"no suite was prepared in {run}: scripts/run starts one")
    town = Town(run)
    town.gather()
    with tempfile.TemporaryDirectory() as folder:
        parts = [Image.open(path).convert("RGB") for path in look(town, pathlib.Path(folder))]
    whole = Image.new("RGB", (WIDTH, sum(part.height for part in parts) + MARGIN), "white")
    top = 0
    for part in parts:
        whole.paste(part, (0, top))
        top += part.height + MARGIN
    whole.quantize(128, dither=Image.Dither.NONE).save(PICTURE, optimize=True)
    size = PICTURE.stat().st_size
    print(f"{PICTURE.relative_to(ROOT)}: {whole.width} x {whole.height}, {size // 1000} kB")
    return 0 if size < MOST_BYTES else f"more than {MOST_BYTES // 1000} kB"


if __name__ == "__main__":
    sys.exit(main())
