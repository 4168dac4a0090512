#!/usr/bin/env python3
"""Stories of what counts as evidence about an order at the provider: calls that were lost, refusals, absences.

usage: evidence_test.py [part of a name ...]
"""
import datetime as dt, sys

sys.dont_write_bytecode = True

import ledger as L
from stage import NOON, equal, story, tell_stories

PROPOSE = "SELECT result FROM propose_outcome(%s, %s, 'failed', 'seen on the statement', 'eve', interval '24 hours', %s)"
APPROVE = "SELECT result FROM approve_outcome(%s, 'mallory', %s, %s)"
FINISH = "SELECT finish_calls(ARRAY[%s::text], ARRAY[%s::integer], ARRAY[%s::text], %s)"
RESEND = "SELECT verdict FROM begin_resend(ARRAY[%s::uuid], 'test', '10 seconds', %s)"


def at(seconds): return NOON + dt.timedelta(seconds=seconds)


def called(s, id, outcome, seconds, attempt=1):
    """A call has ended; what it says decides nothing."""
    s.one(FINISH, f"trf-{id}", attempt, outcome, at(seconds))
    s.settle(id, "unknown", now=at(seconds))


def absent(s, id, seconds):
    return s.one("SELECT verdict FROM record_absence(ARRAY[%s::uuid], %s)", id, at(seconds))[0]


def failed_by_people(s, id, proposed, approved):
    proposal = L.v7()
    equal(s.one(PROPOSE, proposal, id, at(proposed)), ("open",))
    return s.one(APPROVE, proposal, L.v7(), at(approved))[0]


@story("two people fail no transfer whose order was lost and may still arrive, whenever its caller gave up")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    id = s.sent(ann, bob, 300)
    called(s, id, "lost", 1)
    for seconds in (3, 129): equal(failed_by_people(s, id, 2, seconds), "overtaken")
    equal((s.state(id), s.wallet(ann)), ("unknown", (1000, 300)))
    s.settle(id, "completed", now=at(129))
    equal((s.wallet(ann), s.wallet(b)), ((700, 0), (300, 0)))
    gone = s.sent(ann, bob, 300)
    called(s, gone, "lost", 1)
    equal((failed_by_people(s, gone, 129, 130), s.wallet(ann)), ("approved", (700, 0)))


@story("an order that was answered, or that never left, is not waited for")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    for outcome in ("answered", "refused", "unsent"):
        id = s.sent(ann, bob, 100)
        called(s, id, outcome, 1)
        equal(failed_by_people(s, id, 2, 3), "approved")
    for outcome in ("something new", None):
        id = s.sent(ann, bob, 100)
        called(s, id, outcome, 1)
        equal(failed_by_people(s, id, 2, 3), "overtaken")


@story("what was absent, known and absent again was not absent twice, whatever its state was")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    for state in ("submitted", "unknown"):
        id = s.sent(ann, bob, 100)
        if state == "unknown": called(s, id, "lost", 1)
        equal((s.state(id), absent(s, id, 180)), (state, "wait"))
        s.settle(id, "open", now=at(240))
        equal((s.state(id), absent(s, id, 1800), s.one(RESEND, id, at(1800))), ("submitted", "wait", ("wait",)))
        equal((absent(s, id, 1919), absent(s, id, 1920), s.one(RESEND, id, at(1920))), ("wait", "resend", ("send",)))


@story("what was refused and then absent twice has failed, and is not sent again")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    id = s.sent(ann, bob, 100)
    called(s, id, "lost", 1)
    equal([absent(s, id, n) for n in (130, 250)], ["wait", "resend"])
    equal(s.one(RESEND, id, at(250)), ("send",))
    called(s, id, "refused", 251, attempt=2)                      # says nothing about the first
    equal([absent(s, id, n) for n in (379, 380, 499)], ["wait"] * 3)
    equal((absent(s, id, 500), s.state(id), s.one(RESEND, id, at(500))), ("refused", "unknown", ("wait",)))
    s.settle(id, "failed", now=at(500))
    equal((absent(s, id, 501), s.wallet(ann)), ("ended", (1000, 0)))


if __name__ == "__main__":
    tell_stories("evidence")
