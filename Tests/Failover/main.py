"""Kills and cuts off what the suite stands on while people pay, and looks whether anything was lost or happened twice.

Run: scripts/failover-test. The suite runs on a cluster of three brokers, and transaction's database on a primary with
a synchronous standby.
"""

import argparse
import pathlib
import sys
import time

# The client of the contract tests: addresses, tokens, approvals, people.
sys.path.append(str(pathlib.Path(__file__).parents[1] / "Contract"))

import faults
import sabotage
from checks import Checks
from gaps import first_after, longest_pause
from load import Load
from results import Results
from suite_on_cluster import CONSUMERS, ClusteredSuite
from world import World

# What the issue of this test is: how long no event may be consumed after a fault, in seconds.
KILL_LIMIT = 5
PARTITION_LIMIT = 90


class Noticed:
    """Takes the results of checks that are to fail."""

    def __init__(self):
        self.failed = set()

    def check(self, title, good, shown=""):
        if not good:
            self.failed.add(title)
            print(f"        {title}: {shown}", flush=True)


class Run:
    def __init__(self, suite, results):
        self.suite, self.results = suite, results
        self.load = Load(suite, World(suite))
        self.checks = Checks(suite, self.load, results)

    def moments(self, service, since, until):
        """When a service consumed something; console, when it stored something."""
        table, column = ("archived_events", "stored_at") if service == "console" else ("inbox", "handled_at")
        sql = f"""SELECT DISTINCT extract(epoch FROM {column})::float8 FROM {table}
            WHERE {column} BETWEEN to_timestamp(%s) AND to_timestamp(%s)"""
        return [row[0] for row in self.suite.rows(service, sql, since, until)]

    def pauses(self, what, since, until, limit, results=None):
        """A line per queue; without a limit only the figures."""
        worst = ("", 0.0, 0.0)
        for service in (*CONSUMERS, "console"):
            moments = self.moments(service, since, until)
            longest, end = longest_pause(moments, since, until)
            first = first_after(moments, since)
            shown_first = "never" if first is None else f"{first:.2f} s"
            print(
                f"        {service:<13} first event after {shown_first}, longest pause {longest:.2f} s, over after"
                f" {end:.2f} s", flush=True,
            )
            worst = max(worst, (service, longest, end), key=lambda each: each[1])
        if limit:
            title = f"{what}: every queue is consumed again within {limit} s"
            shown = f"the longest pause was {worst[1]:.2f} s, of {worst[0]}"
            (results or self.results).check(title, worst[1] <= limit, shown)

    def quiet(self, seconds):
        """What pauses there are when nothing happens: the machine's share of the figures."""
        print(f"==> {seconds} s without a fault", flush=True)
        self.load.go()
        time.sleep(5)
        since = time.time()
        time.sleep(seconds)
        self.pauses("no fault", since, time.time(), None)
        self.finish("no fault")

    def during(self, fault):
        """The load goes on before, during and after a fault; then everything is counted."""
        print(f"==> {fault.title}", flush=True)
        self.load.go()
        time.sleep(5)
        asked = len(self.load.payments)
        since = fault.strike(self.suite)
        print(f"        {fault.shown}", flush=True)
        time.sleep(fault.seconds)
        until = time.time()
        fault.mend(self.suite)
        time.sleep(5)
        mended = time.time()
        self.load.rest()
        payments = self.load.payments[asked:]
        self.pauses(fault.title, since, until, fault.limit)
        print("        and while it was mended:", flush=True)
        self.pauses(fault.title, until, mended, None)
        fault.look(self.results, payments)
        self.finish(fault.title)

    def finish(self, title):
        self.load.rest()
        payments = self.load.payments
        refused = sum(1 for payment in payments if not payment.is_acknowledged and payment.status is not None)
        silent = sum(1 for payment in payments if not payment.is_acknowledged and payment.status is None)
        acknowledged = len(payments) - refused - silent
        again = self.load.ask_again()
        print(
            f"        {len(payments)} payments so far: {acknowledged} acknowledged at first, {refused} answered"
            f" otherwise and {silent} not; {again} asked for again under their keys", flush=True,
        )
        self.checks.all(title)

    def everything_broken(self):
        """Whether each check notices what it is for."""
        print("==> everything is broken on purpose", flush=True)
        self.load.go()
        time.sleep(15)
        self.load.rest()
        self.load.ask_again()
        self.checks.settle()
        sabotage.everything(self.suite, self.load)
        noticed = Noticed()
        checks = Checks(self.suite, self.load, noticed, patience=2)
        checks.all("broken")
        until = time.time()
        self.pauses("broken", until - 10, until, 0.001, noticed)
        wanted = [f"broken: {title}" for title in checks.titles()]
        wanted.append("broken: every queue is consumed again within 0.001 s")
        for fault, payments in faults.examples(self.load.payments[0]):
            fault.look(noticed, payments)
            wanted.append(fault.check)
        for title in wanted:
            self.results.check(f"noticed that not: {title.removeprefix('broken: ')}", title in noticed.failed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("run")
    parser.add_argument("--only", default=",".join(faults.NAMES))
    parser.add_argument("--break", dest="broken", action="store_true")
    options = parser.parse_args()
    results = Results(explains_all=True)
    suite = ClusteredSuite(options.run)
    run = Run(suite, results)
    if options.broken:
        run.everything_broken()
    else:
        run.quiet(20)
        for fault in faults.chosen(options.only.split(","), KILL_LIMIT, PARTITION_LIMIT):
            run.during(fault)
    run.load.end()
    for problem, count in sorted(run.load.problems.items(), key=lambda each: -each[1])[:8]:
        print(f"        beside the payments, {count} times: {problem}")
    return results.end()


if __name__ == "__main__":
    sys.exit(main())
