"""People that transfactl invents, and what their phones keep."""

import base64
import json
import os
import subprocess

from suite import approval


class People:
    def __init__(self, suite, file):
        self.suite, self.file = suite, file

    def invent(self, name):
        """Somebody with a wallet, a PIN and a phone."""
        self._sandbox("person", name)

    def fund(self, name, kobo):
        """Money from outside; it is in the wallet afterwards."""
        self._sandbox("fund", name, str(kobo))

    def _sandbox(self, *words):
        command = [f"{os.environ['TRANSFA_BINARIES']}/transfactl", "sandbox", *words, "--people", self.file]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120,
            env={"PATH": os.environ["PATH"], **self.suite.tool},
        )
        if done.returncode:
            raise RuntimeError(f"transfactl sandbox {' '.join(words)}: {(done.stdout + done.stderr)[-400:]}")

    def token(self, name):
        return self.suite.new_token(self._kept(name)["subject"])

    def approval(self, name, method, path, body):
        """The header by which the phone approves this very request."""
        return approval(self._kept(name), method, path, body)

    def _kept(self, name):
        kept = json.loads(self.file.read_text())[name]
        return {
            "subject": kept["subject"], "id": kept["user"].lower(), "device": kept["device"].lower(),
            "key": int.from_bytes(base64.urlsafe_b64decode(kept["key"] + "=="), "big"),
        }
