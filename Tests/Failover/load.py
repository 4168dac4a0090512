"""People who pay, and what else keeps each queue busy, while something happens to what the suite stands on."""

import dataclasses
import itertools
import json
import threading
import time
import uuid

import requests

from suite import approval, eventually, new_key

FUNDS = 2_000_000
# Seconds between two of a kind: each queue hears about one event per second at least, so that its pauses can be seen.
PACE = {"payment": 1.0, "funding": 1.0, "restriction": 1.0, "device": 2.0}
PAYERS = 6
PIN = "482193"
PATH = "/transactions/p2p"
SMALL_FUNDING = 5


@dataclasses.dataclass
class Payment:
    """A payment that was asked for, and what is known of it."""

    payer: int
    key: str
    body: bytes
    amount: int
    asked_at: float
    # As it came first, and when; None when there was no answer.
    status: int | None = None
    answered_at: float | None = None
    # The transfer, once a 202 has named it.
    transfer: str | None = None

    @property
    def is_acknowledged(self):
        return self.transfer is not None


class Load:
    """Threads that go on until told to rest, and a note of all that was asked for."""

    def __init__(self, suite, world):
        self.suite = suite
        with_names = [f"payer{number}" for number in range(PAYERS)]
        names = [*with_names, "payee", "saver", "marked", "owner"]
        people = dict(zip(names, map(world.join, names)))
        self.payers = [people[name] for name in with_names]
        self.payee, self.saver, self.marked, self.owner = (people[name] for name in names[PAYERS:])
        for payer in self.payers:
            suite.sandbox("POST", f"/sandbox/accounts/{payer['account']}/fund", {"amount": FUNDS})
        for payer in self.payers:
            eventually("the money", lambda payer=payer: self.wallet(payer)["posted"] == FUNDS, 60)
        self.lock = threading.Lock()
        self.payments = []
        self.fundings = 0
        self.words = itertools.cycle(("post_no_debit", "none"))
        self.problems = {}
        self.rests = threading.Event()
        self.rests.set()
        self.is_over = False
        self.resting = 0
        jobs = [lambda n=n: self.pay(n) for n in range(PAYERS)] + [self.fund, self.mark, self.enrol]
        paces = [PACE["payment"]] * PAYERS + [PACE["funding"], PACE["restriction"], PACE["device"]]
        self.threads = [threading.Thread(target=self.repeat, args=each, daemon=True) for each in zip(jobs, paces)]
        for thread in self.threads:
            thread.start()

    def wallet(self, person):
        return self.suite.call(person, "GET", "transaction", "/wallet").json()

    # Life

    def repeat(self, job, pace):
        while not self.is_over:
            if self.rests.is_set():
                with self.lock:
                    self.resting += 1
                while self.rests.is_set() and not self.is_over:
                    time.sleep(0.05)
                with self.lock:
                    self.resting -= 1
                continue
            began = time.monotonic()
            try:
                job()
            except Exception as error:  # noqa: BLE001
                # Nobody's money: what is not a payment is simply asked for again at the next turn.
                with self.lock:
                    name = f"{type(error).__name__}: {str(error)[:120]}"
                    self.problems[name] = self.problems.get(name, 0) + 1
            time.sleep(max(0.0, pace - (time.monotonic() - began)))

    def go(self):
        self.rests.clear()

    def rest(self):
        """Returns when nobody asks for anything any more."""
        self.rests.set()
        eventually("the load to rest", lambda: self.resting == len(self.threads), 90)

    def end(self):
        self.is_over = True
        for thread in self.threads:
            thread.join(60)

    # Payments

    def pay(self, number):
        with self.lock:
            amount = 100 + len(self.payments) % 900
        order = {"recipient_username": self.payee["username"], "amount": amount, "description": "Lunch"}
        payment = Payment(number, f"failover-{uuid.uuid4()}", json.dumps(order).encode(), amount, time.time())
        with self.lock:
            self.payments.append(payment)
        self.send(payment)

    def send(self, payment):
        """Once; what is not answered stays unknown."""
        payer = self.payers[payment.payer]
        headers = {
            "Authorization": f"Bearer {self.suite.token(payer['subject'])}",
            "Idempotency-Key": payment.key,
            "Content-Type": "application/json",
            "Transfa-Approval": approval(payer, "POST", PATH, payment.body),
        }
        try:
            answer = self.suite.send(
                "POST", self.suite.url("transaction") + PATH, None, data=payment.body, headers=headers
            )
        except requests.RequestException:
            return
        if payment.status is None:
            payment.status, payment.answered_at = answer.status_code, time.time()
        if answer.status_code == 202:
            payment.transfer = answer.json()["transaction_id"]

    def ask_again(self):
        """Under the same keys, what was not acknowledged; how many there were."""
        open_ones = [payment for payment in self.payments if not payment.is_acknowledged]
        for payment in open_ones:
            def is_answered(payment=payment):
                self.send(payment)
                return payment.is_acknowledged

            eventually("an answer under the same key", is_answered, 60, 0.5)
        return len(open_ones)

    # What else keeps queues busy

    def fund(self):
        """For account: the provider tells notification, which tells account, which tells transaction."""
        self.suite.sandbox("POST", f"/sandbox/accounts/{self.saver['account']}/fund", {"amount": SMALL_FUNDING})
        with self.lock:
            self.fundings += 1

    def mark(self):
        """For auth, transaction and notification: somebody is restricted and is not any more."""
        word = next(self.words)
        path = f"/internal/users/{self.marked['id']}/restriction"
        self.suite.operate("PUT", "customer", path, {"restriction": word, "reason": "failover_tests"})

    def enrol(self):
        """For subscription: a device comes and goes."""
        phone = {"name": "Another phone", "public_key": new_key()[1], "pin": PIN}
        device = self.suite.call(self.owner, "POST", "auth", "/devices", phone).json()["id"]
        self.suite.call(self.owner, "DELETE", "auth", f"/devices/{device}")
