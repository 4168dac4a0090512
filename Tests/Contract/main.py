#!/usr/bin/env python3
"""Calls every operation of every openapi.yaml and says what does not agree; see README.md.

usage: main.py <folder of the running suite> [--full] [--only service,...] [--seed number]
"""

import argparse
import collections
import concurrent.futures
import multiprocessing
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts/lib"))
import openapi  # noqa: E402

import bugs  # noqa: E402
from calls import Order, call  # noqa: E402
from suite import IMPORTER, SERVICES, Suite  # noqa: E402
from world import World  # noqa: E402

# What each service has on its internal port besides its own paths; called on one, in a full run on all.
SHARED = "Shared/ServiceKit/openapi.yaml"
SHARED_SERVICE = "transaction"
# Examples per operation and way of making them, and steps of a chain of calls.
SHORT, LONG = (3, 3), (60, 8)
# Called when everything else has been.
STOPS_PAYMENTS = "beginRecovery"
# Repeatable by default: what a short run finds does not depend on the day.
SEED = 20261121


def part(document, is_internal):
    """The document with its public or its internal paths alone, without what stops the payments of everybody."""
    paths = {
        path: {name: value for name, value in item.items() if not is_named(value, STOPS_PAYMENTS)}
        for path, item in document["paths"].items()
        if path.startswith(openapi.INTERNAL) == is_internal
    }
    return {**document, "paths": {path: item for path, item in paths.items() if item}}


def is_named(operation, name):
    return isinstance(operation, dict) and operation.get("operationId") == name


def orders(suite, options):
    """One per document and port, the longest first; those that disturb the others last, on their own."""
    examples, steps = LONG if options.full else SHORT
    side_by_side, alone, last = [], [], []
    for source, document in openapi.documents().items():
        services = [source.split("/")[1].lower()]
        if source == SHARED:
            services = SERVICES if options.full else (SHARED_SERVICE,)
            # Jobs that wait and parked events, which some of it is about, are made there alone.
            services = () if options.only and SHARED_SERVICE not in options.only else services
        for service in services:
            for url, is_internal in ((suite.address, False), (suite.internal_url(service), True)):
                described = part(document, is_internal)
                if described["paths"] and (not options.only or service in options.only):
                    order = Order(source, described, service, url, examples, steps, options.seed)
                    (alone if source == SHARED else side_by_side).append(order)
        if services == ["transaction"] and (not options.only or "transaction" in options.only):
            stops = bugs.with_one(document, STOPS_PAYMENTS)
            url = suite.internal_url("transaction")
            last.append(Order(source, stops, "transaction", url, examples, steps, options.seed))
        if services == ["console"] and (not options.only or "console" in options.only):
            url = suite.internal_url(IMPORTER)
            alone_here = bugs.with_one(document, "importEvents")
            side_by_side.append(Order(source, alone_here, "console", url, examples, steps, options.seed))
    side_by_side.sort(key=lambda order: -len(order.document["paths"]))
    return side_by_side, alone, last


def carry_out(run, world, order):
    return call(Suite(run), world, order)


def outcomes(run, world, groups, processes):
    context = multiprocessing.get_context("spawn")
    for group in groups:
        with concurrent.futures.ProcessPoolExecutor(processes, context, max_tasks_per_child=1) as pool:
            futures = [pool.submit(carry_out, run, world, order) for order in group]
            for future in concurrent.futures.as_completed(futures):
                yield future.result()


class Report:
    def __init__(self):
        self.passed = self.failed = 0
        self.statuses = collections.defaultdict(collections.Counter)
        self.findings = collections.defaultdict(dict)

    def take(self, outcome):
        for name, counts in outcome.statuses.items():
            self.statuses[outcome.order.source, name].update(counts)
        for finding, detail in outcome.findings.items():
            self.findings[outcome.order.source].setdefault(finding, detail)
        print(f"    {outcome.order.service}: {len(outcome.statuses)} operations, {outcome.seconds:.0f} s", flush=True)

    def count(self, is_good):
        self.passed += is_good
        self.failed += not is_good

    def table(self, all_orders):
        print(f"\n{'service':<13} {'operation':<27} {'requests':>8}  2xx  statuses")
        seen = set()
        for order in all_orders:
            for path, method, operation in openapi.operations(order.document):
                name = operation["operationId"]
                if (order.source, name) in seen:
                    continue
                seen.add((order.source, name))
                counts = self.statuses[order.source, name]
                good = sum(number for code, number in counts.items() if 200 <= code < 300)
                listed = " ".join(f"{code}:{number}" for code, number in sorted(counts.items()))
                shown = "every" if order.source == SHARED else order.service
                print(f"{shown:<13} {name:<27} {sum(counts.values()):>8}  {'yes' if good else 'NO ':<3}  {listed}")
                label = f"{method.upper()} {path}"
                self.count(good > 0 and all(found != label for found, *_ in self.findings[order.source]))

    def details(self):
        for source, found in self.findings.items():
            for (operation, check, title), detail in sorted(found.items()):
                print(f"\nfailed: {source}: {operation}: {check}: {title}\n{detail}")

    def bugs(self, found):
        print("\nbugs put into answers on purpose")
        for bug, findings in found:
            checks = {check for _, check, _ in findings}
            noticed = bug.check in checks if bug.check else not checks
            operations = ", ".join(sorted({operation for operation, *_ in findings}))
            named = f"{operations}: {', '.join(sorted(checks))}" if findings else "nothing found"
            print(f"{'ok    ' if noticed else 'FAILED'} {bug.what}, {bug.operation}: {named}")
            self.count(noticed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("run")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", type=lambda text: set(text.split(",")), default=set())
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.randrange(10**9) if options.full else SEED
    suite = Suite(options.run)
    print(f"seed {options.seed}", flush=True)
    made = World(suite)
    world = made.make()
    groups = orders(suite, options)
    report = Report()
    for outcome in outcomes(options.run, world, groups, processes=3):
        report.take(outcome)
    made.end_recoveries()
    everything = [order for group in groups for order in group]
    report.table(everything)
    if not options.only:
        report.bugs(bugs.search(suite, world, everything))
    report.details()
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
