"""What must hold when the load rests: nothing acknowledged is lost, nothing happened twice, nobody missed a thing."""

import concurrent.futures
import json

from gaps import missing_numbers
from load import FUNDS, SMALL_FUNDING
from suite_on_cluster import CONSUMERS, ROOT, SERVICES
from suite import eventually


def consumers():
    """Kind of event -> who hears it, as the document of all events says."""
    document = json.loads((ROOT / "deploy/events/asyncapi.json").read_text())
    heard = {}
    for operation in document["operations"].values():
        if operation["action"] == "receive":
            address = document["channels"][operation["channel"]["$ref"].rsplit("/", 1)[1]]["address"]
            heard.setdefault(address.removeprefix("{partition}."), set()).add(operation["x-service"])
    return heard


class Checks:
    # Seconds: services never stop telling that they live, and what was told a moment ago may still be on its way.
    way = 2

    def __init__(self, suite, load, results, patience=180):
        self.suite, self.load, self.results = suite, load, results
        # What has not come to rest within so many seconds hangs.
        self.patience = patience
        self.heard_by = consumers()
        self.asked_provider = set()

    # Coming to rest

    def settle(self):
        """Until every transfer has ended and everything that was told has been heard, or the patience is at its end."""
        for what, is_done in (
            ("every transfer has ended", lambda: self.open_transfers() == 0),
            ("every outbox is empty", lambda: not any(map(self.unsent, SERVICES))),
            ("every event was heard by all who listen", lambda: not self.unheard()),
            ("every event is in the archive", lambda: not self.not_archived()),
        ):
            try:
                eventually(what, is_done, self.patience, 1)
            except TimeoutError:
                # Which it is, the check of it says.
                continue

    def open_transfers(self):
        sql = "SELECT count(*) FROM transfers WHERE state NOT IN ('completed', 'failed', 'reversed')"
        return self.suite.number("transaction", sql)

    def unsent(self, service):
        return self.suite.number(service, "SELECT count(*) FROM outbox WHERE sent_at IS NULL")

    def published(self):
        """Id -> (service, kind, subject, sequence)."""
        sql = "SELECT id, type, subject, sequence FROM outbox WHERE time < transfa_now() - %s * interval '1 second'"
        return {row[0]: (service, *row[1:]) for service in SERVICES for row in self.suite.rows(service, sql, self.way)}

    def unheard(self):
        """What somebody who listens has no trace of."""
        published = self.published()
        missing = []
        for service in CONSUMERS:
            known = {row[0] for row in self.suite.rows(service, "SELECT id FROM inbox WHERE outcome = 'handled'")}
            missing += [
                f"{kind} for {service}" for id, (_, kind, *_) in published.items()
                if service in self.heard_by.get(kind, ()) and id not in known
            ]
        return missing

    def not_archived(self):
        archived = {row[0] for row in self.suite.rows("console", "SELECT id FROM archived_events")}
        return [kind for id, (_, kind, *_) in self.published().items() if id not in archived]

    # Checks

    def titles(self):
        """Title -> what finds the problems."""
        return {
            "every acknowledged payment is there, once, under its key": self.lost_or_doubled,
            "every transfer has ended, and completed": self.not_completed,
            "every wallet has what the payments say": self.wrong_wallets,
            "the provider took every payment once": self.taken_otherwise,
            "the ledger's invariants hold": self.broken_invariants,
            "nothing waits to be published": lambda: [name for name in SERVICES if self.unsent(name)],
            "every event was heard by all who listen": self.unheard,
            "no event was handled before an earlier one of its subject": self.overtaken,
            "no event is parked or dead": self.parked,
            "each side of a payment was told once": self.told_otherwise,
            "analytics counts every payment once": self.counted_otherwise,
            "the archive has every event, without a gap in any sequence": self.archive,
        }

    def all(self, what):
        """Everything, after `what`."""
        self.settle()
        for title, find in self.titles().items():
            problem = find()
            self.results.check(f"{what}: {title}", not problem, shown(problem))

    def broken_invariants(self):
        return self.suite.rows("transaction", "SELECT name, detail FROM check_invariants()")

    def lost_or_doubled(self):
        rows = self.suite.rows("transaction", "SELECT idempotency_key, id, amount FROM transfers WHERE type = 'p2p'")
        by_key = {}
        for key, id, amount in rows:
            by_key.setdefault(key, []).append((str(id), amount))
        asked = {payment.key: payment for payment in self.load.payments}
        wrong = [
            f"{payment.key} was acknowledged as {payment.transfer} and is {by_key.get(payment.key)}"
            for payment in asked.values()
            if payment.is_acknowledged and by_key.get(payment.key) != [(payment.transfer, payment.amount)]
        ]
        wrong += [f"{key} is there {len(found)} times" for key, found in by_key.items() if len(found) != 1]
        return wrong + [f"{key} was never asked for" for key in by_key if key not in asked]

    def not_completed(self):
        sql = "SELECT id, state, failure_reason FROM transfers WHERE state <> 'completed'"
        return self.suite.rows("transaction", sql)

    def wrong_wallets(self):
        paid = [0] * len(self.load.payers)
        for payment in self.load.payments:
            paid[payment.payer] += payment.amount if payment.is_acknowledged else 0
        wanted = [(payer, FUNDS - amount) for payer, amount in zip(self.load.payers, paid)]
        wanted += [(self.load.payee, sum(paid)), (self.load.saver, self.load.fundings * SMALL_FUNDING)]
        wrong = []
        for person, amount in wanted:
            wallet = self.load.wallet(person)
            if (wallet["posted"], wallet["available"], wallet["held"]) != (amount, amount, 0):
                wrong.append(f"{person['username']} should have {amount} and has {wallet}")
        return wrong

    def taken_otherwise(self):
        """Of the payments that were not asked about before."""
        new = {payment.transfer for payment in self.load.payments if payment.is_acknowledged} - self.asked_provider

        def taken(transfer):
            return len(self.suite.sandbox("GET", f"/sandbox/references/trf-{transfer}").json()["transfers"])

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            wrong = [f"{id}: {count}" for id, count in zip(new, pool.map(taken, new)) if count != 1]
        self.asked_provider |= new
        return wrong

    def overtaken(self):
        sql = """SELECT source, type, subject, sequence FROM (
                SELECT *, handled_at < max(handled_at) OVER (PARTITION BY source, subject ORDER BY sequence) AS late
                FROM inbox
            ) i WHERE late"""
        return [(service, *row) for service in CONSUMERS for row in self.suite.rows(service, sql)]

    def parked(self):
        found = [
            (service, *row) for service in CONSUMERS
            for row in self.suite.rows(service, "SELECT type, reason FROM parked_events")
        ]
        dead = self.suite.queues().get("transfa.dead-letters", {}).get("messages", 0)
        return found + [f"{dead} dead letters"] * bool(dead)

    def told_otherwise(self):
        """Sender and recipient have one message each about a payment."""
        wanted = {
            (row[0], person) for row in self.suite.rows(
                "transaction", "SELECT id::text, sender_id, recipient_id FROM transfers WHERE type = 'p2p'"
            ) for person in row[1:]
        }
        rows = self.suite.rows(
            "notification", "SELECT lower(subject), user_id, count(*) FROM notifications GROUP BY 1, 2"
        )
        payments = {subject for subject, _ in wanted}
        told = {(subject, user): count for subject, user, count in rows if subject in payments}
        wrong = [f"{subject} to {user}: {count} times" for (subject, user), count in told.items() if count != 1]
        return wrong + [f"{subject} to {user}: not" for subject, user in wanted if (subject, user) not in told]

    def counted_otherwise(self):
        """Totals are added up event by event: one that took effect twice is in them twice."""
        rows = self.suite.rows(
            "analytics",
            """SELECT d.user_id, sum(d.in_wallet)::bigint, sum(d.money_out)::bigint FROM day_totals d
                JOIN projections p ON p.name = 'money' AND p.live = d.generation GROUP BY d.user_id""",
        )
        totals = {user: (into, out) for user, into, out in rows}
        sent, got = {}, {}
        for row in self.suite.rows(
            "transaction", "SELECT sender_id, recipient_id, amount FROM transfers WHERE type = 'p2p'"
        ):
            sent[row[0]] = sent.get(row[0], 0) + row[2]
            got[row[1]] = got.get(row[1], 0) + row[2]
        wrong = [
            f"{user} paid {amount} and counts {totals.get(user)}"
            for user, amount in sent.items() if totals.get(user, (0, 0))[1] != amount
        ]
        wrong += [
            f"{user} got {amount} and counts {totals.get(user)}"
            for user, amount in got.items() if totals.get(user, (0, 0))[0] != amount
        ]
        facts = {str(row[0]) for row in self.suite.rows("analytics", "SELECT id FROM facts WHERE state = 'counted'")}
        unknown = [payment.transfer for payment in self.load.payments if payment.is_acknowledged]
        return wrong + [f"{id} is not among the facts" for id in unknown if id not in facts]

    def archive(self):
        wrong = [f"{kind} is not there" for kind in self.not_archived()]
        sequences = {}
        stored = self.suite.rows("console", "SELECT source, subject, sequence FROM archived_events")
        for source, subject, sequence in stored:
            sequences.setdefault((source, subject), []).append(sequence)
        for (source, subject), numbers in sequences.items():
            missing, double = missing_numbers(numbers)
            if missing or double:
                wrong.append(f"{source} about {subject}: missing {missing[:5]}, twice {double[:5]}")
        open_gaps = "SELECT reason, since::text FROM archive_gaps WHERE closed_at IS NULL"
        return wrong + self.suite.rows("console", open_gaps)


def shown(problem):
    """The first few of what was found."""
    return f"{len(problem)}, such as {problem[:3]}" if problem else ""
