"""Hours of random load with kills, cuts, a rude provider and a restore.

In the end the reconciliation page must show what was planted, and nothing else. Run: scripts/long-load-test.
"""

import argparse
import collections
import pathlib
import random
import sys
import threading
import time

# The client of the contract tests, the checks of the failover tests, and the operators' steps of the backup tests.
for folder in ("Contract", "Failover", "Backup"):
    sys.path.append(str(pathlib.Path(__file__).parents[1] / folder))

from crowd import Crowd
from outcome import Outcome
from plants import Plants
from repeated import Repeated
from restoring import Restoring
from results import Results
from rudeness import ALWAYS, Rudeness
from suite_with_relays import NOT_ANSWERED, Problems, SuiteWithRelays, lay_relays
from troubles import Troubles

# Shorter runs have everything more often.
LONG = 30


class Run:
    def __init__(self, suite, options, results):
        self.suite, self.options, self.results = suite, options, results
        is_long = options.minutes >= LONG
        self.problems = Problems()
        peace = threading.RLock()
        self.crowd = Crowd(suite, options.seed, options.rate, self.problems)
        self.rudeness = Rudeness(suite, self.crowd, self.chance("rudeness"))
        self.troubles = Troubles(suite, self.chance("troubles"), peace)
        self.plants = Plants(suite, self.crowd, self.rudeness, self.chance("plants"), peace)
        self.restoring = Restoring(suite, results, self.crowd, self.plants)
        every = (240, 360) if is_long else (options.minutes * 4, options.minutes * 6)
        self.back = 150 if is_long else 40
        self.rude = self.repeated("rudeness", self.rudeness.act, (5, 20))
        self.bad = self.repeated("troubles", self.troubles.act, (60, 180) if is_long else (10, 30))
        self.planting = self.repeated("plants", self.plants.act, every)
        self.looking = self.repeated("looks", suite.look_at_all, (300, 300) if is_long else (60, 60))
        self.plants.hold, self.plants.go = self.hold_rudeness, self.go_on_with_rudeness
        self.began = time.monotonic()
        threading.Thread(target=self.tell, daemon=True).start()

    def chance(self, name):
        return random.Random(f"{self.options.seed} {name}")

    def repeated(self, name, job, seconds):
        made = Repeated(name, job, seconds, self.chance(f"moments of {name}"), self.problems)
        made.start()
        return made

    def hold_rudeness(self):
        self.was_rude = not self.rude.held.is_set()
        self.rude.hold()

    def go_on_with_rudeness(self):
        if self.was_rude:
            self.rude.go()

    # The story

    def whole(self):
        seconds = self.options.minutes * 60
        self.go()
        if self.options.no_restore:
            time.sleep(seconds)
        else:
            time.sleep(seconds / 2)
            self.restore()
            self.go()
            time.sleep(seconds / 2)
        self.hold()
        self.crowd.rest()
        self.end()

    def go(self):
        self.crowd.go()
        for each in (self.rude, self.bad, self.planting, self.looking):
            each.go()

    def hold(self):
        """Everything but the load."""
        for each in (self.looking, self.planting, self.bad, self.rude):
            each.held.set()
        for each in (self.looking, self.planting, self.bad, self.rude):
            each.hold()
        # What did not start again after a trouble, which is a problem that was noted.
        self.suite.act("start_suite")
        self.rudeness.be_usual()

    def restore(self):
        print("==> everything is destroyed, and restored to an earlier moment", flush=True)
        self.hold()
        self.restoring.begin()
        # A copy is beside Postgres now, which must be heard to the end.
        self.troubles.spares_postgres = True
        self.rude.go()
        self.bad.go()
        began = time.monotonic()
        for _ in range(2):
            time.sleep(self.back / 4)
            try:
                self.plants.act()
            except Exception as error:  # noqa: BLE001
                self.problems.note("plants", error)
        time.sleep(max(0.0, self.back - (time.monotonic() - began)))
        self.hold()
        self.restoring.destroy_and_recover(self.back)
        self.troubles.spares_postgres = False

    def end(self):
        again = self.crowd.ask_again()
        print(f"==> the load rests, {again} orders were asked for again; everything is looked at", flush=True)
        outcome = Outcome(self.suite, self.crowd, self.plants, self.restoring, self.results)
        outcome.rest()
        self.figures()
        outcome.all("in the end")
        own = {
            name: count for name, count in self.problems.counts.items() if name.split(":")[0] in ("plants", "troubles")
        }
        self.results.check("the test did what it had planned", not own, own)
        planted = {plant.what for plant in self.plants.all}
        everything = self.options.minutes < LONG or len(planted) == len(Plants.MAKERS)
        self.results.check("every kind of plant was planted", everything, sorted(planted))

    # What is told

    def tell(self):
        while True:
            time.sleep(60)
            print(self.line(), flush=True)

    def line(self):
        orders = list(self.crowd.payments)
        accepted = sum(order.is_acknowledged for order in orders)
        refused = sum(order.refusal is not None for order in orders)
        try:
            sql = "SELECT count(*) FROM transfers WHERE state = 'completed' AND submitted_at IS NOT NULL"
            completed = self.suite.number("transaction", sql)
            states = collections.Counter(each["state"] for each in self.suite.page()["breaks"])
            page = f"{states['suspected']} suspected, {states['open']} open"
        except NOT_ANSWERED:
            completed, page = "?", "not answered"
        return (
            f"minute {(time.monotonic() - self.began) / 60:.0f}: {len(orders)} orders, {accepted} accepted, {refused}"
            f" refused, {self.crowd.fundings} fundings, {completed} completed; {self.troubles.count} troubles,"
            f" {self.rudeness.count} rude acts ({self.rudeness.reversals} reversals); planted"
            f" {len(self.plants.standing)}; page: {page}"
        )

    def figures(self):
        print(self.line(), flush=True)
        acts = collections.Counter(order.act for order in self.crowd.payments)
        print(f"        orders: {dict(acts)}", flush=True)
        refusals = collections.Counter(f"{order.act} {order.refusal}" for order in self.crowd.payments if order.refusal)
        print(f"        refused: {dict(refusals)}", flush=True)
        print(f"        planted: {dict(collections.Counter(plant.what for plant in self.plants.all))}", flush=True)
        for problem, count in self.problems.counts.most_common(12):
            print(f"        beside the matter, {count} times: {problem}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("run")
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--rate", type=float, default=2.0)
    parser.add_argument("--no-restore", action="store_true")
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.minutes:g} minutes, {options.rate:g} acts per second", flush=True)
    results = Results()
    suite = SuiteWithRelays(options.run, lay_relays(options.run))
    suite.act("start_suite")
    suite.sandbox("PATCH", "/sandbox/switches", ALWAYS)
    Run(suite, options, results).whole()
    return results.end()


if __name__ == "__main__":
    sys.exit(main())
