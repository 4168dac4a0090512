"""Measures what every read costs the database for the heaviest user of a loaded suite.

usage: reads.py RUN DESCRIPTION    (RUN: the folder of a suite that Tests/Reads/run has loaded and started)

Fails when a read of the description is not covered or not answered, takes more than 50 ms of database time, or reads more
than 1.2 times the pages for the thousandth page of a list than for the first; and when a balance is not the ledger's.
"""
import csv
import datetime
import io
import pathlib
import re
import statistics
import subprocess
import sys
import time

import psycopg

from calls import Reads, World
from postgres_log import PostgresLog
from suite import Suite

MOST_MILLISECONDS = 50
MOST_GROWTH = 1.2
FAR = 1000
# The place that is measured and its neighbours: where a short page of rows begins on the pages of the disk is chance.
NEIGHBOURS = 9
# Enough runs of a statement for Postgres to choose the plan that it keeps.
WARM_UP = 7


class Score:
    def __init__(self):
        self.passed, self.failures = 0, []

    def check(self, holds, sentence):
        if holds:
            self.passed += 1
        else:
            self.failures.append(sentence)
            print(f"FAILED  {sentence}", flush=True)

    def end(self):
        print(f"{self.passed} passed, {len(self.failures)} failed")
        sys.exit(1 if self.failures else 0)


class Measurement:
    def __init__(self, run, description):
        self.run = run
        self.suite = Suite(run)
        self.admin_url = self.suite.servers["postgres"]
        self.log = PostgresLog(run / "servers" / "logs" / "postgres.log", self.admin_url)
        self.world = World(self.suite, self.url_of, datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=1))).date())
        self.reads = Reads(description, self.world)
        self.ledger = self.world.databases["transaction"]
        self.score = Score()

    def url_of(self, service):
        return self.admin_url.replace("/postgres?", f"/transfa_{service}?")

    def send(self, call, **more):
        if call.operation == "openStream":
            answer = self.suite.stream(call.resume, self.world.newest)
        else:
            answer = self.suite.get(call.service, call.url(**more))
        if answer.status != 200:
            raise LookupError(f"{call.name} was answered {answer.status}: {answer.body[:300]!r}")
        return answer

    # Every read -----------------------------------------------------------------------------------------------------------

    def measure_reads(self):
        for missing in self.reads.uncovered:
            self.score.check(False, f"{missing} is covered by no call: add its parameters to calls.py")
        calls = [c for call in self.reads.calls for c in self.with_resumes(call)]
        answered = []
        for call in calls:
            try:
                for _ in range(WARM_UP):
                    self.send(call)
                answered.append(call)
            except LookupError as problem:
                self.score.check(False, str(problem))
        self.log.log_durations()
        # Longer than the pause of everything that runs often.
        self.log.learn_background(11)
        results = [(call, self.log.measure(lambda c=call: self.send(c), 5)) for call in answered]
        self.log.log_nothing()
        print(f"\n{'ms':>8} {'median':>8}  read")
        for call, found in sorted(results, key=lambda r: -r[1].least):
            print(f"{found.least:>8.1f} {found.median:>8.1f}  {call.name}", flush=True)
            more = f"; the slowest statement: {found.slowest.text[:300]}" if found.slowest else ""
            # The least of the runs: with others on the cores, all of them are longer than what the statements take.
            self.score.check(found.least <= MOST_MILLISECONDS,
                             f"{call.name} took {found.least:.1f} ms of database time{more}")
            self.score.check(found.slowest is not None or self.needs_no_database(call), f"no statement was seen of {call.name}")

    @staticmethod
    def needs_no_database(call):
        return call.operation in ("listPlans", "openStream", "getImage", "getProfileCode", "listBanks")

    def with_resumes(self, call):
        """A stream that begins, one that goes on after messages, and one that has missed too many."""
        if call.operation != "openStream":
            return [call]
        resumed = []
        for resume in (None, max(0, self.world.newest - 900), 0):
            each = type(call)(call.operation, call.service, call.path)
            each.resume, each.name = resume, f"{call.path} after {'nothing' if resume is None else resume}"
            resumed.append(each)
        return resumed

    # Long lists -----------------------------------------------------------------------------------------------------------

    def rows_of(self, answer):
        body = answer.json()
        return next(body[k] for k in ("data", "transaction_history", "lines") if k in body), body.get("next_cursor")

    def cursor_after(self, call, maximum, skipped):
        """Walks with the real cursors."""
        cursor = None
        while skipped > 0:
            limit = min(maximum, skipped)
            rows, cursor = self.rows_of(self.send(call, **self.page(limit, cursor)))
            skipped -= len(rows)
            if cursor is None:
                raise LookupError(f"{call.name} ends {skipped} rows before its page {FAR:,}")
        return cursor

    def measure_lists(self, limit):
        self.log.log_nothing()
        places = []
        for call, maximum in self.reads.lists:
            try:
                far = self.neighbours(call, limit, self.cursor_after(call, maximum, limit * (FAR - 1)))
                places.append((call, self.neighbours(call, limit, None), far))
            except LookupError as problem:
                self.score.check(False, str(problem))
        self.log.log_plans()
        print(f"\n{'page 1':>8} {f'{FAR:,}':>8}  list, in pages of {limit}: 8-KiB pages that were read")
        for call, *cursors in places:
            near, far = (statistics.mean(self.pages_read(call, limit, c) for c in each) for each in cursors)
            print(f"{near:>8.1f} {far:>8.1f}  {call.name}")
            self.score.check(near > 0 and far <= near * MOST_GROWTH,
                             f"page {FAR:,} of {call.name} reads {far:.1f} pages, page 1 reads {near:.1f}")
        self.log.log_nothing()

    def neighbours(self, call, limit, cursor):
        """The cursors of a page and of those that follow it."""
        cursors = []
        while len(cursors) < NEIGHBOURS:
            cursors.append(cursor)
            rows, cursor = self.rows_of(self.send(call, **self.page(limit, cursor)))
            if len(rows) != limit or cursor is None:
                raise LookupError(f"{call.name} ends among the {NEIGHBOURS} pages that are measured")
        return cursors

    def pages_read(self, call, limit, cursor):
        return self.log.measure(lambda: self.send(call, **self.page(limit, cursor)), 3).pages

    @staticmethod
    def page(limit, cursor):
        return {"limit": limit} | ({"cursor": cursor} if cursor else {})

    # Balances -------------------------------------------------------------------------------------------------------------

    def check_balances(self):
        wallet = self.suite.get("transaction", "/wallet").json()
        (posted, held) = self.ledger.execute(
            "SELECT (SELECT coalesce(sum(e.amount), 0)::bigint FROM entries e JOIN users u ON u.wallet_id = e.account_id WHERE u.id = %s),"
            " (SELECT coalesce(sum(h.amount), 0)::bigint FROM holds h JOIN users u ON u.wallet_id = h.account_id"
            " WHERE u.id = %s AND h.state = 'active')", [self.suite.user] * 2).fetchone()
        self.score.check((wallet["posted"], wallet["held"]) == (posted, held), f"the wallet shows {wallet}, the ledger has {posted}, {held}")
        begin, end = self.world.begin, self.world.end
        opening, closing = self.ledger.execute(
            "SELECT coalesce(sum(e.amount) FILTER (WHERE lagos_day(e.posted_at) < %s), 0)::bigint,"
            " coalesce(sum(e.amount) FILTER (WHERE lagos_day(e.posted_at) <= %s), 0)::bigint"
            " FROM entries e JOIN users u ON u.wallet_id = e.account_id WHERE u.id = %s", [begin, end, self.suite.user]).fetchone()
        answer = self.suite.get("transaction", f"/statements?format=csv&from={begin}&to={end}")
        lines = list(csv.reader(io.StringIO(answer.body.decode())))
        if answer.status != 200 or len(lines) < 3:
            self.score.check(False, f"the statement of {begin} to {end} was answered {answer.status}: {answer.body[:300]!r}")
            return
        kobo = lambda naira: int(re.sub(r"[.,]", "", naira)) if naira else 0
        moved = sum(kobo(line[3]) - kobo(line[4]) for line in lines[2:-1])
        self.score.check((kobo(lines[1][5]), kobo(lines[-1][5])) == (opening, closing) and opening + moved == closing,
                         f"the statement of {begin} to {end} goes from {lines[1][5]} by {moved} to {lines[-1][5]}, the ledger from"
                         f" {opening} to {closing}")
        print(f"\nthe statement of a month has {len(lines) - 3} lines")

    def check_refusals(self):
        """seed-data says in one sentence what is wrong, and leaves databases alone that are in use."""
        script = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "seed-data"
        for arguments, word in ((["--run", str(self.run)], "holds other data"), (["--run", "/nowhere"], "--run names"),
                                (["--users", "five"], "--users must be a number"), (["--transactions", "100000", "--users", "9000"],
                                "at most 5000"), (["--until", "2026-02-30"], "--until must be a day"), (["--much"], "no option --much")):
            ended = subprocess.run([script, *arguments], capture_output=True, text=True, check=False)
            said = ended.stderr.strip()
            self.score.check(ended.returncode != 0 and word in said and "\n" not in said, f"seed-data {' '.join(arguments)} said: {said[-300:]}")

    def check_books(self):
        begun = time.monotonic()
        broken = self.ledger.execute("SELECT name, detail FROM check_invariants()").fetchmany(5)
        self.score.check(not broken, f"the books are broken: {broken}")
        print(f"the ledger's invariants were checked in {time.monotonic() - begun:.1f} s", flush=True)


def main():
    run, description = sys.argv[1:]
    begun = time.monotonic()
    measurement = Measurement(pathlib.Path(run), description)
    transactions = measurement.ledger.execute("SELECT count(*) FROM transfers").fetchone()[0]
    measurement.check_books()
    measurement.check_balances()
    measurement.check_refusals()
    measurement.measure_reads()
    # A thousand pages of what the heaviest user has of each kind, at most as long as a client gets without asking.
    measurement.measure_lists(max(1, min(20, transactions // 50_000)))
    print(f"{len(measurement.reads.calls)} reads of {transactions:,} transactions measured in {time.monotonic() - begun:.0f} s")
    measurement.score.end()


if __name__ == "__main__":
    main()
