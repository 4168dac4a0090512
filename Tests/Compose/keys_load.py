#!/usr/bin/env python3
"""keys_load.py <settings> <people> <report> <secrets> [<requests per second>]: as load.py, with everything in it that
a key or a token stands behind: fresh session tokens, approvals by PIN, sealed texts, cursors, webhooks of the provider
and of the issuer, an operator's session. <secrets> says what the world outside signs with; it is read all the time."""

import collections
import hashlib
import json
import pathlib
import sys
import threading
import time
import uuid

from composed import AUTHORIZED_PARTY, PIN
from load import PAYMENT, Ask, Load, carry_out
from suite import anchor_signature, svix_signature

# As long as those of the issuer; and how often there is a new one.
SESSION_SECONDS = 60
SESSION_PAUSE = 15
# Of a thousand requests. A PIN takes a processor its while.
APPROVALS, PAGES, ANCHOR, CLERK, OPERATOR = 12, 40, 20, 20, 20
LIST = "/transactions?limit=1"
SESSION = "/console/api/session"


class KeysLoad(Load):
    def __init__(self, environment, people, secrets, rate):
        super().__init__(environment, people, rate)
        self.file = pathlib.Path(secrets)
        self.secrets = json.loads(self.file.read_text())
        self.sessions = {}
        self.operator = {}
        self.approved = collections.deque()
        self.cursors = {}
        self.kinds = collections.Counter()
        self.renew()
        self.sign_in()

    def run(self):
        thread = threading.Thread(target=self.keep_fresh)
        thread.start()
        super().run()
        thread.join()

    # What is renewed beside the requests

    def keep_fresh(self):
        renewed = time.monotonic()
        while not self.ending.wait(1):
            began = time.monotonic()
            try:
                secrets = json.loads(self.file.read_text())
                changed, self.secrets = secrets != self.secrets, secrets
                if changed or time.monotonic() - renewed > SESSION_PAUSE:
                    self.renew()
                    renewed = time.monotonic()
                if changed:
                    self.sign_in()
            except Exception as error:  # noqa: BLE001 whatever it is, it counts as a request that failed
                self.note("-", "renewal", began, f"{type(error).__name__}: {error}")

    def renew(self):
        for person in self.people:
            order = {"subject": person["subject"], "azp": AUTHORIZED_PARTY, "lifetime_seconds": SESSION_SECONDS}
            token = self.suite.sandbox("POST", "/sandbox/clerk/tokens", order).json()["jwt"]
            self.sessions[person["subject"]] = token

    def sign_in(self):
        url = f"https://localhost:{self.suite.port('gateway')}{SESSION}"
        body = {"token": self.secrets["operator"]}
        answer = self.suite.send("POST", url, json=body, verify=self.suite.certificate)
        self.operator = {"Cookie": f"transfa_console={answer.cookies['transfa_console']}"}
        self.suite.session.cookies.clear()

    # Requests

    def headers(self, person):
        return {"Authorization": f"Bearer {self.sessions[person['subject']]}"}

    def request(self, chance):
        if self.approved:
            try:
                return self.payment(*self.approved.popleft())
            except IndexError:
                pass
        number = chance.randrange(1000)
        for share, make in (
            (APPROVALS, self.approval), (PAGES, self.page), (ANCHOR, self.anchor), (CLERK, self.clerk),
            (OPERATOR, self.operate),
        ):
            if number < share:
                with self.lock:
                    self.kinds[make.__name__] += 1
                return make(chance)
            number -= share
        return super().request(chance)

    def approval(self, chance):
        """The payment comes with the next request; its text is sealed with the payer's key."""
        payer, payee = chance.sample(self.people, 2)
        order = {"recipient_username": payee["username"], "amount": chance.randint(1, 50), "description": "For lunch"}
        data = json.dumps(order).encode()
        body = {"pin": PIN, "method": "POST", "path": PAYMENT, "body_sha256": hashlib.sha256(data).hexdigest()}

        def then(answer):
            self.approved.append((payer, data, f"pin {json.loads(answer)['approval_token']}"))

        headers = self.headers(payer) | {"Content-Type": "application/json"}
        return Ask("POST", "/approvals", 201, headers, json.dumps(body).encode(), then)

    def page(self, chance):
        """The second page of a list, with the cursor that somebody has made a moment ago."""
        person = chance.choice(self.people)
        cursor = self.cursors.pop(person["id"], None)

        def then(answer):
            found = json.loads(answer).get("next_cursor")
            if found:
                self.cursors[person["id"]] = found

        path = f"{LIST}&cursor={cursor}" if cursor else LIST
        return Ask("GET", path, headers=self.headers(person), then=None if cursor else then)

    def anchor(self, chance):
        body = json.dumps(
            {
                "id": f"{uuid.uuid4().int % 10**17}-anc_evnt", "type": "sandbox.nothing",
                "attributes": {"createdAt": "2026-01-01T00:00:00.000"},
            }
        ).encode()
        signature = anchor_signature(self.secrets["anchor"], body)
        headers = {"Content-Type": "application/json", "x-anchor-signature": signature}
        return Ask("POST", "/webhooks/anchor", 200, headers, body)

    def clerk(self, chance):
        body = json.dumps({"type": "user.updated", "object": "event", "data": {"id": "user_of_nobody"}}).encode()
        message, seconds = f"msg_{uuid.uuid4().hex}", int(time.time())
        headers = {
            "Content-Type": "application/json", "svix-id": message, "svix-timestamp": str(seconds),
            "svix-signature": svix_signature(self.secrets["clerk"], message, seconds, body),
        }
        return Ask("POST", "/webhooks/clerk", 200, headers, body)

    def operate(self, chance):
        return Ask("GET", SESSION, headers=self.operator)

    def report(self):
        return super().report() | {"kinds": self.kinds}


def main():
    environment, people, report, secrets = sys.argv[1:5]
    with open(people) as file:
        load = KeysLoad(environment, json.load(file), secrets, float(sys.argv[5]) if len(sys.argv) > 5 else 120)
    carry_out(load, report)


if __name__ == "__main__":
    main()
