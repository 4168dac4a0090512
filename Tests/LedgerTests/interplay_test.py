#!/usr/bin/env python3
"""What no rule does alone: closings, reversals, releases out of suspense, restores and drops meet in one account.

usage: interplay_test.py [part of a name ...]
"""
import sys, threading, time, uuid

sys.dont_write_bytecode = True

import ledger as L
from drops import MINUTE, POOL, arrive, claim, created, drop_state, end, refunds
from recoveries import account, begun, booked, day, expected, given, over, planned, reference, returned
from reversals_test import agree, held, left, owed, paid
from stage import DAY, HOUR, NOON, STORIES, equal, story, tell_stories
from suspense_test import bank, decided, proposed, released, step, suspended, where

STORIES.clear()                                                 # those of the other files are told there


def closed(s, user, now=NOON):
    """A wallet that is closed and emptied. What the closing still waits for."""
    s.change(user, status="closed")
    return s.one("SELECT close_products(%s, %s)", user, now)[0]


def swept(s, user):
    """What was moved out of a closed wallet and waits. [(id, amount)]"""
    return s.worker.execute("SELECT id, amount FROM transfers WHERE recipient_id = %s AND reference LIKE 'swp-%%'"
                            " AND route_reason = 'suspense' ORDER BY amount", [user]).fetchall()


def closing(s, user, state="queued"):
    """The job that closes, as the account service's word makes it."""
    owner, id = uuid.uuid4(), L.v7()
    s.worker.execute("INSERT INTO jobs (id, kind, key, subject, state, attempts, due_at, created_at, lease_owner, lease_until)"
                     " VALUES (%s, 'close_products', %s, %s, %s, 1, %s, %s, %s, %s)",
                     [id, str(user), str(user), state, NOON, NOON, *([owner, NOON + HOUR] if state == "running" else [None, None])])
    return id, owner


def job(s, user): return s.one("SELECT state, lease_owner FROM jobs WHERE kind = 'close_products' AND key = %s", str(user))


def whole(s): equal(L.broken_invariants(s.worker), [])


def waits(s, pid, gone=None):
    """Until this connection waits, and no more for the one that is gone."""
    for _ in range(1000):
        by = s.owner.execute("SELECT pg_blocking_pids(%s)", [pid]).fetchone()[0]
        if by and gone not in by: return
        time.sleep(.01)
    raise AssertionError("nobody waits")


def aside(s, work):
    """Begins on a connection of its own, and waits for a lock. (thread, results, connection)"""
    out, c = [], L.connect(s.database, "worker", True)
    c.execute("SET lock_timeout = '30s'")

    def go():
        try: out.append(work(c))
        except Exception as wrong: out.append(f"{type(wrong).__name__}: {str(wrong).splitlines()[0]}")
        c.close()
    pid, thread = c.info.backend_pid, threading.Thread(target=go)
    thread.start()
    waits(s, pid)
    return thread, out, pid


def debtor(s, ann, carl, waits=100):
    """Somebody who owes 50 and for whom money waits in suspense. (person, payment)"""
    name, user = s.user(bank=False)
    first, waiting = paid(s, ann, name, 50), s.sent(ann, name, waits)
    paid(s, user, carl, 50)
    s.settle(first, "reversed")
    s.change(user, credits_blocked=True)
    equal(s.settle(waiting, "completed"), ["completed"])
    s.change(user, credits_blocked=False)
    equal((s.wallet(user), owed(s, user)), ((0, 0), (50, True)))
    return user, waiting


# Suspense and what comes back --------------------------------------------------------------------------------------------

@story("a return that the provider takes back, and shows as a payment to the payee as well, is no income of the payee")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    id = suspended(s, ann, bob, b)
    release = released(s, id, "return")
    equal(L.submit(s.worker, [release], NOON), ["send"])
    s.change(b, status="active")
    equal(returned(s, b, 300, f"{uuid.uuid4().hex}-anc_py", reference(release), NOON), "matched")
    equal((s.settle(release, "reversed"), where(s, id)), (["failed"], ("completed", "suspense")))
    given(s, id)
    equal((s.wallet(ann), s.wallet(b), expected(s, b)), ((700, 0), (300, 0), 300))
    agree(s, ann, b)


@story("a payout that was approved goes nowhere once its owner owes: it waits again, pays the debt, and the rest waits on")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000, bank=False), s.user(bank=False)
    first, _ = paid(s, ann, bob, 300), paid(s, ann, bob, 100)
    equal(closed(s, b), 0)
    ((held, amount),) = swept(s, b)
    release = released(s, held, "payout", beneficiary=bank(s, b))
    equal((amount, s.settle(first, "reversed"), owed(s, b)), (400, ["reversed"], (300, True)))
    equal((step(s, release)[0], where(s, held)), ("failed", ("completed", "suspense")))
    equal(s.one("SELECT failure_reason FROM transfers WHERE id = %s", release), ("recipient_owes",))
    given(s, held)
    equal((s.wallet(b), owed(s, b), [a for _, a in swept(s, b)]), ((0, 0), (0, False), [100]))
    agree(s, ann, b)


@story("who is closed and owes is paid nothing out, also when people have unblocked the wallet")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000, bank=False), s.user(bank=False)
    id = paid(s, ann, bob, 300)
    closed(s, b)
    ((held, _),) = swept(s, b)
    s.settle(id, "reversed")
    equal((owed(s, b), s.one("SELECT may_be_erased(%s)", b)), ((300, True), (False,)))
    equal(s.one("SELECT * FROM unblock_wallet(%s, 300, NULL)", b)[0], "unblocked")
    equal((owed(s, b), proposed(s, held, "payout", beneficiary=bank(s, b))[1]), ((300, False), "recipient_owes"))
    given(s, held)                                    # the way out: what waits pays what is owed
    equal((s.wallet(b), owed(s, b), swept(s, b), expected(s, b)), ((0, 0), (0, False), [], 0))
    agree(s, ann, b)


@story("who is closed and owes nothing is credited nothing")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000, bank=False), s.user(bank=False)
    paid(s, ann, bob, 300)
    closed(s, b)
    release, word = proposed(s, swept(s, b)[0][0], "credit")
    equal((word, decided(s, release)), ("proposed", "recipient_unavailable"))


@story("what is credited to a closed debtor waits for who moves the rest of it, and leaves nothing in the wallet")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000, bank=False), s.user(bank=False)
    first, late = paid(s, ann, bob, 60), s.sent(ann, bob, 100)
    while late.int % 16 == b.int % 16:                   # what waits is not kept where the rest goes
        s.settle(late, "failed")
        late = s.sent(ann, bob, 100)
    s.change(b, status="closed")
    equal((s.settle(late, "completed"), closed(s, b)), (["completed"], 0))
    s.settle(first, "reversed")
    equal(owed(s, b), (60, True))
    release, _ = proposed(s, late, "credit")
    with L.connect(s.database, "owner") as other:
        other.execute("SELECT 1 FROM balances WHERE account_id = closed_suspense(%s) FOR NO KEY UPDATE", [b])
        thread, out, _ = aside(s, lambda c: c.execute("SELECT result FROM decide_release(%s, 'linus', true, %s)", [release, NOON]).fetchone())
        other.rollback()
    thread.join()
    equal((out, s.wallet(b), owed(s, b)), ([("approved",)], (0, 0), (0, False)))


@story("releases to two debtors at once pay both debts, though one account keeps what both owe")
def _(s):
    (_, ann), (carl, _) = s.user(funds=1000, bank=False), s.user(bank=False)
    (b, one), (d, two) = debtor(s, ann, carl), debtor(s, ann, carl)
    # Only what is owed is kept in one account, not what waits.
    while s.one("SELECT count(DISTINCT credit_account) FROM transfers WHERE id IN (%s, %s)", one, two) != (2,):
        d, two = debtor(s, ann, carl)
    ids = [uuid.UUID(int=L.v7().int >> 8 << 8 | 7) for _ in range(2)]
    for id, waiting in zip(ids, (one, two)):
        equal(s.one("SELECT result FROM propose_release(%s, %s, 'credit', 'checked', 'grace', %s)", id, waiting, NOON), ("proposed",))
    decide = lambda c, id: c.execute("SELECT result FROM decide_release(%s, 'linus', true, %s)", [id, NOON]).fetchone()
    with L.connect(s.database, "worker") as first:
        equal(decide(first, ids[0]), ("approved",))
        thread, out, pid = aside(s, lambda c: decide(c, ids[1]))
        first.commit()
    thread.join()
    equal((out, [(s.wallet(u), owed(s, u)) for u in (b, d)]), ([("approved",)], [((50, 0), (0, False))] * 2))


# Suspense and restores ---------------------------------------------------------------------------------------------------

def forgotten_return(s, now):
    """A payment that waits in suspense, and was returned after the backup. (payer, payee, payment)"""
    (_, ann), (bob, b) = s.user(funds=1000, bank=False), s.user(funds=500, bank=False)
    id = s.sent(ann, bob, 300, now - HOUR)
    s.change(b, status="frozen")
    equal(s.settle(id, "completed", now=now - HOUR), ["completed"])
    return ann, b, id


@story("what was returned before a restore is not returned again: the wallet that it was booked from gets it")
def _(s):
    now = day()
    ann, b, id = forgotten_return(s, now)
    before, after = proposed(s, id, "return", now=now)[0], now + 3 * HOUR
    recovery = begun(s, now)
    word, forgotten = booked(s, now - 5 * MINUTE, account(s, b), to=account(s, ann), amount=300, now=now + MINUTE)
    equal((word, s.wallet(b), expected(s, b), expected(s, ann)), ("booked", (200, 0), 500, 1000))
    over(s, recovery, now + HOUR)
    equal(decided(s, before, now=after), "returned_before_restore")
    equal((decided(s, before, approve=False, now=after), proposed(s, id, "return", now=after)[1]), ("rejected", "returned_before_restore"))
    s.change(b, status="active")
    given(s, forgotten, after)
    given(s, id, after)
    equal((s.wallet(ann), s.wallet(b), expected(s, ann), expected(s, b)), ((1000, 0), (500, 0), 1000, 500))


@story("another payment of the same people and amount, or one that waits since, is returned also after a restore")
def _(s):
    now = day()
    ann, b, id = forgotten_return(s, now)
    recovery = begun(s, now)
    booked(s, now - 2 * HOUR, account(s, b), to=account(s, ann), amount=300, now=now + MINUTE)     # before it was in suspense
    booked(s, now - 5 * MINUTE, account(s, b), to=account(s, ann), amount=299, now=now + MINUTE)
    booked(s, now - 5 * MINUTE, account(s, b), to=account(s, ann), amount=300, status="failed", now=now + MINUTE)
    over(s, recovery, now + HOUR)
    equal(proposed(s, id, "return", now=now + 3 * HOUR)[1], "proposed")


@story("while a recovery looks for what was forgotten no order takes money out of suspense, but a wallet may get it")
def _(s):
    now = day()
    ann, b, id = forgotten_return(s, now)
    recovery = begun(s, now)
    release, word = proposed(s, id, "return", now=now)
    equal((word, decided(s, release, now=now)), ("proposed", "recovering"))
    equal(booked(s, now - 5 * MINUTE, account(s, b), to=account(s, ann), amount=300, now=now + MINUTE)[0], "booked")
    over(s, recovery, now + HOUR)
    equal((decided(s, release, now=now + 3 * HOUR), where(s, id)), ("returned_before_restore", ("completed", "suspense")))
    s.change(b, status="active")
    recovery = begun(s, now + 5 * HOUR)
    equal(decided(s, release, approve=False, now=now + 5 * HOUR), "rejected")
    given(s, id, now + 5 * HOUR)
    over(s, recovery, now + 6 * HOUR)


@story("what was paid out before a restore is not paid out again: it makes good what the closed wallet lacks")
def _(s):
    now = day()
    (_, ann), (bob, b) = s.user(funds=1000, bank=False), s.user(bank=False)
    id = s.sent(ann, bob, 300, now - HOUR)
    s.change(b, status="closed")
    s.settle(id, "completed", now=now - HOUR)
    closed(s, b, now - HOUR)
    mine = bank(s, b)
    recovery = begun(s, now)
    word, _ = booked(s, now - 5 * MINUTE, account(s, b), amount=300, now=now + MINUTE,
                     bank=s.one("SELECT counterparty_id FROM beneficiaries WHERE id = %s", mine)[0])
    equal((word, s.wallet(b), expected(s, b)), ("booked", (-300, 0), 0))
    over(s, recovery, now + HOUR)
    after = now + 3 * HOUR
    equal(proposed(s, id, "payout", beneficiary=mine, now=after)[1], "recipient_owes")
    given(s, id, after)
    equal((s.wallet(b), expected(s, b)), ((0, 0), 0))
    equal((s.one("SELECT * FROM unblock_wallet(%s, 0, NULL)", b)[0], s.one("SELECT may_be_erased(%s)", b)), ("unblocked", (True,)))


@story("what the account of drops sent before a restore came from no outside, where somebody could send it back to by hand")
def _(s):
    now = day()
    _, b = s.user(bank=False)
    recovery, before = begun(s, now), expected(s, None)
    word, id = booked(s, now - 5 * MINUTE, POOL, to=account(s, b), amount=300, now=now + MINUTE)
    equal((word, expected(s, None) - before, expected(s, b)), ("booked", -300, 300))
    over(s, recovery, now + HOUR)
    equal(proposed(s, id, "return", now=now + 3 * HOUR)[1], "not_returnable")
    given(s, id, now + 3 * HOUR)
    equal((s.wallet(b), expected(s, None) - before, expected(s, b)), ((300, 0), -300, 300))


@story("a recovery that finds a payment switched to a book transfer frees its fee, and that pays what is owed")
def _(s):
    now = day()
    s.owner.execute("INSERT INTO fee_schedule VALUES ('p2p', 'external', %s, 0, 50, 0)", [now - DAY])
    (_, ann), (bob, b), (carl, c) = s.user(funds=1000, bank=False), s.user(bank=False), s.user(plan=True)
    first = paid(s, ann, bob, 250, now - HOUR)
    id = s.paid(b, carl, 200, now - HOUR)
    s.owner.execute("DELETE FROM fee_schedule WHERE fee = 50")
    equal((s.settle(first, "reversed", now=now - HOUR), s.wallet(b), owed(s, b)), (["reversed"], (250, 250), (250, True)))
    recovery = begun(s, now)
    s.worker.execute("SELECT follow_switch(ARRAY[%s::uuid], ARRAY[%s], %s)", [id, account(s, c), now + MINUTE])
    equal((s.one("SELECT route, fee FROM transfers WHERE id = %s", id), s.wallet(b), owed(s, b)), (("internal", 0), (200, 200), (200, True)))
    whole(s)
    s.settle(id, "completed", now=now + MINUTE)
    equal((s.wallet(b), owed(s, b)), ((0, 0), (200, True)))
    over(s, recovery, now + HOUR)


@story("a transfer of ours that came back is booked once by a recovery, as that transfer; another amount under its reference waits")
def _(s):
    now = day()
    (_, ann), (outer, _) = s.user(funds=1000), s.user(plan=True)
    id = s.sent(ann, outer, 300, now - HOUR)
    s.settle(id, "completed", now=now - HOUR)
    recovery, number, other = begun(s, now), uuid.uuid4().hex, uuid.uuid4().hex
    recover = lambda number, amount, minutes: s.one("SELECT recover_payment(%s, %s, %s, %s, %s, %s)", f"{number}-anc_inb_trsf",
        account(s, ann), amount, L.v7(now), now + minutes * MINUTE, reference(id))[0]
    equal([recover(number, 300, m) for m in (0, 11)], ["matched", "known"])
    equal([recover(other, 299, m) for m in (0, 9, 11)], ["waiting", "waiting", "held"])
    third = uuid.uuid4().hex                             # it comes back once; what else has its amount is somebody's
    equal([recover(third, 300, m) for m in (0, 11)], ["waiting", "held"])
    equal(returned(s, ann, 300, f"{number}-anc_inb_trsf", reference(id), now + 12 * MINUTE), "duplicate")
    equal((s.settle(id, "reversed", now=now + 12 * MINUTE), s.wallet(ann)), (["reversed"], (1000, 0)))
    equal(expected(s, ann), 1599)
    over(s, recovery, now + HOUR)


# Closings ----------------------------------------------------------------------------------------------------------------

@story("a payment that is credited while its payee is closed is taken by the next run of the closing")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000, bank=False), s.user(bank=False)
    id = s.sent(ann, bob, 300)
    with L.connect(s.database, "owner") as other:
        # The payer's wallet comes first: who settles has looked at the payee, and holds nothing of theirs yet.
        other.execute("SELECT 1 FROM balances WHERE account_id = (SELECT wallet_id FROM users WHERE id = %s) FOR NO KEY UPDATE", [ann])
        thread, out, pid = aside(s, lambda c: L.settle(c, [(id, "completed")], NOON))
        closing(s, b)
        equal(closed(s, b), 1)                           # so the job comes again
        other.rollback()
    thread.join()
    equal((out, s.wallet(b)), ([["completed"]], (300, 0)))
    whole(s)
    s.worker.execute("UPDATE jobs SET state = 'done' WHERE kind = 'close_products' AND key = %s", [str(b)])
    equal([name.split()[0] for name, *_ in L.broken_invariants(s.worker)], ["I31"])
    equal((closed(s, b), s.wallet(b), [a for _, a in swept(s, b)]), (0, (0, 0), [300]))


def passed_over(s, state):
    """Money comes back into a wallet that is closed meanwhile, and whose account in suspense is busy. (owner, job)"""
    (_, ann), (bob, b) = s.user(funds=1000, bank=False), s.user(bank=False)
    id = paid(s, ann, bob, 300)
    wallet = "SELECT 1 FROM balances WHERE account_id = (SELECT wallet_id FROM users WHERE id = %s) FOR NO KEY UPDATE"
    with L.connect(s.database, "owner") as other, L.connect(s.database, "owner") as last, L.connect(s.database, "owner") as busy:
        last.execute("SELECT 1 FROM balances WHERE account_id = system_account('receivable', %s) FOR NO KEY UPDATE", [id])
        other.execute(wallet, [ann])
        thread, out, pid = aside(s, lambda c: L.settle(c, [(id, "reversed")], NOON))
        s.change(ann, status="closed")
        run = closing(s, ann, state) if state else None
        equal(other.execute("SELECT close_products(%s, %s)", [ann, NOON]).fetchone(), (0,))
        first = other.info.backend_pid
        other.commit()
        waits(s, pid, first)                             # the wallet is theirs now
        busy.execute("SELECT 1 FROM balances WHERE account_id = closed_suspense(%s) FOR NO KEY UPDATE", [ann])
        last.rollback()
        thread.join()
        busy.rollback()
    equal((out, s.wallet(ann)), ([["reversed"]], (300, 0)))
    return ann, run


@story("money that comes back into a closed wallet and cannot be moved at once is moved by a closing that runs again")
def _(s):
    for state in (None, "done", "queued"):
        ann, _ = passed_over(s, state)
        equal((state, job(s, ann)), (state, ("queued", None)))
        whole(s)
        equal((closed(s, ann), s.wallet(ann), [a for _, a in swept(s, ann)]), (0, (0, 0), [300, 700]))


@story("a closing that has looked already when money comes back is not the last one")
def _(s):
    ann, (id, owner) = passed_over(s, "running")
    s.worker.execute("SELECT end_runs(%s, ARRAY[%s::uuid], ARRAY[1::bigint], ARRAY['done'], ARRAY[NULL::text], ARRAY[0::bigint])", [owner, id])
    equal(job(s, ann), ("queued", None))
    whole(s)
    equal((closed(s, ann), s.wallet(ann)), (0, (0, 0)))


# Drops -------------------------------------------------------------------------------------------------------------------

def agree_with(s, before, *users):
    """As agree(), and the account of drops, of which other stories have left differences."""
    agree(s, *users)
    there, ours = held(s, None)
    equal(ours - before[1], there - before[0])


def refunded(s, creator, each=100, slots=5, claims=1):
    """A drop of which one claim was paid and the rest refunded. (drop, funding, refund, claim)"""
    drop, funding = created(s, creator, each, slots)
    ids = [claim(s.handler, s.user()[1], drop)[1] for _ in range(claims)]
    if ids: arrive(s, ids)
    end(s.handler, creator, drop)
    rest = refunds(s, drop)[0][0]
    return drop, funding, rest, ids


@story("who got the rest of a drop back, and then its funding, has that once; a refund that is taken back then takes nothing more")
def _(s):
    for claims, spent in ((0, 0), (1, 0), (1, 900)):
        (_, ann), (carl, _) = s.user(funds=1000, bank=False), s.user(bank=False)
        before = held(s, None)
        drop, funding, rest, _ = refunded(s, ann, claims=claims)
        arrive(s, [rest])
        have = 1000 - claims * 100
        equal(s.wallet(ann), (have, 0))
        if spent: paid(s, ann, carl, spent)
        equal((s.settle(funding, "reversed"), s.wallet(ann), owed(s, ann)), (["reversed"], (1000 - spent, 0), (0, False)))
        equal(left(s, drop), (0, claims * 100, True, True))
        whole(s)
        agree_with(s, before, ann)
        equal((s.settle(rest, "reversed"), s.wallet(ann), owed(s, ann)), (["reversed"], (1000 - spent, 0), (0, False)))
        equal(left(s, drop), (0, claims * 100, True, True))
        whole(s)
        agree_with(s, before, ann)


@story("a refund that arrives after its funding was taken back is not theirs, and what they lack then is owed")
def _(s):
    for way in ("wallet", "suspense"):
        (_, ann), (carl, _) = s.user(funds=1000, bank=False), s.user(bank=False)
        before = held(s, None)
        drop, funding = created(s, ann, 100, 5)
        if way == "suspense": s.change(ann, credits_blocked=True)
        end(s.handler, ann, drop)
        rest = refunds(s, drop)[0][0]
        equal(L.submit(s.worker, [rest], NOON), ["send"])
        equal((s.settle(funding, "reversed"), s.wallet(ann)), (["reversed"], (1000, 0)))
        paid(s, ann, carl, 1000)
        equal(s.settle(rest, "completed"), ["completed"])
        equal((way, s.wallet(ann), owed(s, ann)), (way, (0, 0), (500, True) if way == "suspense" else (0, False)))
        equal(left(s, drop), (0, 0, True, True))
        whole(s)
        agree_with(s, before, ann)
        if way == "suspense":
            s.change(ann, credits_blocked=False)
            given(s, rest)
            equal((s.wallet(ann), owed(s, ann)), ((0, 0), (0, False)))
            agree_with(s, before, ann)


@story("of two refunds the one that has arrived is the pool's when the funding is taken back, and the other fails")
def _(s):
    _, ann = s.user(funds=1000, bank=False)
    before = held(s, None)
    drop, funding = created(s, ann, 100, 5)
    fails = claim(s.handler, s.user()[1], drop)[1]
    equal(L.submit(s.worker, [fails], NOON), ["send"])
    end(s.handler, ann, drop)
    arrive(s, [refunds(s, drop)[0][0]])
    s.settle(fails, "failed")
    s.one("SELECT sweep_money_drops(1000, %s)", NOON + 12 * HOUR)
    equal([(amount, state) for _, amount, state in refunds(s, drop)], [(400, "completed"), (100, "accepted")])
    equal((s.settle(funding, "reversed"), s.wallet(ann), left(s, drop)), (["reversed"], (1000, 0), (0, 0, True, True)))
    equal([state for *_, state in refunds(s, drop)], ["completed", "failed"])
    agree_with(s, before, ann)


@story("a funding that was taken back after a backup fails no claim that may have been sent since, and in the end those that were not")
def _(s):
    now = day()
    _, ann = s.user(funds=1000, bank=False)
    drop, funding = created(s, ann, 100, 3, now=now - HOUR, expires=now + HOUR)
    people = [s.user()[1] for _ in range(2)]
    sent, unsent = [claim(s.handler, b, drop, now=now - HOUR)[1] for b in people]
    recovery = begun(s, now)
    s.settle(funding, "reversed", now=now + MINUTE)
    equal((s.state(sent), s.state(unsent), drop_state(s, drop)), ("accepted", "accepted", ("ended", "funding_reversed")))
    s.settle(sent, "completed", now=now + MINUTE)
    equal((s.state(sent), s.wallet(people[0]), left(s, drop)), ("completed", (100, 0), (0, 100, True, True)))
    over(s, recovery, now + HOUR)
    equal((s.state(unsent), s.wallet(people[1]), s.wallet(ann)), ("failed", (0, 0), (1000, 0)))


@story("a funding and a refund of it that are both taken back leave what both had, in any order, at once or not, open or closed")
def _(s):
    for first in ("funding", "refund"):
        for status in ("active", "closed", "closed, the refund in suspense"):
            for apart in (False, True):
                _, ann = s.user(funds=1000, bank=False)
                before = held(s, None)
                if "suspense" in status: s.change(ann, credits_blocked=True)
                drop, funding, rest, _ = refunded(s, ann)
                arrive(s, [rest])
                if status != "active": closed(s, ann)
                items = [(funding, "reversed"), (rest, "reversed")][::1 if first == "funding" else -1]
                for part in [[i] for i in items] if apart else [items]:
                    equal(L.settle(s.worker, part, NOON), ["reversed"] * len(part))
                    whole(s)
                equal((first, status, left(s, drop), owed(s, ann)[0]), (first, status, (0, 100, True, True), 0))
                equal((s.wallet(ann)[0], sum(a for _, a in swept(s, ann))), (1000, 0) if status == "active" else (0, 1000))
                agree_with(s, before, ann)


if __name__ == "__main__":
    tell_stories("interplay")
