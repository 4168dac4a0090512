"""The running suite: where it answers, tokens and approvals of people, signed messages of the outside world."""

import base64
import hashlib
import hmac
import json
import os
import pathlib
import subprocess
import time
import uuid

import requests
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

SERVICES = ("auth", "customer", "account", "transaction", "subscription", "notification", "analytics", "console")
# A second console, which reads no event log: importing asks for that.
IMPORTER = "importer"
OPERATOR = "ada"
AUTHORIZED_PARTY = "https://app.sandbox.transfa.test"
# Longer than the longest run.
TOKEN_SECONDS = 4 * 3600


def described(run):
    """The suite of a folder as transfactl tells of it; TRANSFA_BINARIES is the folder with transfactl."""
    tool = pathlib.Path(os.environ["TRANSFA_BINARIES"]) / "transfactl"
    command = [tool, "dev", "env", "--folder", run, "--json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def eventually(what, ask, seconds=30, pause=0.1):
    """Asks until there is an answer that counts as true."""
    deadline = time.monotonic() + seconds
    while True:
        found = ask()
        if found:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {seconds} s still waiting for {what}")
        time.sleep(pause)


class Refused(Exception):
    """An answer that was not wanted."""


class Suite:
    def __init__(self, run):
        run = pathlib.Path(run)
        self.run = run
        self.description = described(run)
        parts = {part["name"]: part["settings"] for part in self.description["parts"]}
        self.tool, self.addresses = self.description["tool"], parts["auth"]
        self.webhook_token = parts["notification"]["ANCHOR_WEBHOOK_TOKEN"]
        self.data_keys_token = parts["auth"]["DATA_KEYS_TOKEN"]
        self.exports_token = parts["auth"]["EXPORTS_TOKEN"]
        self.clerk_secret = parts["auth"]["CLERK_WEBHOOK_SECRET"]
        self.postgres = self.description["servers"]["postgres"]
        self.session = requests.Session()
        self.session.mount("http://", requests.adapters.HTTPAdapter(pool_connections=20, pool_maxsize=20))
        self.tokens = {}

    @property
    def address(self):
        """The gateway, the one address that clients have."""
        return self.tool["GATEWAY_URL"]

    def url(self, service):
        """A service itself: what makes the world is no client."""
        return self.addresses[f"{service.upper()}_URL"]

    def internal_url(self, service):
        return self.tool[f"{service.upper()}_INTERNAL_URL"]

    @property
    def internal_token(self):
        return self.tool["INTERNAL_TOKEN"]

    # Calls

    def send(self, method, url, wanted=(200, 201, 202, 204), **options):
        """One request; an answer that is not wanted is an error, unless `wanted` is None."""
        answer = self.session.request(method, url, timeout=30, **options)
        if wanted is not None and answer.status_code not in wanted:
            raise Refused(f"{method} {url} was answered {answer.status_code} {answer.text[:400]}")
        return answer

    def sandbox(self, method, path, body=None):
        return self.send(method, self.url("sandbox") + path, json=body)

    def operate(self, method, service, path, body=None, wanted=(200, 201, 202, 204), **headers):
        headers = {"Authorization": f"Bearer {self.internal_token}", "Transfa-Operator": OPERATOR} | headers
        return self.send(method, self.internal_url(service) + path, wanted, json=body, headers=headers)

    def call(self, person, method, service, path, body=None, wanted=(200, 201, 202, 204), **headers):
        """In a person's name; whoever has a device approves, which paths that need no approval ignore."""
        # Who takes a device away has signed in a moment ago.
        is_fresh = method == "DELETE" and path.startswith("/devices/")
        token = (self.new_token if is_fresh else self.token)(person["subject"])
        own = {"Authorization": f"Bearer {token}", "Idempotency-Key": str(uuid.uuid4())}
        headers = own | headers
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers.setdefault("Content-Type", "application/json")
        if person.get("device"):
            headers.setdefault("Transfa-Approval", approval(person, method, path, data or b""))
        return self.send(method, self.url(service) + path, wanted, data=data, headers=headers)

    # Tokens

    def token(self, subject):
        if subject not in self.tokens:
            self.tokens[subject] = self.new_token(subject)
        return self.tokens[subject]

    def new_token(self, subject):
        order = {"subject": subject, "azp": AUTHORIZED_PARTY, "lifetime_seconds": TOKEN_SECONDS}
        return self.sandbox("POST", "/sandbox/clerk/tokens", order).json()["jwt"]


# Signatures


def new_key():
    """A device's private key, as a number that can be written down, and its public key as services take it."""
    key = ec.generate_private_key(ec.SECP256R1())
    numbers = key.public_key().public_numbers()
    point = b"\x04" + numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big")
    return key.private_numbers().private_value, base64url(point)


def approval(person, method, path, body):
    """The header by which a person's device approves a request."""
    key = ec.derive_private_key(person["key"], ec.SECP256R1())
    nonce, seconds = str(uuid.uuid4()), int(time.time())
    lines = ("TRANSFA-APPROVAL-1", method, path, hashlib.sha256(body).hexdigest(), nonce, str(seconds), person["id"])
    r, s = decode_dss_signature(key.sign("\n".join(lines).encode(), ec.ECDSA(hashes.SHA256())))
    signature = base64url(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
    return f"device id={person['device']}, nonce={nonce}, ts={seconds}, sig={signature}"


def anchor_signature(token, body):
    """As the provider signs its webhooks."""
    code = hmac.new(token.encode(), body, hashlib.sha1).hexdigest()
    return base64.b64encode(code.encode()).decode()


def svix_signature(secret, message, seconds, body):
    """As Clerk's webhooks are signed."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message}.{seconds}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
