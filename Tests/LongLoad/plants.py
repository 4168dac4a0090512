"""What the provider's books and ours are made to differ by, one by one, with a list of it: the page must show it."""

import dataclasses
import time
import uuid

from suite import eventually

UNREAD = """INSERT INTO jobs (id, kind, key, state, due_at, created_at, finished_at)
    VALUES (gen_random_uuid(), 'read_payment', %s, 'failed', now(), now(), now())
    ON CONFLICT (kind, key) DO UPDATE SET state = 'failed', finished_at = now()"""
INVENTED = """SELECT result FROM credit_inbound(ARRAY[%s], ARRAY[%s], ARRAY[%s::bigint], ARRAY[NULL::text],
    ARRAY[new_event_id(transfa_now())], ARRAY['planted'], ARRAY[NULL::uuid])"""
FAILED = """SELECT result FROM settle_payments(ARRAY[%s::uuid], ARRAY['failed'], ARRAY['provider_failed'],
    ARRAY['planted'], ARRAY[NULL::text], ARRAY[new_event_id(transfa_now())], ARRAY[NULL::uuid], 'provider')"""


@dataclasses.dataclass
class Plant:
    """What the page calls it, and what it does to the provider's accounts that our books do not have."""

    what: str
    kind: str
    key: str
    made_at: float
    # Kobo that the provider lists and that nothing of ours explains.
    listed: int
    # The provider's account -> kobo more than we account for.
    effects: dict
    # Why it is no difference any more.
    gone: str | None = None

    @property
    def name(self):
        return self.kind, self.key


class Plants:
    def __init__(self, suite, crowd, rudeness, chance, peace):
        self.suite, self.crowd, self.rudeness, self.chance, self.peace = suite, crowd, rudeness, chance, peace
        self.all = []
        self.deck = []
        # Called around a plant: the provider is as usual meanwhile.
        self.hold = self.go = lambda: None
        self.organisation = None
        self.accounts = {}

    MAKERS = ("stranger", "to_bank", "from_elsewhere", "altered", "unheard", "invented", "failed")

    @property
    def standing(self):
        return [plant for plant in self.all if plant.gone is None]

    def act(self, only=None):
        """Every kind comes once before any comes twice."""
        with self.peace:
            self.hold()
            try:
                self.rudeness.be_usual()
                if only is None:
                    self.deck = self.deck or self.chance.sample(self.MAKERS, len(self.MAKERS))
                    only = self.deck[-1]
                plant = getattr(self, only)()
                if self.deck and only == self.deck[-1]:
                    self.deck.pop()
            finally:
                self.go()
        self.all.append(plant)
        print(f"        plant: {plant.what}: {plant.kind} {plant.key}", flush=True)
        return plant

    # People and accounts

    def account(self, person):
        if not self.accounts:
            self.accounts = self.suite.accounts()
        return self.accounts[person["id"]]

    def two(self):
        payer, payee = self.chance.sample(self.crowd.people, 2)
        return self.account(payer), self.account(payee)

    # Kinds

    def ordered(self, what, kind, source, target, effects):
        amount = self.chance.randint(100, 999)
        reference = f"by-hand-{uuid.uuid4().hex}"
        id = self.suite.order_elsewhere(kind, source, target, amount, reference)
        effects = {account: sign * amount for account, sign in effects.items()}
        return Plant(what, "missing_with_us", id, time.time(), amount, effects)

    def stranger(self):
        payer, payee = self.two()
        return self.ordered("nobody ordered it", "BookTransfer", payer, payee, {payer: -1, payee: 1})

    def to_bank(self):
        person = self.chance.choice(self.crowd.people[:5])
        sql = "SELECT counterparty_id FROM beneficiaries WHERE id = %s"
        counterparty = self.suite.number("transaction", sql, person["bank"])
        source = self.account(person)
        return self.ordered("nobody ordered it, to a bank", "NIPTransfer", source, counterparty, {source: -1})

    def from_elsewhere(self):
        """From an account that is none of ours."""
        if self.organisation is None:
            made = self.suite.ask_provider("POST", "/sandbox/accounts", {"name": "SOMEBODY ELSE"})
            self.organisation = made["id"]
            order = {"amount": 1_000_000, "events": "none"}
            self.suite.ask_provider("POST", f"/sandbox/accounts/{self.organisation}/fund", order)
        _, payee = self.two()
        return self.ordered("from somebody else's account", "BookTransfer", self.organisation, payee, {payee: 1})

    def altered(self):
        with self.suite.desk:
            found = eventually("a completed transfer", self.rudeness.a_completed_transfer, 60, 1)
            order, theirs = found
            amount = order.amount + self.chance.randint(1, 99)
            path = f"/sandbox/transfers/trf-{order.id}/amount"
            self.suite.ask_provider("POST", path, {"amount": amount})
        more = amount - order.amount
        related = theirs["relationships"]
        effects = {related["account"]["data"]["id"]: -more}
        inside = related.get("destinationAccount", {}).get("data")
        if inside:
            effects[inside["id"]] = more
        return Plant("another amount", "other_amount", f"trf-{order.id}", time.time(), amount, effects)

    def unheard(self):
        """Money comes in, nobody tells of it, and account has given up reading it."""
        person, amount = self.chance.choice(self.crowd.people), self.chance.randint(100, 999)
        order = {"amount": amount, "events": "none", "settle_delay_ms": 3000}
        funded = self.suite.ask_provider("POST", f"/sandbox/accounts/{person['account']}/fund", order)
        self.suite.change("account", UNREAD, funded["id"])
        time.sleep(4)
        effects = {funded["account"]: amount}
        return Plant("nobody told of it", "missing_with_us", funded["id"], time.time(), amount, effects)

    def invented(self):
        """Money is credited that never came."""
        account, _ = self.two()
        amount = self.chance.randint(100, 999)
        id = f"99{self.chance.randrange(10**12):012d}-anc_inb_trsf"
        result = self.suite.number("transaction", INVENTED, id, account, amount)
        if result != "credited":
            raise RuntimeError(f"the invented payment is {result}")
        return Plant("it never came", "missing_there", id, time.time(), 0, {account: -amount})

    def failed(self):
        """We have given it up, and then it arrives."""
        person = self.crowd.endless
        amount = self.chance.randint(100, 500)
        body = {"beneficiary_id": person["bank"], "amount": amount}
        order = self.crowd.order("withdraw", person, "/transactions/self-transfer", body, amount)
        eventually("the withdrawal", lambda: order.is_answered or self.crowd.send(order), 120, 1)
        if not order.is_acknowledged:
            raise RuntimeError(f"the withdrawal is {order.status} {order.refusal}")
        self.rudeness.touched.add(order.id)
        path = f"/sandbox/references/trf-{order.id}"
        eventually("the provider to have it", lambda: self.suite.sandbox("GET", path).json()["accepted"], 60)
        sql = "SELECT state FROM transfers WHERE id = %s"
        eventually("it to be on its way", lambda: self.suite.number("transaction", sql, order.id) == "submitted", 60)
        result = self.suite.number("transaction", FAILED, order.id)
        if result != "failed":
            raise RuntimeError(f"the transfer is {result}")
        self.suite.ask_provider("POST", f"/sandbox/transfers/trf-{order.id}/outcome", {"outcome": "completed"})
        account = self.account(person)
        return Plant("given up, and arrived", "other_state", f"trf-{order.id}", time.time(), amount, {account: -amount})
