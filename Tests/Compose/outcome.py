#!/usr/bin/env python3
"""outcome.py <settings> <reports...>: after load has ended, waits until nothing of it is under way, and says whether every
accepted payment has arrived once, and every event was heard once by whoever listens. The last line counts."""

import json
import sys
import time

import psycopg

from composed import SERVICES, Composed, consumers

PATIENCE = 300


class Outcome:
    def __init__(self, environment):
        self.suite = Composed(environment)
        self.passed = self.failed = 0

    def check(self, title, problems):
        if problems:
            self.failed += 1
            print(f"FAILED  {title}: {len(problems)}, such as {problems[:3]}")
        else:
            self.passed += 1
            print(f"ok      {title}")

    def rows(self, service, query):
        password = self.suite.settings["POSTGRES_PASSWORD"]
        url = f"postgres://postgres:{password}@127.0.0.1:{self.suite.port('postgres')}/transfa_{service}"
        with psycopg.connect(url) as connection:
            return connection.execute(query).fetchall()

    def settle(self, accepted):
        """Until what was accepted has arrived and no event waits, or patience ends: then the checks tell what is left."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if not self.lost_payments(accepted) and not self.waiting() and not self.unheard():
                return
            time.sleep(2)

    def waiting(self):
        unsent = "SELECT count(*) FROM outbox WHERE sent_at IS NULL AND time < now() - interval '20 s'"
        return [name for name in SERVICES if self.rows(name, unsent)[0][0]]

    def unheard(self):
        """Events of more than half a minute ago that somebody who listens has not handled."""
        listening = consumers()
        published = [
            row for name in SERVICES
            for row in self.rows(name, "SELECT id, type FROM outbox WHERE time < now() - interval '30 s'")
        ]
        known = {name: {row[0] for row in self.rows(name, "SELECT id FROM inbox")} for name in SERVICES}
        return [
            f"{kind} {id} for {name}"
            for id, kind in published for name in listening.get(kind, ()) if id not in known[name]
        ]

    def parked(self):
        return [f"{row[0]} in {name}" for name in SERVICES for row in self.rows(name, "SELECT type FROM parked_events")]

    def lost_payments(self, accepted):
        states = dict(self.rows("transaction", "SELECT id::text, state::text FROM transfers"))
        return [f"{id} is {states.get(id, 'nowhere')}" for id in accepted if states.get(id.lower()) != "completed"]

    def run(self, reports):
        accepted = [id for report in reports for id in report["accepted"]]
        self.settle(accepted)
        self.check(f"all {len(accepted)} payments that were accepted have arrived", self.lost_payments(accepted))
        self.check("no payment was accepted twice", [id for id in accepted if accepted.count(id) > 1][:3])
        self.check("nothing waits to be published", self.waiting())
        self.check("every event was heard by all who listen", self.unheard())
        self.check("no event is parked", self.parked())
        self.check("the ledger's invariants hold", self.suite.operate("transaction", "/internal/invariants"))
        summary = self.suite.sandbox("GET", "/sandbox/summary").json()
        doubled = summary["duplicate_references"]
        self.check("the provider was asked for nothing twice", [doubled] if doubled else [])
        print(f"{self.passed} passed, {self.failed} failed")
        return self.failed == 0


def main():
    reports = []
    for path in sys.argv[2:]:
        with open(path) as file:
            reports.append(json.load(file))
    sys.exit(0 if Outcome(sys.argv[1]).run(reports) else 1)


if __name__ == "__main__":
    main()
