"""Everything is destroyed while people pay, and restored: to the newest moment, and to one that the provider has outlived."""

import datetime
import shutil
import time

from checks import Checks
from load import FUNDS, PACE, SMALL_FUNDING, Load
from schemathesis.core.file_samples import FILE_SAMPLES
from suite import eventually
from suite_with_backup import OPERATOR, REASON
from world import World

# What a recovery may take: it asks twice, two minutes apart, and gives money from outside ten minutes to be told of.
PATIENCE = 1200
BY = ("--operator", OPERATOR, "--reason", REASON)
# Who erases with the first one.
SECOND = ("--operator", "linus", "--reason", REASON)
# What the provider does for hours: it tells again until somebody listens.
PROVIDER = {"webhookAttempts": 5000, "webhookRetryMs": 1000}
# The most that one call lists.
LISTED = 1000


class PatientChecks(Checks):
    way = 10


class Recovering:
    def __init__(self, suite, results):
        self.suite, self.results = suite, results
        suite.act("start_suite")
        suite.sandbox("PATCH", "/sandbox/switches", PROVIDER)
        # An account is swept for its newest payments: with more than these, it is the recovery that has to find them.
        PACE["funding"] = 5.0
        self.world = World(suite)
        self.load = Load(suite, self.world)
        self.checks = PatientChecks(suite, self.load, results, patience=300)
        self.picture = self.show_picture()

    def check(self, title, good, shown=""):
        self.results.check(f"{self.part}: {title}", good, shown)

    def begin(self, part):
        print(f"==> {part}", flush=True)
        self.part = part
        self.back_up_to(f"backup-{part}")
        self.suite.make_synchronous()

    # Stories

    def fresh(self):
        """The disks are gone, and nothing that was acknowledged is."""
        self.begin("newest")
        self.erased = self.erase_somebody()
        self.load.go()
        time.sleep(5)
        self.suite.back_up("base")
        self.suite.back_up("erased")
        self.suite.back_up("images", "--from", self.suite.run / "images")
        time.sleep(20)
        self.destroy()
        acknowledged = sum(payment.is_acknowledged for payment in self.load.payments)
        print(f"        {acknowledged} payments were acknowledged", flush=True)
        self.restore()
        self.is_held_back()
        self.end_recovery()
        self.check("nothing was forgotten", not self.forgotten(), self.forgotten())
        self.load.ask_again()
        self.checks.all("newest")
        self.stays_erased(self.erased)
        self.check("pictures are there", self.shown_picture() == self.picture, "another picture")
        self.goes_on()

    def old(self, seconds):
        """The newest moment cannot be had, and the provider knows what was done since."""
        self.begin("old")
        victim = self.world.join("erasable")
        self.load.go()
        time.sleep(5)
        self.suite.back_up("base")
        time.sleep(20)
        moment = datetime.datetime.now(datetime.UTC).isoformat()
        time.sleep(2)
        print(f"        people pay for {seconds} s after the moment to which this goes back", flush=True)
        self.erase(victim)
        self.suite.back_up("erased")
        self.suite.back_up("images", "--from", self.suite.run / "images")
        time.sleep(seconds)
        self.destroy()
        done = self.restore("--to", moment)
        self.hasten_sweeps(seconds)
        lost = self.lost_transfers()
        amount = sum(transfer["amount"] for transfer in lost.values())
        print(f"        the provider has {len(lost)} transfers of {amount} kobo that the ledger has not", flush=True)
        self.check("something was forgotten", lost, "nothing")
        self.stays_erased(victim)
        self.check("what is left of the erasure is said", f"user erase {victim['id']}" in done.said, done)
        self.is_held_back()
        for by in (BY, SECOND):
            done = self.suite.transfactl("user", "erase", victim["id"], "--confirm", victim["id"], *by)
            self.check("the erasure is finished", done.code == 0, done)
        self.end_recovery()
        self.checks.settle()
        self.forgotten_is_in_suspense(lost)
        self.wallets_and_provider_agree(lost)
        self.goes_on()

    # Steps

    def back_up_to(self, name):
        """One receiver at a time: the slot is one."""
        self.suite.act("stop_receiver")
        self.suite.backup = self.suite.run / name
        self.suite.act("receive", self.suite.backup)

    def destroy(self):
        """While people pay."""
        self.suite.act("crash")
        self.load.rest()

    def restore(self, *arguments):
        """As the script tells an operator to."""
        suite, backup = self.suite, self.suite.backup
        done = suite.restore(suite.data, *arguments)
        if done.code:
            raise RuntimeError(f"the restore {done}")
        print("\n".join(f"        {line}" for line in done.lines if line.startswith("Restored")), flush=True)
        shutil.copytree(backup / "images", suite.run / "images")
        suite.act("serve")
        self.back_up_to(f"{backup.name}-again")
        suite.back_up("base")
        # What the provider has, before anything of ours can ask it for more.
        self.taken = self.provider_transfers()
        self.known = {row[0] for row in suite.rows("transaction", "SELECT reference FROM transfers")}
        suite.act("start_suite")
        resent = suite.transfactl("outbox", "resend", "--minutes", 60, *BY)
        self.check("outboxes send again", resent.code == 0, resent)
        return done

    def is_held_back(self):
        """Tried: nobody pays, nothing is sent, and nobody can end it before it is time."""
        done = self.suite.transfactl("recovery", "status")
        self.check("the recovery is open", done.code == 1 and " open" in done.said, done)
        before = len(self.load.payments)
        self.load.pay(0)
        payment = self.load.payments[before]
        self.check("a payment is refused for now", payment.status == 503, payment.status)
        done = self.suite.transfactl("recovery", "end", *BY)
        self.check("a recovery does not end before everything was compared", done.code != 0, done)
        time.sleep(15)
        sent = self.provider_transfers().keys() - self.taken.keys()
        self.check("nothing is sent to the provider", not sent, sorted(sent)[:3])

    def end_recovery(self):
        """As soon as the tool allows it."""
        began = time.monotonic()

        def is_over():
            self.sent = self.provider_transfers().keys() - self.taken.keys()
            self.last = self.suite.transfactl("recovery", "end", *BY)
            return self.last.code == 0

        try:
            eventually("the recovery to end", is_over, PATIENCE, 5)
        except TimeoutError:
            # The check says so.
            pass
        status = self.suite.transfactl("recovery", "status")
        self.check("the recovery ends", self.last.code == 0 and status.code == 0, f"{self.last}\n{status}")
        self.check("nothing was sent until then", not self.sent, sorted(self.sent)[:3])
        print(f"        the recovery ended after {time.monotonic() - began:.0f} s", flush=True)

    def goes_on(self):
        """The same people pay as before, and new ones come."""
        before = len(self.load.payments)
        self.load.go()
        time.sleep(15)
        self.load.rest()
        self.load.ask_again()
        self.checks.settle()
        new = [payment.transfer for payment in self.load.payments[before:]]
        sql = "SELECT count(*) FROM transfers WHERE id = ANY (%s::uuid[]) AND state = 'completed'"
        completed = self.suite.number("transaction", sql, new)
        self.check("the same people pay under new keys", new and completed == len(new), f"{completed} of {len(new)}")
        done = self.suite.transfactl("journey")
        self.check("the journey continues", done.code == 0, done)
        self.checks.settle()
        for title in (
            "the ledger's invariants hold", "nothing waits to be published", "every event was heard by all who listen",
            "no event is parked or dead", "the archive has every event, without a gap in any sequence",
        ):
            problem = self.checks.titles()[title]()
            self.check(f"in the end {title}", not problem, problem[:3])
        done = self.suite.transfactl("reconcile", "--operator", "grace")
        self.check("in the end ledger and provider agree", done.code == 0, done)

    # The provider

    def provider_transfers(self):
        """Reference -> what it took, in all its time."""
        found, after = {}, 0
        while True:
            page = self.suite.sandbox("GET", f"/sandbox/log?after={after}&type=transfer_accepted&limit=1000").json()
            entries = page["entries"]
            found |= {entry["reference"]: entry for entry in entries}
            if not entries:
                return found
            after = page["next"]

    def lost_transfers(self):
        return {reference: entry for reference, entry in self.taken.items() if reference not in self.known}

    def forgotten(self):
        sql = "SELECT reference, amount FROM forgotten_transfers ORDER BY 1"
        return dict(self.suite.rows("transaction", sql))

    def forgotten_is_in_suspense(self, lost):
        wanted = {reference: entry["amount"] for reference, entry in lost.items()}
        found = self.forgotten()
        self.check("every forgotten transfer is booked, to the kobo", found == wanted, (found, wanted))
        done = self.suite.transfactl("recovery", "forgotten", "--limit", LISTED)
        listed = [reference for reference in lost if reference in done.said]
        good = done.code == 0 and len(listed) == min(len(lost), LISTED)
        self.check("and listed", good, f"{len(listed)} of {len(lost)} are; {done}")
        sql = """SELECT coalesce(sum(b.posted), 0)::bigint FROM balances b JOIN ledger_accounts a ON a.id = b.account_id
            WHERE a.kind = 'suspense'"""
        held = self.suite.number("transaction", sql)
        self.check("suspense holds what they were", held == sum(wanted.values()), f"{held} of {sum(wanted.values())}")

    def wallets_and_provider_agree(self, lost):
        """Person by person: what the provider holds for each is the wallet, and what waits in suspense."""
        paid = [0] * len(self.load.payers)
        for payment in self.load.payments:
            if f"trf-{payment.transfer}" in self.known:
                paid[payment.payer] += payment.amount
        # Also what nobody was answered about: the crash came between.
        left = [self.sum(lost, "source", payer) for payer in self.load.payers]
        waiting = self.sum(lost, "destination", self.load.payee)
        wanted = [(payer, FUNDS - known - gone, 0) for payer, known, gone in zip(self.load.payers, paid, left)]
        wanted.append((self.load.payee, sum(paid), waiting))
        wanted.append((self.load.saver, self.load.fundings * SMALL_FUNDING, 0))
        wrong = []
        for person, amount, waits in wanted:
            wallet, theirs = self.load.wallet(person)["posted"], self.provider_balance(person)
            if (wallet, theirs) != (amount, amount + waits):
                wrong.append(f"{person['username']}: {amount} wanted, {wallet} in the wallet, {theirs} there")
        self.check("wallets, suspense and provider agree to the kobo", not wrong, wrong)

    def provider_account(self, person):
        return self.suite.number("transaction", "SELECT provider_account FROM users WHERE id = %s", person["id"])

    def sum(self, transfers, side, person):
        account = self.provider_account(person)
        return sum(each["amount"] for each in transfers.values() if each.get(side) == account)

    def provider_balance(self, person):
        account = self.provider_account(person)
        page = self.suite.sandbox("GET", "/sandbox/balances?limit=1000").json()["accounts"]
        return next(each["ledger"] for each in page if each["id"] == account)

    def hasten_sweeps(self, seconds):
        """Who goes back less far than an account may wait to be asked about need not wait for that."""
        if seconds < 600:
            self.suite.change("account", "UPDATE accounts SET swept_at = opened_at - interval '10 minutes'")

    # Erasure and pictures

    def erase_somebody(self):
        person = self.world.join("leaver")
        self.erase(person)
        return person

    def erase(self, person):
        for by in (BY, SECOND):
            done = self.suite.transfactl("user", "erase", person["id"], "--confirm", person["id"], *by)
            if done.code:
                raise RuntimeError(f"the erasure {done}")

    def stays_erased(self, person):
        sql = "SELECT wrapped IS NULL FROM data_keys WHERE user_id = %s"
        self.check("who was erased stays erased", self.suite.number("auth", sql, person["id"]), "the key is back")

    def show_picture(self):
        headers = {
            "Authorization": f"Bearer {self.suite.token(self.load.saver['subject'])}", "Content-Type": "image/jpeg",
        }
        url = self.suite.url("customer") + "/users/me/image"
        answer = self.suite.send("PUT", url, data=FILE_SAMPLES["jpg"], headers=headers).json()
        # Links begin with wherever the app finds them.
        self.picture_path = answer["profile_image_url"][answer["profile_image_url"].index("/images/"):]
        return self.shown_picture()

    def shown_picture(self):
        return self.suite.send("GET", self.suite.url("customer") + self.picture_path).content
