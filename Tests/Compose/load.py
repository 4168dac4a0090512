#!/usr/bin/env python3
"""load.py <settings> <people> <report> [<requests per second>]: payments and reads through the gateway from people who
never try again, until it is told to end (SIGTERM). Then it writes what came back: anything but the answer that was
wanted is a failure."""

import http.client
import json
import random
import signal
import ssl
import sys
import threading
import time
import typing
import uuid

from composed import Composed, approval

# Every service answers reads; one request in five is a payment.
READS = (
    "/wallet", "/transactions", "/limits", "/accounts/me", "/devices", "/users/me/settings", "/beneficiaries",
    "/notifications/unread", "/subscriptions/status", "/analytics/summary",
)
PAYMENT = "/transactions/p2p"
SHARE_OF_PAYMENTS = 0.2
# A gateway's console page needs a session; that it answers who has none is what can be asked for.
CONSOLE = ("/console", 200)
THREADS = 24
PATIENCE = 20


class Ask(typing.NamedTuple):
    """A request, the status that is wanted, and what is done with the answer."""

    method: str
    path: str
    wanted: int = 200
    headers: dict = {}
    data: bytes | None = None
    then: typing.Callable | None = None


class Load:
    def __init__(self, environment, people, rate):
        self.suite = Composed(environment)
        self.people = people
        self.rate = rate
        self.ending = threading.Event()
        self.lock = threading.Lock()
        self.begin = time.monotonic()
        self.ticket = 0
        self.sent = self.payments = 0
        self.slowest = 0.0
        self.failures = []
        self.accepted = []
        self.context = ssl.create_default_context(cafile=self.suite.certificate)
        for person in people:
            self.suite.token(person)

    def next_time(self):
        """Requests are due at even distances, whatever became of the ones before."""
        with self.lock:
            self.ticket += 1
            return self.begin + self.ticket / self.rate

    def run(self):
        threads = [threading.Thread(target=self.work, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def work(self, number):
        connection = None
        chance = random.Random(number)
        while True:
            due = self.next_time()
            if self.ending.wait(max(0, due - time.monotonic())):
                return
            connection = connection or http.client.HTTPSConnection(
                "localhost", self.suite.port("gateway"), timeout=PATIENCE, context=self.context
            )
            if not self.ask(connection, chance):
                connection.close()
                connection = None

    def ask(self, connection, chance):
        """One request; whether the connection can be used again."""
        method, path, wanted, headers, data, then = self.request(chance)
        asked = time.monotonic()
        try:
            connection.request(method, path, body=data, headers=headers)
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.note(method, path, asked, f"{type(error).__name__}: {error}")
            return False
        problem = None if answer.status == wanted else f"{answer.status} {body[:200].decode(errors='replace')}"
        self.note(method, path, asked, problem, body)
        if then and problem is None:
            then(body)
        return not answer.will_close

    def request(self, chance):
        if chance.random() < SHARE_OF_PAYMENTS:
            payer, payee = chance.sample(self.people, 2)
            data = json.dumps({"recipient_username": payee["username"], "amount": chance.randint(1, 50)}).encode()
            return self.payment(payer, data, approval(payer, "POST", PAYMENT, data))
        path = chance.choice(READS + (CONSOLE[0],))
        if path == CONSOLE[0]:
            return Ask("GET", path, CONSOLE[1])
        return Ask("GET", path, headers=self.headers(chance.choice(self.people)))

    def payment(self, payer, data, approval):
        headers = self.headers(payer) | {
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid.uuid4()),
            "Transfa-Approval": approval,
        }
        return Ask("POST", PAYMENT, 202, headers, data)

    def headers(self, person):
        return {"Authorization": f"Bearer {self.suite.token(person)}"}

    def note(self, method, path, asked, problem, body=b""):
        took = time.monotonic() - asked
        with self.lock:
            self.sent += 1
            self.slowest = max(self.slowest, took)
            if path == PAYMENT:
                self.payments += 1
            if problem is not None:
                self.failures.append(f"{time.strftime('%H:%M:%S')} {method} {path} after {took:.2f} s: {problem}")
            elif path == PAYMENT:
                self.accepted.append(json.loads(body)["transaction_id"])

    def report(self):
        seconds = time.monotonic() - self.begin
        return {
            "seconds": round(seconds, 1), "requests": self.sent, "per_second": round(self.sent / seconds, 1),
            "payments": self.payments, "slowest_seconds": round(self.slowest, 2), "failures": self.failures,
            "accepted": self.accepted,
        }


def carry_out(load, report):
    """Until a signal comes; then the report is written."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: load.ending.set())
    load.run()
    with open(report, "w") as file:
        json.dump(load.report(), file, indent=1)


def main():
    environment, people, report = sys.argv[1:4]
    with open(people) as file:
        load = Load(environment, json.load(file), float(sys.argv[4]) if len(sys.argv) > 4 else 120)
    carry_out(load, report)


if __name__ == "__main__":
    main()
