#!/usr/bin/env python3
"""Stories of what other services say when it is heard late, in another order, by a wrong clock, or beside a settlement: the
newest word about each fact counts, what is final stays, and a frozen creator's drop pays nobody.

usage: order_of_events_test.py [part of a name ...]
"""
import datetime as dt, sys, threading, uuid

sys.dont_write_bytecode = True

import ledger as L
from drops import arrive, claim, created, slots, until_waiting
from stage import DAY, HOUR, NOON, equal, story, tell_stories

SECOND = dt.timedelta(seconds=1)


def hear(s, what, *values):
    marks = {"tier": "%s, %s::smallint, %s", "revocation": "%s, %s, %s"}.get(what, ", ".join(["%s"] * len(values)))
    s.worker.execute(f"SELECT hear_{what}({marks})", values)


def restricted(s, user, status, sequence): hear(s, "restriction", user, status, status != "active", sequence)


def added(s, account, user, sequence, is_default=False):
    hear(s, "beneficiary", account, user, f"bank-{account}", is_default, "000", NOON - 9 * DAY, sequence)


def device(s, id, user, sequence=1, activated=NOON - 9 * DAY):
    s.worker.execute("SELECT note_device(%s, %s, '\\x01', %s, %s, %s)", [id, user, activated, sequence, NOON])


def default(s, user): return (s.one("SELECT (default_beneficiary(%s)).id", user) or (None,))[0]


@story("a freezing that is heard after newer settings and a newer tier counts; an older word about the same does not")
def _(s):
    (ann_, ann), (bob, _) = s.user(funds=1000), s.user()
    hear(s, "settings", ann, True, "external", "nobody", 6)
    hear(s, "tier", ann, 2, 7)
    restricted(s, ann, "frozen", 5)
    equal(s.pay(ann, bob, 10)[0], "sender_restricted")
    restricted(s, ann, "active", 4)
    equal(s.pay(ann, bob, 10)[0], "sender_restricted")
    hear(s, "settings", ann, False, "wallet", None, 3)
    hear(s, "tier", ann, 0, 2)
    restricted(s, ann, "active", 8)
    equal(s.pay(ann, bob, 10)[0], "accepted")
    equal(s.one("SELECT tier, receive_preference, request_policy FROM users WHERE id = %s", ann), (2, "external", "nobody"))
    hear(s, "settings", ann, False, "wallet", "contacts", 7)
    equal(s.one("SELECT receive_preference, request_policy FROM users WHERE id = %s", ann), ("wallet", "contacts"))
    equal(s.pay(ann, bob, 10)[0], "receive_only")


@story("closed counts whenever it is heard, and nothing opens a profile again")
def _(s):
    _, ann = s.user()
    restricted(s, ann, "active", 5)
    restricted(s, ann, "closed", 4)
    equal(s.one("SELECT status, debits_blocked FROM users WHERE id = %s", ann), ("closed", True))
    restricted(s, ann, "active", 6)
    equal(s.one("SELECT status, debits_blocked FROM users WHERE id = %s", ann), ("closed", True))


@story("a device that was revoked before it was heard of approves nothing; a revoked one stays so")
def _(s):
    (_, ann), (bob, b), phone, other = s.user(funds=1000), s.user(), uuid.uuid4(), uuid.uuid4()
    hear(s, "revocation", phone, ann, 6)
    device(s, phone, ann, 5)
    equal(s.pay(ann, bob, 10, device=phone)[0], "device_revoked")
    device(s, other, ann)
    equal(s.pay(ann, bob, 10, device=other)[0], "accepted")
    hear(s, "revocation", other, b, 8)                   # no device of theirs
    equal(s.pay(ann, bob, 10, device=other)[0], "accepted")
    hear(s, "revocation", other, ann, 7)
    revoked = s.one("SELECT revoked_at FROM devices WHERE id = %s", other)
    hear(s, "revocation", other, ann, 7)
    equal(s.pay(ann, bob, 10, device=other)[0], "device_revoked")
    equal(s.one("SELECT revoked_at FROM devices WHERE id = %s", other), revoked)


@story("an account is the default by the newest choice, in whatever order accounts and choices are heard")
def _(s):
    _, ann = s.user(bank=False)
    first, second = uuid.uuid4(), uuid.uuid4()
    hear(s, "default", ann, second, 7)                   # chosen before it was heard of
    equal(default(s, ann), None)
    added(s, first, ann, 5, is_default=True)
    equal(default(s, ann), None)
    added(s, second, ann, 6)
    equal(default(s, ann), second)
    hear(s, "default", ann, first, 8)
    equal(default(s, ann), first)
    hear(s, "default", ann, second, 7)
    equal(default(s, ann), first)
    hear(s, "default", ann, None, 9)
    equal(default(s, ann), None)


@story("an account that was removed before it was heard of takes no money, nor when it is chosen")
def _(s):
    (bob, b), (_, ann), account = s.user(bank=False), s.user(funds=1000), uuid.uuid4()
    hear(s, "removal", account, b)
    added(s, account, b, 3, is_default=True)
    hear(s, "default", b, account, 4)
    equal(default(s, b), None)
    equal(s.one("SELECT route_reason FROM transfers WHERE id = %s", s.paid(ann, bob, 10)), ("no_beneficiary",))
    added(s, second := uuid.uuid4(), b, 5, is_default=True)
    equal(default(s, b), second)
    hear(s, "removal", second, b)
    removed = s.one("SELECT deleted_at, is_default FROM beneficiaries WHERE id = %s", second)
    equal((removed[0] is not None, removed[1], default(s, b)), (True, False, None))
    hear(s, "removal", second, b)
    equal(s.one("SELECT deleted_at, is_default FROM beneficiaries WHERE id = %s", second), removed)


@story("the drop of a creator who may not send pays nobody, neither who claims nor who has claimed, and goes on afterwards")
def _(s):
    (_, ann), (_, bob), (_, cat), (_, dan) = s.user(funds=1000), s.user(), s.user(), s.user()
    drop, _ = created(s, ann, 100, 3)
    (_, sent), (_, unsent) = claim(s.handler, bob, drop), claim(s.handler, cat, drop)
    equal(L.submit(s.worker, [sent], NOON), ["send"])
    for frozen in [dict(status="frozen", debits_blocked=True), dict(status="active", debits_blocked=True)]:
        s.change(ann, **frozen)
        equal(claim(s.handler, dan, drop), ("drop_paused", None))
    equal((L.submit(s.worker, [unsent], NOON), s.state(unsent)), (["failed"], "failed"))
    s.settle(sent, "completed")                          # it had left
    equal(slots(s, drop), {"paid": 1, "open": 2})
    s.change(ann, status="active", debits_blocked=False)
    again = [claim(s.handler, who, drop)[1] for who in (cat, dan)]
    arrive(s, again)
    equal((s.wallet(bob), s.wallet(cat), s.wallet(dan)), ((100, 0),) * 3)


@story("what was claimed from somebody who has closed their profile since is paid: the drop ends, it does not pause")
def _(s):
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    drop, _ = created(s, ann, 100, 1)
    _, claimed = claim(s.handler, bob, drop)
    restricted(s, ann, "closed", 1)
    arrive(s, [claimed])
    equal(s.wallet(bob), (100, 0))


@story("what a frozen creator's drop holds goes back when it ends, and waits for the creator in suspense")
def _(s):
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    drop, _ = created(s, ann, 100, 2)
    s.change(ann, status="frozen", debits_blocked=True)
    s.worker.execute("SELECT sweep_money_drops(100, %s)", [NOON + 2 * HOUR])
    equal(claim(s.handler, bob, drop, NOON + 2 * HOUR), ("drop_expired", None))
    (refund, reason), = s.worker.execute("SELECT id, route_reason FROM transfers WHERE parent_id = %s AND type = 'drop_refund'",
                                         [drop]).fetchall()
    equal(reason, "suspense")
    arrive(s, [refund], NOON + 2 * HOUR)


@story("free transfers that an operator gives back are used, taken away again, and the books hold")
def _(s):
    (bob, b), (_, ann) = s.user(), s.user(funds=10000)
    adjust = lambda delta, now=NOON: s.worker.execute("SELECT adjust_slots(%s, %s, %s, NULL, %s)", [b, delta, L.v7(now), now])
    routes = lambda n, now=NOON: [s.pay(ann, bob, 10, now).route for _ in range(n)]
    equal(routes(6), ["external"] * 5 + ["internal"])
    adjust(-3)
    equal(routes(4), ["external"] * 3 + ["internal"])
    equal((s.slots(b), L.broken_invariants(s.worker)), (8, []))
    adjust(+3)
    equal((routes(1), L.broken_invariants(s.worker)), (["internal"], []))
    adjust(-1)
    equal((routes(1), L.broken_invariants(s.worker)), (["internal"], []))
    june = NOON + 31 * DAY
    equal(routes(6, june), ["external"] * 5 + ["internal"])
    equal(s.one("SELECT slots_used, slots_adjusted, slots_forgiven FROM receiving_counters WHERE user_id = %s", b), (5, 0, 0))


@story("more free transfers than were given back break the books")
def _(s):
    (bob, b), (_, ann) = s.user(), s.user(funds=10000)
    for _ in range(5): s.paid(ann, bob, 10)
    s.worker.execute("SELECT adjust_slots(%s, -1, %s, NULL, %s)", [b, L.v7(NOON), NOON])
    s.paid(ann, bob, 10)
    with s.owner.transaction(force_rollback=True):
        s.owner.execute("UPDATE receiving_counters SET slots_forgiven = 0, slots_adjusted = 0 WHERE user_id = %s", [b])
        equal(L.broken_invariants(s.owner), [("I9 free slots used are slots held", str(b))])


class Clock:
    """One source whose clock differs from ours; the others have been heard."""

    def __init__(self, s):
        self.c, self.now = s.worker, NOON
        self.c.execute("UPDATE source_heartbeats SET beat_at = CASE source WHEN 'auth' THEN '-infinity' ELSE %s END", [NOON + DAY])

    def beats(self, seconds, off=0, late=lambda n: 0):
        """Beats every five seconds, each heard `late` seconds later. Whether the source looked fresh after each."""
        fresh = []
        for n in range(seconds // 5):
            self.now += 5 * SECOND
            self.c.execute("SELECT beat('auth', %s, %s)", [self.now + (off - late(n)) * SECOND, self.now])
            fresh.append(self.c.execute("SELECT read_model_is_fresh(%s)", [self.now]).fetchone()[0])
        return fresh

    def is_fresh(self, seconds=0):
        return self.c.execute("SELECT read_model_is_fresh(%s)", [self.now + seconds * SECOND]).fetchone()[0]


@story("a clock that is wrong, by however much and either way, silences its source for minutes and not for ever")
def _(s):
    for off in (-40, -7200, 40, 7200):
        with s.worker.transaction(force_rollback=True):
            clock = Clock(s)
            assert all(clock.beats(60)), "a right clock"
            clock.beats(900, off)
            assert all(clock.beats(60, off)), f"off by {off}"
            equal((clock.is_fresh(29), clock.is_fresh(31)), (True, False))
            clock.beats(900)
            assert all(clock.beats(60)), f"right again after {off}"


@story("beats that wait in a queue do not look fresh, however long it takes to empty, and one from far ahead counts once")
def _(s):
    for off in (0, -40):
        with s.worker.transaction(force_rollback=True):
            clock = Clock(s)
            clock.beats(900, off)
            clock.now += HOUR
            # It empties at twice the speed of what comes: beats are of another age each time.
            waiting = clock.beats(3500, off, lambda n: 3600 - 5 * n)
            assert not any(waiting), f"{waiting.index(True)}"
            clock.beats(300, off)
            assert all(clock.beats(60, off))
            clock.c.execute("SELECT beat('auth', %s, %s)", [clock.now + 30 * DAY, clock.now])
            equal((clock.is_fresh(29), clock.is_fresh(31)), (True, False))
            assert all(clock.beats(600, off))


@story("devices and corrections heard in one go, beside a settlement of the same people, never deadlock")
def _(s):
    (ann_, ann), (bob, b) = s.user(tier=1, funds=5000), s.user(tier=1, funds=5000)
    ids = [s.sent(ann, bob, 10), s.sent(b, ann_, 10)]
    before = s.owner.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").fetchone()[0]
    with L.connect(s.database, "worker", True) as hearing, L.connect(s.database, "worker", True) as settling:
        answers = []
        other = threading.Thread(target=lambda: answers.extend(L.settle(settling, [(i, "completed") for i in ids], NOON)))
        with hearing.transaction():
            hearing.execute("SELECT lock_heard(%s, %s, %s)", [[ann, b], [NOON - HOUR] * 2, [ann, b]])
            hearing.execute("SELECT adjust_slots(%s, 0, %s, NULL, %s)", [b, L.v7(NOON), NOON])
            other.start()
            until_waiting(s)
            for user in (b, ann):
                hearing.execute("SELECT note_device(%s, %s, '\\x01', %s, 1, %s)", [uuid.uuid4(), user, NOON - HOUR, NOON])
        other.join()
    equal(answers, ["completed"] * 2)
    equal(s.owner.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").fetchone()[0], before)


if __name__ == "__main__":
    tell_stories("order of events")
