#!/usr/bin/env python3
"""Stories of limits: they belong to a person, hold on every way, and every end gives back what it took.

usage: limits_test.py [part of a name ...]
"""
import datetime as dt, sys, uuid

sys.dont_write_bytecode = True

import ledger as L
from caps_test import caps
from drops import arrive, claim, created, end, order, refunds, sweep
from stage import DAY, HOUR, NOON, STORIES, equal, story, tell_stories, together

STORIES.clear()                                                 # those of caps_test are told there
MIDNIGHT = dt.datetime(2026, 5, 15, 23, tzinfo=L.UTC)           # the end of the day of NOON in Lagos
COARSE = dt.datetime(2027, 1, 15, 11, tzinfo=L.UTC)             # rooms are told in steps of 10,000, thrice; see ledger.py
JUNE = dt.datetime(2026, 5, 31, 23, tzinfo=L.UTC)


def ended(s, creator, drop, now=NOON, outcome="completed"):
    """Ends a drop, and its refund with an outcome. The refund."""
    equal(end(s.handler, creator, drop, now), "ended")
    refund = refunds(s, drop)[-1][0]
    arrive(s, [refund], now, outcome)
    return refund


def first_day(s, device): return s.one("SELECT first_day_total FROM devices WHERE id = %s", device)[0]


def new_phone(s, user):
    device = uuid.uuid4()
    s.worker.execute("SELECT note_device(%s, %s, 'key', %s, 1, %s)", [device, user, NOON - HOUR, NOON - HOUR])
    return device


# The ceiling of a wallet -----------------------------------------------------------------------------------------------

@story("what lies in one's drops counts towards the ceiling on every way in, until it is claimed")
def _(s):
    (ann, a), (_, bob) = s.user(funds=90_000, tier=2, bank=False), s.user(funds=200_000)
    drop, _ = created(s, a, 2000, 10)
    others, _ = created(s, bob, 1, 1)
    def ways():
        """Whether a kobo comes in: from outside, from a friend, from another's drop."""
        payment = L.fund(s.worker, f"{ann}-account", 1, now=NOON)[2]
        return payment, s.pay(bob, ann, 1)[0], claim(s.handler, a, others)[0]
    full = ("suspense", "recipient_limit", "recipient_limit")
    equal((s.wallet(a), ways()), ((70_000, 0), full))
    equal(caps(s, a, "recipient_limit"), [("kobo", 90_000, 90_000, 0, None, None)])
    taken = claim(s.handler, bob, drop)[1]
    equal(ways(), full)                                         # the claim may fail
    arrive(s, [taken])
    equal(caps(s, a, "recipient_limit"), [("kobo", 90_000, 88_000, 2000, None, None)])
    equal(end(s.handler, a, drop), "ended")
    s.settle(s.sent(bob, ann, 2000), "completed")
    equal(ways(), full)                                         # the refund is under way
    arrive(s, [refunds(s, drop)[0][0]])
    equal((s.wallet(a), ways()), ((90_000, 0), full))
    equal(caps(s, a, "recipient_limit"), [("kobo", 90_000, 90_000, 0, None, None)])


@story("what waits in suspense is not released, and no payment switched, into a wallet that drops will fill")
def _(s):
    (ann, a), (_, bob) = s.user(funds=90_000, tier=2, plan=True), s.user(funds=200_000)
    waits = L.fund(s.worker, f"{ann}-account", 100, now=NOON)
    equal(waits[2], "suspense")
    drop, _ = created(s, a, 10_000, 2)
    leaving = s.paid(bob, ann, 100)
    s.worker.execute("UPDATE beneficiaries SET deleted_at = %s WHERE user_id = %s", [NOON, a])
    equal((L.submit(s.worker, [leaving], NOON), s.one("SELECT failure_reason FROM transfers WHERE id = %s", leaving)[0]),
          (["failed"], "recipient_limit"))
    def release():
        id = uuid.uuid4()
        equal(s.worker.execute("SELECT result FROM propose_release(%s, %s, 'credit', 'theirs', 'ada', %s)", [id, waits[0], NOON]).fetchone(), ("proposed",))
        answer = s.worker.execute("SELECT result FROM decide_release(%s, 'ben', true, %s)", [id, NOON]).fetchone()[0]
        if answer != "approved": s.worker.execute("SELECT result FROM decide_release(%s, 'ben', false, %s)", [id, NOON])
        return answer
    equal(release(), "recipient_limit")
    arrive(s, [claim(s.handler, bob, drop)[1]])
    equal(release(), "approved")


@story("a drop on its way is still in the wallet and counts once; one that failed, or was taken back, not at all")
def _(s):
    (_, ann), (_, bob) = s.user(funds=90_000, tier=2), s.user()
    def used(): return caps(s, ann, "recipient_limit")[0][2]
    def funding():
        q = order(ann, 1000, 5)
        id = L.place(s.handler, [q], NOON)[0][1]
        equal((L.submit(s.worker, [id], NOON), used()), (["send"], 90_000))
        return q["target"], id
    s.settle(funding()[1], "failed")
    equal(used(), 90_000)
    drop, id = funding()
    s.settle(id, "completed")
    equal(used(), 90_000)
    paid = claim(s.handler, bob, drop)[1]
    arrive(s, [paid])
    equal(used(), 89_000)
    s.settle(paid, "reversed")                                  # the slot is open again
    equal(used(), 90_000)
    s.settle(id, "reversed")
    equal((used(), s.wallet(ann)[0]), (90_000, 90_000))


# What comes back -------------------------------------------------------------------------------------------------------

@story("what of a drop comes back unclaimed gives back the day, the month and the first day of a device")
def _(s):
    (_, ann), (bob, b) = s.user(funds=300_000), s.user(plan=True)
    s.worker.execute("INSERT INTO user_limits (user_id, per_day) VALUES (%s, 5000)", [ann])
    phone = new_phone(s, ann)
    drop, _ = created(s, ann, 500, 10, device=phone)
    equal((s.spent(ann), first_day(s, phone), s.pay(ann, bob, 1)[0]), ((5000, 5000), 5000, "limit_per_day"))
    arrive(s, [claim(s.handler, b, drop)[1]])
    equal(end(s.handler, ann, drop), "ended")
    equal((s.spent(ann), first_day(s, phone)), ((5000, 5000), 5000))     # not before it has arrived
    arrive(s, [refunds(s, drop)[0][0]])
    equal((s.spent(ann), first_day(s, phone)), ((500, 500), 500))
    equal(caps(s, ann, "limit_per_day")[0][1:4], (5000, 500, 4500))
    equal([s.pay(ann, bob, a)[0] for a in (4501, 4500)], ["limit_per_day", "accepted"])


@story("what comes back a day later gives back the month, and a month later nothing")
def _(s):
    (_, ann), (bob, _) = s.user(funds=300_000), s.user(plan=True)
    phone = new_phone(s, ann)
    late = dict(expires=JUNE + DAY, device=phone)
    for now in (MIDNIGHT, JUNE):
        drop, _ = created(s, ann, 100, 2, now - HOUR, **late)
        s.paid(ann, bob, 7, now)
        before = first_day(s, phone)
        ended(s, ann, drop, now)
        equal((s.spent(ann)[0], before - first_day(s, phone)), (7, 200 if now == MIDNIGHT else 0))
        equal(s.spent(ann)[1], 7)


@story("a refund gives back once: not when it fails, not what its funding gives back later, and not what is taken back again")
def _(s):
    (_, ann), (_, bob) = s.user(funds=100_000), s.user()
    phone = new_phone(s, ann)
    def counted(): return *s.spent(ann), first_day(s, phone)
    drop, funding = created(s, ann, 1000, 3, device=phone)
    arrive(s, [claim(s.handler, bob, drop)[1]])
    ended(s, ann, drop, outcome="failed")
    equal(counted(), (3000, 3000, 3000))
    sweep(s.worker, NOON + HOUR)
    second = refunds(s, drop)[-1][0]
    arrive(s, [second], NOON + HOUR)
    equal(counted(), (1000, 1000, 1000))
    s.settle(second, "reversed", now=NOON + HOUR)
    equal(counted(), (3000, 3000, 3000))
    sweep(s.worker, NOON + 2 * HOUR)
    arrive(s, [refunds(s, drop)[-1][0]], NOON + 2 * HOUR)
    equal(counted(), (1000, 1000, 1000))
    s.settle(funding, "reversed", now=NOON + 2 * HOUR)
    equal(counted(), (0, 0, 0))
    other, funding = created(s, ann, 1000, 3, NOON + 2 * HOUR, expires=NOON + 9 * HOUR, device=phone)
    equal(end(s.handler, ann, other, NOON + 2 * HOUR), "ended")
    refund = refunds(s, other)[0][0]
    equal(L.submit(s.worker, [refund], NOON + 2 * HOUR), ["send"])
    s.settle(funding, "reversed", now=NOON + 2 * HOUR)
    s.settle(refund, "completed", now=NOON + 2 * HOUR)          # it was under way
    equal(counted(), (0, 0, 0))


@story("a refund gives back also when it waits in suspense, and a phone that is heard of late counts what stayed away")
def _(s):
    (_, ann), (_, bob), phone = s.user(funds=100_000), s.user(), uuid.uuid4()
    drop, _ = created(s, ann, 1000, 3)
    arrive(s, [claim(s.handler, bob, drop)[1]])
    s.change(ann, credits_blocked=True)
    ended(s, ann, drop)
    equal((s.spent(ann), s.wallet(ann)[0]), ((1000, 1000), 97_000))
    s.worker.execute("SELECT note_device(%s, %s, 'key', %s, 1, %s)", [phone, ann, NOON - HOUR, NOON + HOUR])
    equal(first_day(s, phone), 1000)


@story("every end of an order gives back every reservation: what failed or was taken back holds nothing")
def _(s):
    def made(): return s.user(funds=3_000_000), s.user(bank=False, tier=2), s.user(), uuid.uuid4()
    def bank_of(user): return s.one("SELECT id FROM beneficiaries WHERE user_id = %s", user)[0]
    def begin(kind, a, name, b, friend, f, request, phone):
        """An order of each kind, which reserves all that it can."""
        if kind == "to a wallet": return s.paid(a, name, 1000, device=phone, target=request, id=L.v7(NOON))
        if kind == "to a bank": return s.paid(a, friend, 1000, device=phone, id=L.v7(NOON))
        if kind == "withdrawal":
            return s.paid(a, None, 1000, device=phone, id=L.v7(NOON), route="withdraw", type="self_transfer", target=bank_of(a))
        q = order(a, 500, 2, device=phone, id=L.v7(NOON))
        return L.place(s.handler, [q], NOON)[0][1]
    def reserved(a, b, f, request, phone):
        return dict(wallet=s.wallet(a)[1], spent=s.spent(a), device=first_day(s, phone), slot=s.slots(f), taken=s.owner.execute(
            "SELECT sent_to_new_accounts(%s, %s)", [a, NOON - DAY]).fetchone()[0], incoming=s.one("SELECT incoming FROM receiving_counters"
            " WHERE user_id = %s", b)[0], request=s.one("SELECT state FROM payment_requests WHERE id = %s", request)[0])
    none = dict(wallet=0, spent=(0, 0), device=0, slot=0, taken=0, incoming=0, request="open")
    takes = {"to a wallet": dict(incoming=1000, request="processing"), "to a bank": dict(slot=1), "withdrawal": dict(taken=1000), "drop": {}}
    for kind in takes:
        for how in ("refused again", "a day old", "failed", "reversed at once", "reversed later"):
            (_, a), (name, b), (friend, f), request = made()
            s.owner.execute("UPDATE beneficiaries SET added_at = %s WHERE user_id = %s", [NOON - HOUR, a])
            phone = new_phone(s, a)
            equal(s.handler.execute("SELECT create_payment_request(%s, %s, NULL, 1000, NULL, 'https://x/r/1', %s, NULL, NULL, %s)",
                                    [request, b, NOON + 20 * DAY, NOON]).fetchone(), ("created",))
            id = begin(kind, a, name, b, friend, f, request, phone)
            equal(reserved(a, b, f, request, phone), none | dict(wallet=1000, spent=(1000, 1000), device=1000) | takes[kind])
            if how == "refused again": s.change(a, debits_blocked=True)
            equal(L.submit(s.worker, [id], NOON + 25 * HOUR if how == "a day old" else NOON),
                  ["failed" if how in ("refused again", "a day old") else "send"])
            if how == "failed": s.settle(id, "failed")
            if how == "reversed at once": s.settle(id, "reversed")
            if how == "reversed later": s.settle(id, "completed", "reversed")
            equal((kind, how, reserved(a, b, f, request, phone)), (kind, how, none))
            equal(s.wallet(a), (3_000_000, 0))


# What others have ------------------------------------------------------------------------------------------------------

def halving(s, sender, to, low, high, now):
    """Looks for the least amount that is refused. How each amount was answered."""
    answers = []
    while low < high:
        middle = (low + high) // 2
        answers.append((middle, s.pay(sender, to, middle, now)[0]))
        low, high = (middle + 1, high) if answers[-1][1] == "accepted" else (low, middle)
    return answers


@story("whoever could not pay is told about themselves, whatever somebody else has")
def _(s):
    (_, poor), (_, small), (_, quoted) = s.user(), s.user(funds=300_000, tier=1), s.user(funds=90_000)
    (full, f), (empty, _) = s.user(funds=90_000, tier=2, bank=False), s.user(tier=2, bank=False)
    for to in (full, empty):
        equal({c for _, c in halving(s, poor, to, 1, 90_001, NOON)}, {"insufficient_funds"})
        equal(s.pay(small, to, 5001)[0], "limit_per_transfer")
        equal(s.pay(quoted, to, 1, details='{"quote": {"cost": -1, "expires_at": "2999-01-01T00:00:00Z"}}')[0], "quote_changed")
    equal(s.owner.execute("SELECT count(*) FROM room_refusals WHERE recipient_id = %s", [f]).fetchone(), (0,))


@story("nobody finds a balance by halving: rooms of one step are told alike, and after three refusals a day nothing fits")
def _(s):
    (_, rich), (other, o) = s.user(funds=10**9), s.user(funds=10**9)
    def wallet(funds): return s.user(funds=funds, tier=2, bank=False)[0]
    for funds in (50_001, 55_555, 60_000):                      # 39,999 to 30,000 would fit
        to = wallet(funds)
        equal([s.pay(rich, to, a, COARSE)[0] for a in (39_999, 30_001, 30_000)], ["recipient_limit", "recipient_limit", "accepted"])
    held = wallet(55_555)
    equal([s.pay(rich, held, a, COARSE)[0] for a in (90_000, 30_001, 34_445, 1)], ["recipient_limit"] * 4)
    equal([s.pay(o, held, a, COARSE)[0] for a in (30_001, 20_000)], ["recipient_limit", "accepted"])
    midnight = COARSE.replace(hour=23)
    days = [(1, midnight - dt.timedelta(milliseconds=1)), (1, midnight), (90_000, midnight), (2, midnight)]
    equal([s.pay(rich, held, *d)[0] for d in days], ["recipient_limit", "accepted", "recipient_limit", "accepted"])
    equal(s.pay(rich, other, 1, COARSE)[0], "accepted")


@story("refusals count in a batch too, once per approval, and only for the wallet that they are of")
def _(s):
    (_, rich), (a, _), (b, _) = s.user(funds=10**9), s.user(tier=2, bank=False), s.user(tier=2, bank=False)
    batch = [L.request(rich, to, amount) for to, amount in ((a, 90_001), (b, 90_001), (a, 90_002), (a, 1), (a, 90_003), (a, 2), (b, 1))]
    equal([x[0] for x in L.place(s.handler, batch, COARSE)],
          ["recipient_limit", "recipient_limit", "recipient_limit", "accepted", "recipient_limit", "recipient_limit", "accepted"])
    c, _ = s.user(tier=2, bank=False)
    again = [L.request(rich, c, 90_001)]
    equal([L.place(s.handler, again, COARSE)[0].code for _ in range(5)], ["recipient_limit"] * 5)
    equal(s.pay(rich, c, 1, COARSE)[0], "accepted")
    def kept(): return s.owner.execute("SELECT count(*) FROM room_refusals WHERE sender_id = %s", [rich]).fetchone()[0]
    old = kept()
    s.worker.execute("SELECT prune_orders(%s, %s, 1000)", [COARSE - DAY, COARSE + 2 * DAY])
    equal((old, kept()), (3, 0))


@story("a wallet that banks never pay around, or that has no ceiling, takes what comes")
def _(s):
    (_, rich), (plan, _), (free, _) = s.user(funds=10**9), s.user(funds=89_999, tier=2, plan=True), s.user(bank=False)
    equal([s.pay(rich, to, 100_000, COARSE)[0] for to in (plan, free) for _ in range(5)], ["accepted"] * 10)


# Free slots ------------------------------------------------------------------------------------------------------------

@story("what is tiny takes nobody's free slot, unless a plan pays, and the quote says so")
def _(s):
    (_, rich), (free, f), (plan, _) = s.user(funds=10**9), s.user(), s.user(plan=True)
    def quoted(to, amount): return s.handler.execute("SELECT route, route_reason FROM quote_payment(%s, %s, %s, %s)",
                                                     [rich, to, amount, COARSE]).fetchone()
    def went(to, amount):
        quote = quoted(to, amount)
        id = s.paid(rich, to, amount, COARSE)
        equal(s.one("SELECT route, route_reason FROM transfers WHERE id = %s", id), quote)
        return quote[1]
    equal([went(free, a) for a in (100, 1, 9999) for _ in range(5)], ["below_minimum"] * 15)
    equal((went(plan, 100), s.slots(f), went(free, 1_500_000), went(free, 10_000), s.slots(f)), ("plan", 0, "free_slot", "free_slot", 2))
    for _ in range(3): went(free, 10_000)
    equal((went(free, 10_000), went(free, 9999), quoted(free, 100)), ("no_slot", "below_minimum", ("internal", "below_minimum")))


# Passwords of drops ----------------------------------------------------------------------------------------------------

@story("of 25 tries of a drop's password at once five may be looked at; what was right, or not looked at, counts no more")
def _(s):
    (_, ann), (_, bob), (_, carl) = s.user(funds=1000), s.user(), s.user()
    drop, _ = created(s, ann, 10, 1, password="right")
    def tries(c, user=bob, now=NOON): return c.execute("SELECT try_drop_password(%s, %s, %s)", [drop, user, now]).fetchone()[0]
    def give_back(): s.handler.execute("SELECT give_back_drop_password(%s, %s)", [drop, bob])
    equal(sorted(together(s.database, [tries] * 25)), [0] * 5 + [900] * 20)
    equal((tries(s.handler, carl), caps(s, bob, "too_many_wrong_passwords")[0][1:4]), (0, (5, 5, 0)))
    give_back()
    equal([tries(s.handler) for _ in range(2)], [0, 900])
    for _ in range(6): give_back()
    equal((caps(s, bob, "too_many_wrong_passwords"), tries(s.handler), caps(s, bob, "too_many_wrong_passwords")[0][2]), ([], 0, 1))
    later = NOON + HOUR
    equal((tries(s.handler, now=later), caps(s, bob, "too_many_wrong_passwords", later)[0][2]), (0, 1))


if __name__ == "__main__":
    tell_stories("limits")
