"""Everything is destroyed in the middle of it all, and restored to a moment before: what is forgotten, what is left."""

import datetime
import time

from crowd import DROPS
from recovering import BY, PATIENCE, Recovering
from suite import eventually

# What of the provider's a recovery books was made at most so long before the moment to which it goes back, in seconds.
MARGIN = 600


class Restoring(Recovering):
    """The operators' steps of the backup tests, in the middle of the load."""

    def __init__(self, suite, results, crowd, plants):
        self.suite, self.results, self.load, self.plants = suite, results, crowd, plants
        self.part = "restore"
        # Orders that were acknowledged, and that the restored ledger does not have.
        self.forgotten_orders = set()
        # What the provider had and the ledger had not, by reference.
        self.lost = {}

    def begin(self):
        """A backup, from which on the load goes on for a while; drops rest, whose slots nobody would know."""
        self.load.rest()
        self.load.ask_again()
        self.load.without = DROPS
        self.suite.act("stop_receiver")
        self.suite.backup = self.suite.run / "backup"
        self.suite.act("receive", self.suite.backup)
        self.suite.make_synchronous()
        self.suite.back_up("base")
        self.load.go()
        time.sleep(20)
        self.moment = datetime.datetime.now(datetime.UTC).isoformat()
        time.sleep(2)

    def destroy_and_recover(self, back):
        self.suite.back_up("erased")
        (self.suite.run / "images").mkdir(exist_ok=True)
        self.suite.back_up("images", "--from", self.suite.run / "images")
        self.destroy()
        acknowledged = [order for order in self.load.payments if order.is_acknowledged]
        self.restore("--to", self.moment)
        self.hasten_sweeps(back)
        self.lost = self.lost_transfers()
        # By what was known before the services began to book it again, under the ids that it had.
        self.forgotten_orders = {
            order.key for order in acknowledged if order.is_payment and f"trf-{order.id}" not in self.known
        }
        # Requests are no transfers: those of the lost time are nobody's any more.
        asked = {row[0] for row in self.suite.rows("transaction", "SELECT id::text FROM payment_requests")}
        self.load.requests = [each for each in self.load.requests if each["id"] in asked]
        self.forgotten_orders |= {
            order.key for order in acknowledged if order.act == "request" and order.id not in asked
        }
        print(
            f"        the provider has {len(self.lost)} transfers that the ledger has not; {len(self.forgotten_orders)}"
            " acknowledged orders are forgotten", flush=True,
        )
        self.is_held_back()
        self.end_recovery()
        self.look_at_the_plants()
        self.suite.end_receiver()
        self.load.ask_again()
        self.load.without = ()

    # The recovery

    def is_held_back(self):
        """Tried: nobody pays, nothing is sent, and nobody can end it before it is time."""
        done = self.suite.transfactl("recovery", "status")
        self.check("the recovery is open", done.code == 1 and " open" in done.said, done)
        payer, payee = self.load.people[:2]
        body = {"recipient_username": payee["username"], "amount": 500}
        order = self.load.order("pay", payer, "/transactions/p2p", body, 500)
        self.check("a payment is refused for now", order.status == 503, order.status)
        time.sleep(15)
        sent = self.provider_transfers().keys() - self.taken.keys()
        self.check("nothing is sent to the provider", not sent, sorted(sent)[:3])

    def end_recovery(self):
        """As soon as it is allowed: what nobody can make good, which is what was planted, is accepted by its mark."""
        began = time.monotonic()
        self.refused = {}

        def is_over():
            self.sent = self.provider_transfers().keys() - self.taken.keys()
            self.accept_the_planted()
            self.last = self.suite.transfactl("recovery", "end", *BY)
            return self.last.code == 0

        try:
            eventually("the recovery to end", is_over, PATIENCE, 5)
        except TimeoutError:
            pass
        status = self.suite.transfactl("recovery", "status")
        self.check("the recovery ends", self.last.code == 0 and status.code == 0, f"{self.last}\n{status}")
        self.check("nothing was sent until then", not self.sent, sorted(self.sent)[:3])
        self.check("nothing had to be accepted but plants", not self.refused, self.refused)
        print(f"        the recovery ended after {time.monotonic() - began:.0f} s", flush=True)

    def accept_the_planted(self):
        recovery = self.suite.operate("GET", "transaction", "/internal/recoveries/newest").json()
        self.restored_to = datetime.datetime.fromisoformat(recovery["restored_to"]).timestamp()
        lasting = {plant.name for plant in self.plants.standing if not self.is_ended(plant)}
        self.refused = {}
        for account in recovery["differences"]:
            if "accepted_at" in account:
                continue
            lines = account.get("all") or [account["first"]]
            names = {tuple(line.split(":")[0].split(" ", 1)) for line in lines}
            if names <= lasting:
                path = f"/internal/recoveries/{recovery['id']}/accounts/{account['account']}/accept"
                order = {"mark": account["mark"], "reason": "planted"}
                self.suite.operate("POST", "transaction", path, order, wanted=None)
            else:
                self.refused[account["account"]] = lines

    def is_ended(self, plant):
        """Whether the restore or the recovery makes an end of it.

        What we had invented is forgotten, and what the provider has and the ledger has not is booked as it is there.
        """
        if plant.kind == "missing_there":
            return plant.made_at > self.restored_to
        if plant.kind != "missing_with_us":
            return plant.key in self.lost
        return plant.what == "nobody told of it" or plant.made_at >= self.restored_to - MARGIN

    def look_at_the_plants(self):
        """Which of them have ended, as the rules say; the test's list follows what is booked."""
        rows = self.suite.rows("transaction", "SELECT provider_id, reference FROM forgotten_transfers")
        forgotten = {word for row in rows for word in row}
        sql = "SELECT provider_payment_id FROM inbound_payments"
        payments = {row[0] for row in self.suite.rows("transaction", sql)}
        wrong = []
        for plant in self.plants.standing:
            is_ended = plant.key in forgotten or (plant.key in payments) != (plant.kind == "missing_there")
            if plant.kind in ("other_amount", "other_state"):
                is_ended = plant.key in forgotten
            # Of what is as old as the margin within seconds, the clocks decide.
            is_old = abs(plant.made_at - self.restored_to + MARGIN) < 10
            if not is_old and is_ended != self.is_ended(plant):
                wrong.append(plant)
            if is_ended:
                plant.gone = "by the restore"
        self.check("what was planted has ended where the rules say so, and nowhere else", not wrong, wrong[:3])
        found = self.forgotten()
        altered = {plant.key for plant in self.plants.all}
        wanted = {reference: entry["amount"] for reference, entry in self.lost.items() if self.covers(entry)}
        differing = [each for each in {*found, *wanted} - altered if found.get(each) != wanted.get(each)]
        self.check(f"all {len(wanted)} forgotten transfers are booked, to the kobo", not differing, differing[:5])
        print(f"        {len(self.plants.standing)} of {len(self.plants.all)} plants are left", flush=True)

    def provider_transfers(self):
        """Reference -> what it took, in all its time, however much else it has done."""
        return {entry["reference"]: entry for entry in self.suite.log("transfer_accepted")}

    def covers(self, entry):
        made = entry["at"]
        moment = datetime.datetime.fromisoformat(made).timestamp() if isinstance(made, str) else made / 1000
        return moment >= self.restored_to - MARGIN
