"""What the provider does to everybody and the suite has to follow by itself: none of it may stay on the page."""

import time

USUAL = {
    "transferOutcome": "completed", "transferDelayMs": 100, "webhooksEnabled": True, "webhookCopies": 1,
    "webhookDelayMs": 0, "webhookLoseEvery": 0, "webhookLoseTypes": [], "webhookReorderMs": 0, "webhookGzip": False,
    "insufficientFunds": "refuse",
}
# What it does all the time: it bills, and tells again until somebody listens.
ALWAYS = {
    "transferFee": 25, "stampDuty": 50, "stampDutyAbove": 600, "billsTo": "customer", "webhookAttempts": 5000,
    "webhookRetryMs": 1000,
}
REVERSED = ["nip.transfer.reversed", "book.transfer.reversed"]
TRANSFERS = "/api/v1/transfers"
# Of a drop whose money is taken back nobody knows who has it: the ledger leaves that to people.
REVERSIBLE = ("pay", "withdraw", "pay_request")


class Rudeness:
    def __init__(self, suite, crowd, chance):
        self.suite, self.crowd, self.chance = suite, crowd, chance
        self.reversals, self.spells, self.faults = 0, 0, 0
        # Transfers that somebody has done something to: nobody else does.
        self.touched = set()

    @property
    def count(self):
        return self.reversals + self.spells + self.faults

    def switch(self, **switches):
        self.suite.ask_provider("PATCH", "/sandbox/switches", switches)

    def be_usual(self):
        with self.suite.desk:
            self.suite.sandbox("DELETE", "/sandbox/faults")
        self.switch(**USUAL)

    def act(self):
        self.chance.choice((self.reverse, self.reverse, self.spell, self.spell, self.fault))()

    def a_completed_transfer(self):
        """One that arrived, and that nobody has touched."""
        orders = [
            order for order in list(self.crowd.payments)
            if order.act in REVERSIBLE and order.is_acknowledged and order.id not in self.touched
        ]
        for order in self.chance.sample(orders, min(10, len(orders))):
            found = self.suite.sandbox("GET", f"/sandbox/references/trf-{order.id}").json()["transfers"]
            if len(found) == 1 and found[0]["attributes"]["status"] == "COMPLETED":
                self.touched.add(order.id)
                return order, found[0]
        return None

    def reverse(self):
        """Sometimes nobody is told."""
        with self.suite.desk:
            found = self.a_completed_transfer()
            if not found:
                return
            is_told = self.chance.random() < 0.6
            if not is_told:
                self.switch(webhookLoseTypes=REVERSED)
            self.suite.ask_provider(
                "POST", f"/sandbox/transfers/trf-{found[0].id}/outcome", {"outcome": "reversed"}
            )
            self.reversals += 1
            if not is_told:
                self.switch(webhookLoseTypes=[])

    def spell(self):
        """For a while."""
        chance = self.chance
        name, value = chance.choice((
            ("transferOutcome", "failed"), ("transferDelayMs", chance.randint(1000, 8000)), ("webhooksEnabled", False),
            ("webhookCopies", chance.randint(2, 3)), ("webhookDelayMs", chance.randint(500, 5000)),
            ("webhookLoseEvery", chance.randint(2, 4)), ("webhookReorderMs", chance.randint(500, 3000)),
            ("webhookGzip", True),
        ))
        seconds = chance.uniform(2, 4) if name == "transferOutcome" else chance.uniform(5, 20)
        self.switch(**{name: value})
        self.spells += 1
        try:
            time.sleep(seconds)
        finally:
            self.switch(**{name: USUAL[name]})

    def fault(self):
        """The next orders go wrong."""
        chance = self.chance
        fault = chance.choice((
            "status=503", "status-after=500", "drop-before", "drop-after", f"delay={chance.randint(1000, 12000)}",
            f"late-commit={chance.randint(500, 4000)}", "status=429",
        ))
        order = {"fault": fault, "method": "POST", "path": TRANSFERS, "count": chance.randint(1, 3)}
        self.suite.ask_provider("POST", "/sandbox/faults", order)
        self.faults += 1
