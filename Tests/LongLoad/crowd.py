"""People, and what they order: each order is asked for under one key until it is answered."""

import concurrent.futures
import dataclasses
import json
import random
import threading
import time
import uuid

import requests

from repeated import Repeated
from suite import Refused, approval, eventually
from world import BANK, World, account_number, moment

FUNDS = 5_000_000
# Those who are paid at their bank, and those who are paid into their wallet.
WITH_BANK = 5
WITH_WALLET = 7
# Act -> how often.
ACTS = {
    "pay": 50, "withdraw": 10, "make_drop": 4, "claim": 9, "end_drop": 2, "request": 6, "pay_request": 6, "fund": 8,
}
DROPS = ("make_drop", "claim", "end_drop")
# Answers to an order as such; all else is no answer yet.
FINAL = (403, 404, 409, 410, 422)
# How an account at a bank ends to which transfers stay open for ever.
ENDLESS = "9992"


@dataclasses.dataclass
class Order:
    """Something that was asked for, and what is known of it."""

    act: str
    person: dict
    path: str
    body: bytes
    key: str
    amount: int
    asked_at: float
    # As it came last; None when there was no answer.
    status: int | None = None
    # The transfer or the thing, once an answer has named it.
    id: str | None = None
    refusal: str | None = None
    # What the answer said, for what follows.
    answer: dict = dataclasses.field(default_factory=dict)

    @property
    def is_acknowledged(self):
        return self.id is not None

    @property
    def is_answered(self):
        return self.is_acknowledged or self.refusal is not None

    @property
    def is_payment(self):
        return self.act in ("pay", "withdraw", "make_drop", "claim", "pay_request")


class Crowd:
    """Threads that act until told to rest, and a note of all that was asked for."""

    def __init__(self, suite, seed, rate, problems):
        self.suite, self.problems = suite, problems
        self.lock = threading.Lock()
        self.payments, self.drops, self.requests = [], [], []
        self.fundings = 0
        # What nobody does for now.
        self.without = ()
        self.world = World(suite)
        names = [f"bank{n}" for n in range(WITH_BANK)] + [f"wallet{n}" for n in range(WITH_WALLET)] + ["endless"]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.world.people = dict(zip(names, pool.map(self.world.join, names)))
            self.world.FUNDS = dict.fromkeys(names, FUNDS)
            list(pool.map(self.world.fund, names))
            list(pool.map(self.give_bank, names[:WITH_BANK] + ["endless"]))
        # Whoever has a bank that never answers only serves plants.
        self.endless = self.world.people["endless"]
        self.people = [self.world.people[name] for name in names[:-1]]
        for person in self.people[:WITH_BANK]:
            self.await_bank(person)
        workers = max(2, round(rate * 3))
        pace = workers / rate
        self.threads = [
            Worker(self, f"worker {n}", (pace * 0.6, pace * 1.4), random.Random(f"{seed} {n}"), problems)
            for n in range(workers)
        ]
        for thread in self.threads:
            thread.start()

    def give_bank(self, name):
        """Whose default it is: payments go there, on a plan that takes no slots."""
        person = self.world.people[name]
        if name != "endless":
            self.world.give_plan(name)
        number = account_number()
        if name == "endless":
            number = number[:-4] + ENDLESS
        order = {"account_number": number, "bank_code": BANK}
        person["bank"] = self.world.order(name, "/beneficiaries", order, "customer").json()["id"]

    def await_bank(self, person):
        sql = """SELECT count(*) FROM beneficiaries
            WHERE id = %s AND is_default AND verified AND counterparty_id IS NOT NULL"""
        eventually("the bank account", lambda: self.suite.number("transaction", sql, person["bank"]), 60)
        sql = "SELECT count(*) FROM users WHERE id = %s AND active_until > now()"
        eventually("the plan", lambda: self.suite.number("transaction", sql, person["id"]), 60)

    def wallet(self, person):
        return self.suite.call(person, "GET", "transaction", "/wallet").json()

    # Life

    def go(self):
        for thread in self.threads:
            thread.go()

    def rest(self):
        """Returns when nobody asks for anything any more."""
        for thread in self.threads:
            thread.held.set()
        for thread in self.threads:
            thread.hold()

    def act(self, chance):
        acts = [act for act in ACTS if act not in self.without]
        name = chance.choices(acts, [ACTS[act] for act in acts])[0]
        getattr(self, name)(chance)

    def pay(self, chance):
        payer, payee = chance.sample(self.people, 2)
        amount = chance.randint(100, 900)
        body = {"recipient_username": payee["username"], "amount": amount, "description": "Lunch"}
        self.order("pay", payer, "/transactions/p2p", body, amount)

    def withdraw(self, chance):
        person = chance.choice(self.people[:WITH_BANK])
        amount = chance.randint(100, 900)
        body = {"beneficiary_id": person["bank"], "amount": amount}
        self.order("withdraw", person, "/transactions/self-transfer", body, amount)

    def make_drop(self, chance):
        person = chance.choice(self.people)
        each, slots = chance.randint(10, 100), chance.randint(1, 4)
        body = {"amount_per_claim": each, "slots": slots, "expires_at": moment(7), "title": "For everybody"}
        order = self.order("make_drop", person, "/money-drops", body, each * slots)
        if order.is_acknowledged:
            drop = {"id": order.answer["money_drop_id"], "creator": person, "each": each, "left": slots}
            with self.lock:
                self.drops.append(drop)

    def claim(self, chance):
        with self.lock:
            open_ones = [drop for drop in self.drops if drop["left"] > 0]
            if not open_ones:
                return
            drop = chance.choice(open_ones)
            drop["left"] -= 1
        person = chance.choice([each for each in self.people if each is not drop["creator"]])
        self.order("claim", person, f"/money-drops/{drop['id']}/claim", {}, drop["each"])

    def end_drop(self, chance):
        with self.lock:
            if not self.drops:
                return
            drop = self.drops.pop(chance.randrange(len(self.drops)))
        self.order("end_drop", drop["creator"], f"/money-drops/{drop['id']}/end", None, 0)

    def request(self, chance):
        owner, payer = chance.sample(self.people, 2)
        amount = chance.randint(100, 900)
        # The same person may not be asked too often.
        named = {"payer_username": payer["username"]} if chance.random() < 0.3 else {}
        order = self.order("request", owner, "/payment-requests", {"amount": amount} | named, amount)
        if order.is_acknowledged:
            with self.lock:
                self.requests.append({"id": order.id, "owner": owner, "payer": payer, "amount": amount})

    def pay_request(self, chance):
        with self.lock:
            if not self.requests:
                return
            asked = self.requests.pop(chance.randrange(len(self.requests)))
        self.order("pay_request", asked["payer"], f"/payment-requests/{asked['id']}/pay", {}, asked["amount"])

    def fund(self, chance):
        person = chance.choice(self.people)
        way = chance.choice(("nip", "nip", "payment", "both", "repeated"))
        order = {"amount": chance.randint(500, 5000), "events": way}
        self.suite.ask_provider("POST", f"/sandbox/accounts/{person['account']}/fund", order)
        with self.lock:
            self.fundings += 1

    # Orders

    def order(self, act, person, path, body, amount):
        data = b"" if body is None else json.dumps(body).encode()
        order = Order(act, person, path, data, f"load-{uuid.uuid4()}", amount, time.time())
        with self.lock:
            self.payments.append(order)
        deadline = time.monotonic() + 60
        while not self.send(order) and time.monotonic() < deadline and not self.threads[0].held.is_set():
            time.sleep(0.7)
        return order

    def send(self, order):
        """Once; whether there was an answer to the order itself."""
        person = order.person
        try:
            headers = {
                "Authorization": f"Bearer {self.suite.token(person['subject'])}",
                "Idempotency-Key": order.key,
                "Content-Type": "application/json",
                "Transfa-Approval": approval(person, "POST", order.path, order.body),
            }
            url = self.suite.url("transaction") + order.path
            answer = self.suite.send("POST", url, None, data=order.body, headers=headers)
        except (requests.RequestException, Refused):
            return False
        order.status = answer.status_code
        if answer.ok:
            order.answer = answer.json() if answer.content else {}
            order.id = order.answer.get("transaction_id") or order.answer.get("id") or "done"
            return True
        if answer.status_code in FINAL and "Retry-After" not in answer.headers:
            code = answer.json()["errors"][0]["code"]
            if "idempotency" not in code:
                order.refusal = code
                return True
        return False

    def ask_again(self):
        """Under the same keys, what was not answered; how many there were."""
        open_ones = [order for order in self.payments if not order.is_answered]
        for order in open_ones:
            try:
                eventually(f"an answer to {order.act}", lambda order=order: self.send(order), 120, 0.5)
            except TimeoutError as error:
                # A check of its own counts who has no answer.
                self.problems.note("asked again", error)
        return len(open_ones)


class Worker(Repeated):
    """One of those who act for everybody."""

    def __init__(self, crowd, name, seconds, chance, problems):
        super().__init__(name, lambda: crowd.act(chance), seconds, chance, problems)
