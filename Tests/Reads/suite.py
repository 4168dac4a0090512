"""A running suite as the heaviest user's phone sees it."""
import http.client
import json
import os
import pathlib
import re
import subprocess
import time
import urllib.parse
import uuid

SUBJECT = "user_seed_1"
USERS = uuid.UUID("6f1c0e52-9a3b-4d7e-8c15-2b64d0f7a938")
AUTHORIZED_PARTY = "https://app.sandbox.transfa.test"


def described(run):
    """The suite of a folder as transfactl tells of it; TRANSFA_BINARIES is the folder with transfactl."""
    tool = pathlib.Path(os.environ["TRANSFA_BINARIES"]) / "transfactl"
    command = [tool, "dev", "env", "--folder", run, "--json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


class Suite:
    """One keep-alive connection per service."""

    def __init__(self, run):
        self.run = run
        description = described(run)
        # Services call each other directly, and so do measurements.
        self.urls = next(part["settings"] for part in description["parts"] if part["name"] == "auth")
        self.servers = description["servers"]
        self.connections = {}
        self.user = uuid.uuid5(USERS, SUBJECT)
        order = {"subject": SUBJECT, "azp": AUTHORIZED_PARTY, "lifetime_seconds": 4 * 3600}
        self.token = self.call("POST", "sandbox", "/sandbox/clerk/tokens", json.dumps(order)).json()["jwt"]

    def connection(self, service):
        url = urllib.parse.urlsplit(self.urls[f"{service.upper()}_URL"])
        return http.client.HTTPConnection(url.hostname, url.port, timeout=60)

    def call(self, method, service, path, body=None, content_type="application/json", **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            headers |= {"content-type": content_type, "idempotency-key": str(uuid.uuid4())}
        if service != "sandbox":
            headers["authorization"] = f"Bearer {self.token}"
        for attempt in range(2):
            connection = self.connections.setdefault(service, self.connection(service))
            try:
                connection.request(method, path, body, headers)
                answer = connection.getresponse()
                return Answer(answer.status, answer.headers, answer.read())
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                # A connection that has been idle may be gone; a new one is not.
                del self.connections[service]
                if attempt:
                    raise

    def get(self, service, path):
        return self.call("GET", service, path)

    def stream(self, last_event, newest):
        """Opens the live stream, and reads until the newest event, or a newer one, was sent."""
        connection = self.connection("notification")
        headers = {"authorization": f"Bearer {self.token}"} | ({} if last_event is None else {"last-event-id": str(last_event)})
        connection.request("GET", "/stream", headers=headers)
        answer, text, deadline = connection.getresponse(), b"", time.monotonic() + 60
        while answer.status == 200 and max(map(int, re.findall(rb"^id: (\d+)\n", text, re.M)), default=-1) < newest:
            data = answer.read1(65536)
            if not data or time.monotonic() > deadline:
                raise LookupError(f"the stream after {last_event} did not come to {newest}: {text[-300:]!r}")
            text += data
        connection.close()
        return Answer(answer.status, answer.headers, text)
