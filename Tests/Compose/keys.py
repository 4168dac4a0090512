#!/usr/bin/env python3
"""keys.py <step> <settings> <folder>: replaces keys and tokens as deploy/runbooks/KeyRotation.md says; services are
rolled between the steps. <folder> keeps the values, and what the world outside signs with.

make          new values beside the old ones
both, new, only   the settings with the old values first, with the new ones first, with the new ones alone
outside       the provider takes both keys; its webhooks, the issuer and its webhooks are signed with the new ones
settled       waits until nothing is left that only the old values open
retired       the provider takes the new key alone, the issuer publishes its new key alone
gone          whether everything takes the new values and nothing the old ones; the last line counts"""

import base64
import hashlib
import json
import pathlib
import secrets
import string
import sys
import time
import uuid

import requests

from composed import SERVICES, Composed
from suite import anchor_signature, eventually, svix_signature

SETTINGS = (
    "MASTER_KEYS", "APPROVAL_SIGNING_KEY", "ANCHOR_API_KEY", "ANCHOR_WEBHOOK_TOKEN", "CLERK_WEBHOOK_SECRET",
    "INTERNAL_TOKEN", "METRICS_TOKEN", "DATA_KEYS_TOKEN", "EXPORTS_TOKEN", "OPERATOR_TOKENS",
)
OPERATOR = "ada"
# The longest that a cursor of the load is in use, with some room.
CURSORS = 20
# How long nobody may call with the old key until it counts as unused.
QUIET = 10


def hashed(token):
    return hashlib.sha256(token.encode()).hexdigest()


def key():
    return base64.b64encode(secrets.token_bytes(32)).decode()


def webhook_token():
    """Ten characters, as many as the provider takes."""
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(10))


class Keys:
    def __init__(self, environment, folder):
        self.suite = Composed(environment)
        self.file = pathlib.Path(folder) / "keys.json"
        self.outside_file = pathlib.Path(folder) / "outside.json"
        self.values = json.loads(self.file.read_text()) if self.file.exists() else {}

    @property
    def old(self):
        return self.values["old"]

    @property
    def new(self):
        return self.values["new"]

    # Values

    def make(self):
        settings = self.suite.settings
        folder = pathlib.Path(settings["COMPOSE_SECRETS"])
        old = {name: settings[name] for name in SETTINGS}
        old_operator, new_operator = (folder / f"operator-{OPERATOR}").read_text().strip(), secrets.token_hex(24)
        others = [entry for entry in old["OPERATOR_TOKENS"].split(",") if not entry.startswith(f"{OPERATOR}:")]
        old["OPERATOR_TOKENS"] = f"{OPERATOR}:{hashed(old_operator)}"
        new = {
            "MASTER_KEYS": f"key{secrets.token_hex(4)}:{key()}", "APPROVAL_SIGNING_KEY": key(),
            "ANCHOR_API_KEY": secrets.token_hex(24), "ANCHOR_WEBHOOK_TOKEN": webhook_token(),
            "CLERK_WEBHOOK_SECRET": f"whsec_{key()}", "INTERNAL_TOKEN": secrets.token_hex(24),
            "METRICS_TOKEN": secrets.token_hex(24), "DATA_KEYS_TOKEN": secrets.token_hex(24),
            "EXPORTS_TOKEN": secrets.token_hex(24),
            "OPERATOR_TOKENS": f"{OPERATOR}:{hashed(new_operator)}",
        }
        person = {"subject": "user_compose_of_the_old_key"}
        self.values = {
            "old": old, "new": new, "others": others, "operators": [old_operator, new_operator],
            "session": self.suite.token(person), "kids": self.approval_kids(),
        }
        self.file.write_text(json.dumps(self.values))
        self.tell(old, old_operator)

    def print_settings(self, *sets):
        for name in SETTINGS:
            parts = [values[name] for values in sets] + (self.values["others"] if name == "OPERATOR_TOKENS" else [])
            print(f"{name}={','.join(parts)}")

    def tell(self, values, operator):
        """What signs, to who plays the world outside; written at once, for it is read all the time."""
        anchor, clerk = values["ANCHOR_WEBHOOK_TOKEN"], values["CLERK_WEBHOOK_SECRET"]
        words = {"anchor": anchor, "clerk": clerk, "operator": operator}
        fresh = self.outside_file.with_suffix(".fresh")
        fresh.write_text(json.dumps(words))
        fresh.replace(self.outside_file)

    # Steps

    def both(self):
        # The provider has made a second key for us, and takes both.
        self.provider_takes(self.old, self.new)
        self.print_settings(self.old, self.new)

    def only(self):
        self.print_settings(self.new)

    def outside(self):
        self.suite.sandbox("PUT", "/sandbox/webhook", {"token": self.new["ANCHOR_WEBHOOK_TOKEN"]})
        self.suite.sandbox("POST", "/sandbox/clerk/rotate", {})
        self.tell(self.new, self.values["operators"][0])

    def settled(self):
        eventually("data keys under the new master key alone", self.is_wrapped_anew, 120, 1)
        eventually("calls of the provider with the new key alone", self.old_key_is_unused, 120, 0)
        self.tell(self.new, self.values["operators"][1])
        time.sleep(CURSORS)

    def retired(self):
        self.provider_takes(self.new)
        self.suite.sandbox("POST", "/sandbox/clerk/retire", {})

    def provider_takes(self, *sets):
        keys = [values["ANCHOR_API_KEY"] for values in sets]
        return self.suite.sandbox("PUT", "/sandbox/anchor/keys", {"keys": keys}).json()

    def is_wrapped_anew(self):
        use = self.suite.operate("auth", "/internal/master-keys")
        first, *former = use["data"]
        return first["id"] == self.new["MASTER_KEYS"].split(":")[0] and not any(one["data_keys"] for one in former)

    def old_key_is_unused(self):
        self.provider_takes(self.old, self.new)
        time.sleep(QUIET)
        old, new = self.suite.sandbox("GET", "/sandbox/anchor/keys").json()["keys"]
        return old["calls"] == 0 and new["calls"] > 0

    def approval_kids(self):
        return [one["kid"] for one in self.suite.operate("auth", "/internal/jwks")["keys"]]

    # Checks

    def gone(self, report, needed_rate):
        checks = self.load_checks(json.loads(pathlib.Path(report).read_text()), float(needed_rate))
        checks += [self.check_internal(), self.check_master_keys(), self.check_approvals(), self.check_provider()]
        checks += [self.check_webhooks(), self.check_sessions(), self.check_operator()]
        for title, holds in checks:
            print("ok     " if holds else "FAILED ", title)
        good = sum(1 for _, holds in checks if holds)
        print(f"{good} passed, {len(checks) - good} failed")
        return good == len(checks)

    def load_checks(self, report, needed_rate):
        failures = report["failures"]
        print(
            f"{report['requests']} requests in {report['seconds']} s, {report['per_second']} a second,"
            f" {report['payments']} of them payments; the slowest took {report['slowest_seconds']} s;"
            f" {len(failures)} failed; among them {report['kinds']}"
        )
        print("\n".join(failures[:20]))
        kinds = ("approval", "page", "anchor", "clerk", "operate")
        return [
            ("no request failed", not failures),
            (f"at least {needed_rate:g} requests a second", report["per_second"] >= needed_rate),
            ("everything was asked for that a key stands behind", all(report["kinds"].get(kind) for kind in kinds)),
        ]

    def inside(self, values, setting, path, services):
        """The statuses with which internal ports answer to a token."""
        headers = {"Authorization": f"Bearer {values[setting]}"}
        urls = [f"http://127.0.0.1:{self.suite.port(name + '_internal')}{path}" for name in services]
        return {requests.get(url, headers=headers, timeout=10).status_code for url in urls}

    def check_internal(self):
        asked = [
            ("INTERNAL_TOKEN", "/internal/ops/routes", SERVICES, 200), ("METRICS_TOKEN", "/metrics", SERVICES, 200),
            ("DATA_KEYS_TOKEN", f"/internal/keys/{uuid.uuid4()}", ["auth"], 404),
            ("EXPORTS_TOKEN", f"/internal/users/{uuid.uuid4()}/export", SERVICES, 200),
        ]
        holds = all(
            (self.inside(self.old, *words), self.inside(self.new, *words)) == ({401}, {wanted})
            for *words, wanted in asked
        )
        return "internal ports take the new tokens alone", holds

    def check_master_keys(self):
        use = self.suite.operate("auth", "/internal/master-keys")
        new, *others = use["data"]
        is_new = new["id"] == self.new["MASTER_KEYS"].split(":")[0] and new["data_keys"] > 0
        return "all data keys are under the new master key", is_new and not others and use["unknown"] == 0

    def check_approvals(self):
        kids = self.approval_kids()
        return "approvals are signed by the new key alone", len(kids) == 1 and kids[0] not in self.values["kids"]

    def check_provider(self):
        use = self.suite.sandbox("GET", "/sandbox/anchor/keys").json()
        holds = len(use["keys"]) == 1 and use["keys"][0]["calls"] > 0 and use["refused"] == 0
        return "the provider takes the new key alone, and was never called with another", holds

    def post(self, path, body, headers=None):
        url = f"https://localhost:{self.suite.port('gateway')}{path}"
        headers = {"Content-Type": "application/json"} | (headers or {})
        return requests.post(url, body, headers=headers, verify=self.suite.certificate, timeout=30).status_code

    def check_webhooks(self):
        def statuses(values):
            event = {"id": f"{secrets.randbelow(10**17)}-anc_evnt", "type": "sandbox.nothing", "attributes": {}}
            body = json.dumps(event).encode()
            yield self.post(
                "/webhooks/anchor", body, {"x-anchor-signature": anchor_signature(values["ANCHOR_WEBHOOK_TOKEN"], body)}
            )
            body = json.dumps({"type": "user.updated", "object": "event", "data": {"id": "user_of_nobody"}}).encode()
            message, seconds = f"msg_{uuid.uuid4().hex}", int(time.time())
            signature = svix_signature(values["CLERK_WEBHOOK_SECRET"], message, seconds, body)
            headers = {"svix-id": message, "svix-timestamp": str(seconds), "svix-signature": signature}
            yield self.post("/webhooks/clerk", body, headers)

        old, new = set(statuses(self.old)), set(statuses(self.new))
        return "webhooks are taken with the new signatures alone", old == {401} and new == {200}

    def check_sessions(self):
        def status(token):
            url = f"https://localhost:{self.suite.port('gateway')}/limits"
            headers = {"Authorization": f"Bearer {token}"}
            return requests.get(url, headers=headers, verify=self.suite.certificate, timeout=30).status_code

        new = self.suite.token({"subject": "user_compose_of_the_new_key"})
        return "session tokens of the issuer's old key are refused, and no others", (
            status(self.values["session"]) == 401 and status(new) != 401
        )

    def check_operator(self):
        tokens = (json.dumps({"token": token}).encode() for token in self.values["operators"])
        old, new = (self.post("/console/api/session", token) for token in tokens)
        return "the operator signs in with the new token alone", (old, new) == (401, 200)


def main():
    step, environment, folder, *rest = sys.argv[1:]
    keys = Keys(environment, folder)
    if step == "new":
        keys.print_settings(keys.new, keys.old)
    elif getattr(keys, step)(*rest) is False:
        sys.exit(1)


if __name__ == "__main__":
    main()
