"""What must hold in the end, when everybody rests and the books have been looked at."""

import collections
import time

from checks import Checks, shown
from suite import eventually

# Seconds: until an account is asked for payments that nobody told of, and until a suspicion is a break.
SWEEP, CONFIRM = 700, 1000


class Outcome(Checks):
    way = 10

    def __init__(self, suite, crowd, plants, restoring, results):
        super().__init__(suite, crowd, results, patience=300)
        self.plants, self.restoring = plants, restoring
        self.looked = {}

    # Coming to rest

    def wait_for(self, what, is_done, seconds=300):
        """What does not come, the checks say."""
        try:
            eventually(what, is_done, seconds, 1)
        except TimeoutError as error:
            print(f"        {error}", flush=True)

    def look(self, what):
        """Every account is looked at, and what a look has asked about is answered."""
        for _ in range(2):
            self.suite.look_at_all()
            self.wait_for("the looks", lambda: self.suite.page()["waiting"] == 0)
            self.wait_for("what they asked about", lambda: not self.at_work())
        self.settle()
        page = self.suite.page()
        states = collections.Counter(each["state"] for each in page["breaks"])
        print(f"        {what}: {dict(states)}", flush=True)
        return page

    def at_work(self):
        sql = """SELECT count(*) FROM jobs
            WHERE kind IN ('check_transfer', 'submit_transfer', 'credit_wallet', 'book_bills')
                AND (state = 'running' OR state = 'queued' AND due_at < transfa_now() + interval '60 seconds')"""
        return self.suite.number("transaction", sql)

    def rest(self):
        self.settle()
        self.look("the first look")
        # The clocks are moved on: accounts are asked for payments that nobody told of, and suspicions are confirmed.
        self.suite.set_clocks(SWEEP)
        sweeps = """SELECT count(*) FROM accounts WHERE status = 'open'
            AND coalesce(swept_at, opened_at) < transfa_now() - %s * interval '1 second'"""
        self.wait_for("the sweeps", lambda: not self.suite.number("account", sweeps, SWEEP - 100))
        reads = """SELECT count(*) FROM jobs WHERE kind IN ('read_payment', 'sweep_payments')
            AND (state = 'running' OR state = 'queued' AND due_at < transfa_now())"""
        self.wait_for("what they found", lambda: not self.suite.number("account", reads))
        self.settle()
        self.look("the second look")
        self.suite.set_clocks(SWEEP + CONFIRM)
        time.sleep(2)
        self.page = self.look("the third look")
        self.gather()

    def gather(self):
        """What the provider has, read once."""
        self.taken = collections.defaultdict(list)
        for entry in self.suite.log("transfer_accepted"):
            self.taken[entry["reference"]].append(entry)
        self.ended = {entry["reference"]: entry["status"].lower() for entry in self.suite.log("transfer_settled")}
        self.arrived = {entry["id"]: entry for entry in self.suite.log("inbound_settled")}
        self.bills = self.suite.pages("/sandbox/bills", "bills")
        self.theirs = self.suite.balances()
        self.ours = self.suite.accounts()

    # Checks

    def titles(self):
        own = {
            "the page shows exactly what was planted": self.page_differs,
            "and so does the page of console": self.page_of_console_differs,
            "each of it is open, and of nothing else a break was ever open": self.opened_otherwise,
            "the listed kobo that nothing explains are those of the plants": self.explained_otherwise,
            "every acknowledged order is there, once, under its key": self.lost_or_doubled,
            "what was refused is not there": self.there_though_refused,
            "every transfer has ended": self.still_open,
            "the provider took every transfer once": self.taken_twice,
            "every transfer ended as it did at the provider, with its amount": self.ended_otherwise,
            "every payment that arrived is booked once": self.arrived_otherwise,
            "every bill is booked once": self.billed_otherwise,
            "wallets, suspense, bills and plants make what the provider holds, person by person": self.wrong_people,
            "and of the account of drops": self.wrong_pool,
            "no job failed but the planted ones": self.failed_otherwise,
            "the ledger's own breaks are the planted ones": self.broken_otherwise,
        }
        shared = super().titles()
        return own | {title: shared[title] for title in (
            "the ledger's invariants hold", "nothing waits to be published", "every event was heard by all who listen",
            "no event is parked or dead", "the archive has every event, without a gap in any sequence",
        )}

    def all(self, what):
        for title, find in self.titles().items():
            self.looked[title] = 0
            self.title = title
            problem = find()
            count = f" ({self.looked[title]} looked at)" if self.looked[title] else ""
            self.results.check(f"{what}: {title}{count}", not problem, shown(problem))

    def count(self, things):
        self.looked[self.title] += len(things)
        return things

    # The page

    def page_differs(self):
        found = collections.Counter((each["kind"], each["key"]) for each in self.page["breaks"])
        planted = collections.Counter(plant.name for plant in self.count(self.plants.standing))
        more, less = found - planted, planted - found
        for each in self.page["breaks"]:
            if (each["kind"], each["key"]) in more:
                print(f"        not planted: {each}", flush=True)
        for plant in self.plants.standing:
            if plant.name in less:
                print(f"        not shown: {plant}", flush=True)
        return [("not planted", *name) for name in more] + [("not shown", *name) for name in less]

    def page_of_console_differs(self):
        shown = self.suite.page_of_console()["breaks"]
        return [] if shown == self.page["breaks"] else [f"{len(shown)} instead of {len(self.page['breaks'])}", *shown]

    def opened_otherwise(self):
        wrong = [each for each in self.page["breaks"] if each["state"] != "open"]
        planted = {plant.name for plant in self.plants.all}
        sql = "SELECT kind, key, ours, theirs, opened_at::text FROM reconciliation_breaks WHERE opened_at IS NOT NULL"
        return wrong + [row for row in self.count(self.suite.rows("transaction", sql)) if row[:2] not in planted]

    def explained_otherwise(self):
        explained = self.page["explained"]
        found = explained["listed"] - explained["matched"]
        wanted = sum(plant.listed for plant in self.plants.standing)
        return [] if found == wanted else [f"{found} instead of {wanted} of {explained}"]

    # Orders

    def by_key(self):
        sql = "SELECT idempotency_key, id::text, amount FROM transfers WHERE idempotency_key IS NOT NULL"
        found = collections.defaultdict(list)
        for key, id, amount in self.suite.rows("transaction", sql):
            found[key].append((id, amount))
        return found

    def lost_or_doubled(self):
        found, forgotten = self.by_key(), self.restoring.forgotten_orders
        # Claims have keys that others keep: of these the slots are counted, and here what they brought.
        sql = "SELECT id::text, amount FROM transfers WHERE type = 'drop_claim'"
        claims = set(self.suite.rows("transaction", sql))
        requests = {row[0] for row in self.suite.rows("transaction", "SELECT id::text FROM payment_requests")}
        wrong = [f"{key} is there {len(rows)} times" for key, rows in found.items() if len(rows) > 1]
        for order in self.count([order for order in self.load.payments if order.is_acknowledged]):
            if order.act == "request":
                if (order.id in requests) == (order.key in forgotten):
                    wrong.append(f"{order.act} {order.id}")
                continue
            if not order.is_payment:
                continue
            wanted = [] if order.key in forgotten else [(order.id, order.amount)]
            is_there = found.get(order.key, []) == wanted
            if order.act == "claim":
                is_there = {(order.id, order.amount)} & claims == set(wanted)
            if not is_there:
                wrong.append(f"{order.act} {order.key} is {found.get(order.key)} and not {wanted}")
            booked = f"trf-{order.id}" in self.restoring.lost and order.key in forgotten
            if order.key in forgotten and (f"trf-{order.id}" in self.taken) != booked:
                wrong.append(f"{order.act} {order.key}, which was forgotten, is at the provider and not booked")
        asked = {order.key for order in self.load.payments}
        return wrong + [f"{key} was never asked for" for key in found if key.startswith("load-") and key not in asked]

    def there_though_refused(self):
        found = self.by_key()
        refused = self.count([order for order in self.load.payments if order.refusal and not order.is_acknowledged])
        return [f"{order.act} {order.key} {order.refusal}" for order in refused if order.key in found]

    def still_open(self):
        unanswered = [f"{order.act} {order.key} has no answer" for order in self.load.payments if not order.is_answered]
        sql = "SELECT id::text, type, state FROM transfers WHERE state NOT IN ('completed', 'failed', 'reversed')"
        return unanswered + self.suite.rows("transaction", sql)

    # The provider

    def taken_twice(self):
        return [reference for reference, entries in self.count(self.taken).items() if len(entries) != 1]

    def ended_otherwise(self):
        sql = "SELECT reference, state, amount FROM transfers WHERE submitted_at IS NOT NULL"
        ours = {row[0]: row[1:] for row in self.suite.rows("transaction", sql)}
        planted = {plant.key for plant in self.plants.all}
        theirs = {
            reference: (self.ended.get(reference, "open"), entries[0]["amount"])
            for reference, entries in self.taken.items()
        }
        wrong = []
        for reference, (state, amount) in self.count(theirs).items():
            if {reference, self.taken[reference][0]["id"]} & planted:
                continue
            if ours.get(reference) != (state, amount):
                wrong.append(f"{reference} is {ours.get(reference)} with us and {(state, amount)} there")
        # What is not there has failed, or left for nobody.
        wrong += [
            f"{reference} is {row} with us and not there" for reference, row in ours.items()
            if reference not in theirs and row[0] != "failed"
        ]
        return wrong

    def arrived_otherwise(self):
        sql = "SELECT provider_payment_id, provider_account, amount FROM inbound_payments"
        ours = collections.Counter((id.split("-")[0], *rest) for id, *rest in self.suite.rows("transaction", sql))
        theirs = collections.Counter(
            (id.split("-")[0], entry["destination"], entry["amount"]) for id, entry in self.arrived.items()
            if entry["destination"] in self.ours.values()
        )
        self.count(theirs)
        planted = {plant.key.split("-")[0] for plant in self.plants.standing}
        return [each for each in ((ours - theirs) + (theirs - ours)) if each[0] not in planted]

    def billed_otherwise(self):
        accounts = {*self.ours.values(), self.suite.pool()}
        theirs = {each["id"]: each["amount"] for each in self.bills if each["account"] in accounts}
        ours = dict(self.suite.rows("transaction", "SELECT provider_row_id, amount FROM provider_bills"))
        self.count(theirs)
        return [(id, ours.get(id), theirs.get(id)) for id in {*ours, *theirs} if ours.get(id) != theirs.get(id)]

    # Money

    def in_suspense(self):
        sql = """SELECT destination, sum(amount)::bigint FROM transfers
            WHERE route_reason = 'suspense' AND state = 'completed' GROUP BY 1"""
        return dict(self.suite.rows("transaction", sql))

    def effects(self):
        total = collections.Counter()
        for plant in self.plants.standing:
            for account, amount in plant.effects.items():
                total[account] += amount
        return total

    def billed(self):
        total = collections.Counter()
        for bill in self.bills:
            total[bill["account"]] += bill["amount"]
        return total

    def wrong_people(self):
        suspense, effects, billed = self.in_suspense(), self.effects(), self.billed()
        wrong = []
        for person in self.count([*self.load.people, self.load.endless]):
            account = self.ours[person["id"]]
            wallet = self.load.wallet(person)
            expected = (
                wallet["posted"] - wallet["owed"] + suspense.get(account, 0) - billed[account] + effects[account]
            )
            if self.theirs[account] != expected or wallet["held"]:
                wrong.append(
                    f"{person['username']} ({account}): {self.theirs[account]} there, {expected} expected of {wallet}, "
                    f"{suspense.get(account, 0)} in suspense, {billed[account]} billed, {effects[account]} planted"
                )
        return wrong

    def wrong_pool(self):
        pool = self.suite.pool()
        sql = """SELECT coalesce(sum(b.posted - b.owed), 0)::bigint FROM ledger_accounts a
            JOIN balances b ON b.account_id = a.id WHERE a.kind = 'drop_pool'"""
        expected = self.suite.number("transaction", sql) + self.in_suspense().get(pool, 0)
        return [] if self.theirs[pool] == expected else [f"{self.theirs[pool]} there, {expected} expected"]

    # Operators

    def failed_otherwise(self):
        planted = {plant.key for plant in self.plants.all}
        return [job for job in self.count(self.suite.failed_jobs()) if job[2] not in planted]

    def broken_otherwise(self):
        sql = "SELECT 'trf-' || transfer_id, kind, state, evidence FROM breaks WHERE closed_at IS NULL"
        found = self.count(self.suite.rows("transaction", sql))
        wanted = {plant.key for plant in self.plants.standing if plant.kind == "other_state"}
        return [row for row in found if row[0] not in wanted] + sorted(wanted - {row[0] for row in found})
