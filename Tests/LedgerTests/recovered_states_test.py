#!/usr/bin/env python3
"""Stories of what becomes of transfers that a restore or a return finds in another state than the provider: what had not
left fails, what comes back is matched once, and anything else is not lost.

usage: recovered_states_test.py [part of a name ...]
"""
import sys, uuid

sys.dont_write_bytecode = True

import ledger as L
from drops import MINUTE, POOL, arrive, claim, created, drop_state, end, order, refunds, slots
from recoveries import (account, all_noted, begun, day, doubts, ended, expected, none_sent, over, planned, reference,
                        returned, told, transfer)
from stage import DAY, HOUR, equal, story, tell_stories


def withdrawal(s, user, amount, now):
    bank = s.one("SELECT id FROM beneficiaries WHERE user_id = %s", user)[0]
    q = L.request(user, None, amount, route="POST /transactions/self-transfer", type="self_transfer", target=bank)
    return L.place(s.handler, [q], now)[0][1]


def ends(s, *ids): return [transfer(s, id, "state", "failure_reason") for id in ids]


# After a restore -------------------------------------------------------------------------------------------------------

@story("what had not left at a restore fails at its end: the money is back, its sender is told, and it is never sent")
def _(s):
    now = day()
    (_, ann), (bob, _), (_, carl), (_, dora) = s.user(funds=1000), s.user(bank=False), s.user(funds=500), s.user(funds=300)
    waits = s.paid(ann, bob, 100, now - HOUR)
    called = s.sent(ann, bob, 30, now - HOUR)
    doubtful = s.sent(ann, bob, 20, now - HOUR)
    s.settle(doubtful, "unknown", now=now - HOUR)
    out = withdrawal(s, carl, 200, now - HOUR)
    q = order(dora, 100, 2, expires=now + DAY)
    funding = L.place(s.handler, [q], now - HOUR)[0][1]
    mine = [waits, called, doubtful, out, funding]
    equal((s.wallet(ann), s.wallet(carl), s.wallet(dora)), ((1000, 150), (500, 200), (300, 200)))
    over(s, begun(s, now), now)
    equal(ends(s, *mine), [("failed", "restored")] * 5)
    equal((s.wallet(ann), s.wallet(carl), s.wallet(dora)), ((1000, 0), (500, 0), (300, 0)))
    equal((told(s, waits), drop_state(s, q["target"])), (["transaction.created", "transaction.failed"], ("failed", "funding_failed")))
    equal(s.spent(ann)[0], 0)
    equal(L.submit(s.worker, mine, now + HOUR), ["ended"] * 5)
    equal(s.one("SELECT verdict FROM begin_resend(ARRAY[%s::uuid], 'test', '10 seconds', %s)", called, now + HOUR)[0], "ended")
    step = "SELECT actor, evidence FROM transfer_steps WHERE transfer_id = %s AND state = 'failed'"
    equal(s.one(step, waits), ("recovery", "recovery:absent"))
    equal(s.pay(ann, bob, 100, now + HOUR)[0], "accepted")


@story("a claim that had not left frees its slot, for the same person or another; a refund is the creator's, and is sent")
def _(s):
    now = day()
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    drop, _ = created(s, ann, 100, 2, now=now - HOUR, expires=now + DAY)
    claimed = claim(s.handler, bob, drop, now - MINUTE)[1]
    other, _ = created(s, ann, 50, 2, now=now - HOUR, expires=now + DAY)
    equal(end(s.handler, ann, other, now - MINUTE), "ended")
    refund = refunds(s, other)[0][0]
    over(s, begun(s, now), now)
    equal((ends(s, claimed), slots(s, drop)), ([("failed", "restored")], {"open": 2}))
    equal((s.state(refund), slots(s, other)), ("accepted", {"refunding": 2}))
    again = claim(s.handler, bob, drop, now + HOUR)
    equal(again[0], "accepted")
    arrive(s, [again[1], refund], now + HOUR)
    equal((s.wallet(ann), s.wallet(bob), slots(s, other)), ((800, 0), (100, 0), {"refunded": 2}))


@story("what is found after it was absent, or ends meanwhile, is not failed by the end of a recovery")
def _(s):
    now = day()
    (_, ann), (bob, _) = s.user(funds=1000, bank=False), s.user(bank=False)
    found, gone = s.sent(ann, bob, 30, now - HOUR), s.sent(ann, bob, 40, now - HOUR)
    recovery = begun(s, now)
    planned(s, now)
    none_sent(s, now)
    equal(doubts(s), [])
    equal(s.settle(found, "open", now=now + 3 * MINUTE), ["known"])
    equal(s.settle(gone, "completed", now=now + 3 * MINUTE), ["completed"])
    all_noted(s, recovery, now + 4 * MINUTE)
    equal((ended(s, recovery, now + 5 * MINUTE), s.state(found), s.state(gone)), ("ended", "submitted", "completed"))
    equal(s.settle(found, "completed", now=now + HOUR), ["completed"])
    equal(s.wallet(ann), (930, 0))


@story("a recovery that is begun again while it is open says so: who, why, and in which request")
def _(s):
    now = day()
    recovery = begun(s, now)
    requests = [uuid.uuid4() for _ in range(3)]
    moments = (now - 20 * MINUTE, now - 5 * MINUTE, now + MINUTE)      # further back, inside, and restored once more
    for moment, request in zip(moments, requests):
        equal(s.one("SELECT begin_recovery(%s, 'eve', 'looked again', %s, p_request => %s)", moment, now + HOUR, request)[0], recovery)
    text = lambda moment: f'{{"restored_to" : "{moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")}"}}'
    rows = s.owner.execute("SELECT actor, act, reason, before, after, request_id FROM audit_log WHERE subject = %s ORDER BY number",
                           [str(recovery)]).fetchall()
    equal(rows, [("restore", "recovery.begun", "the disk is gone", None, text(now - 10 * MINUTE), None),
                 ("eve", "recovery.extended", "looked again", text(now - 10 * MINUTE), text(moments[0]), requests[0]),
                 ("eve", "recovery.restarted", "looked again", None, text(moments[2]), requests[2])])
    over(s, recovery, now + 2 * HOUR)
    fresh = s.one("SELECT begin_recovery(%s, 'eve', 'by hand', %s, p_request => %s)", now + 2 * HOUR, now + 3 * HOUR, requests[1])[0]
    equal(s.one("SELECT request_id FROM audit_log WHERE subject = %s", str(fresh))[0], requests[1])
    over(s, fresh, now + 4 * HOUR)


@story("before the listed days a look asks about what the account had, the newest first, on from where the last one ended")
def _(s):
    now = day()
    (ann_name, ann), (bob_name, bob), (_, carl) = s.user(funds=1000, bank=False), s.user(funds=100), s.user(funds=100, bank=False)

    def done(sender, to, amount, at, outcome="completed"):
        id = s.sent(sender, to, amount, at, id=L.v7(at))
        s.settle(id, outcome, now=at)
        return id
    oldest, old = done(ann, bob_name, 1, now - 30 * DAY), done(bob, ann_name, 2, now - 20 * DAY)
    newest = done(carl, ann_name, 3, now - 10 * DAY)
    done(ann, bob_name, 4, now - 9 * DAY, "failed")
    recent = done(ann, bob_name, 5, now - DAY)
    drop, funding = created(s, ann, 100, 2, now=now - 15 * DAY, expires=now - 14 * DAY, id=L.v7(now - 15 * DAY))
    recovery = begun(s, now)
    planned(s, now)
    listed = L.v7(now - 7 * DAY, 0)
    unasked = lambda who, limit=9, at=listed: [r[0] for r in s.worker.execute(
        "SELECT unasked_transfers(%s, %s, %s, %s, %s)", [recovery, account(s, who) if who else POOL, who, at, limit]).fetchall()]
    equal((unasked(ann), unasked(ann, 2)), ([newest, funding, old, oldest], [newest, funding]))
    equal((unasked(bob), unasked(carl), unasked(None)[:1]), ([old], [newest], [funding]))
    s.worker.execute("SELECT note_asked(%s, %s, %s)", [recovery, account(s, ann), funding])
    equal((unasked(ann), unasked(ann, at=recent)), ([old, oldest], [old, oldest]))
    row = "SELECT asked_from FROM recovery_accounts WHERE recovery_id = %s AND account = %s"
    first, second = L.v7(now - 40 * DAY), L.v7(now - 50 * DAY)
    for id, want in ((first, first), (second, second), (first, second)):
        s.worker.execute("SELECT note_asked(%s, %s, %s)", [recovery, account(s, ann), id])
        equal(s.one(row, recovery, account(s, ann))[0], want)
    begun(s, now + HOUR, restored_to=now + MINUTE)
    equal(s.one(row, recovery, account(s, ann))[0], None)
    over(s, recovery, now + 2 * HOUR)


# What the provider's books say ------------------------------------------------------------------------------------------

@story("what a look lists and finds an entry for is kept by account, the last look counts, and the rest has an age")
def _(s):
    now = day()
    account, other = (f"{uuid.uuid4().hex}-anc_acc" for _ in range(2))
    look = lambda at, listed, matched, *rows, account=account: s.worker.execute(
        "SELECT note_breaks(%s, %s, %s, %s::text[], %s::text[], %s::timestamptz[], '15 minutes', %s, %s, %s)",
        [account, [r[0] for r in rows], [r[1] for r in rows], [None] * len(rows), [None] * len(rows), [r[2] for r in rows],
         at, listed, matched])
    told = lambda at: s.one("SELECT * FROM explained_money(%s, %s)", account, at)
    look(now - DAY, 100, 0, ("missing_with_us", "z", now - DAY), account=other)
    equal(told(now), (0, 0, None))
    look(now, 1000, 700, ("other_state", "a", now - DAY), ("balance", "balance", None))
    equal((told(now), told(now + MINUTE)), ((1000, 700, 0), (1000, 700, 60)))
    look(now + HOUR, 1200, 1100, ("missing_with_us", "b", now - MINUTE), ("missing_there", "c", now - DAY))
    equal(told(now + HOUR), (1200, 1100, 3660))
    everything = s.one("SELECT listed - matched >= 100 FROM explained_money(NULL, %s)", now)
    equal(everything, (True,))
    look(now + 2 * HOUR, 1200, 1200)
    equal(told(now + DAY), (1200, 1200, None))


# What comes back -------------------------------------------------------------------------------------------------------

def comes(s, user, amount, name, now):
    return returned(s, user, amount, f"{uuid.uuid4().hex}-anc_py", name, now)


def waiting(s, user): return s.one("SELECT coalesce(sum(t.amount), 0) FROM transfers t WHERE t.recipient_id = %s"
                                   " AND t.type = 'inbound' AND t.route_reason = 'suspense'", user)[0]


def strange(s, id): return s.one("SELECT count(*) FROM breaks WHERE transfer_id = %s AND kind = 'payment_of_another'", id)[0]


@story("money with a reference of ours is a return once, with the amount that had left, where it had left; else it waits, and people look")
def _(s):
    now = day()
    (_, ann), (bob_name, bob) = s.user(funds=1000), s.user()
    id = s.sent(ann, bob_name, 300, now)
    s.settle(id, "completed", now=now)
    equal((transfer(s, id, "route"), s.wallet(ann)), (("external",), (700, 0)))
    equal((comes(s, ann, 700, reference(id), now), waiting(s, ann), strange(s, id)), ("suspense", 700, 1))
    equal((comes(s, ann, 299, reference(id), now), waiting(s, ann), strange(s, id)), ("suspense", 999, 1))
    equal((comes(s, bob, 300, reference(id), now), waiting(s, bob)), ("suspense", 300))
    equal((comes(s, ann, 300, reference(id), now), waiting(s, ann)), ("matched", 999))
    equal((comes(s, ann, 300, reference(id), now), waiting(s, ann)), ("suspense", 1299))
    equal((s.wallet(ann), expected(s, ann)), ((700, 0), 1999))
    equal((s.settle(id, "reversed", now=now), s.wallet(ann)), (["reversed"], (1000, 0)))
    unsent = s.paid(ann, bob_name, 50, now)
    equal((comes(s, ann, 50, reference(unsent), now), strange(s, unsent)), ("suspense", 1))
    income = s.one("SELECT id, reference FROM transfers WHERE recipient_id = %s AND type = 'inbound' AND amount = 1000", ann)
    equal(comes(s, ann, 1000, income[1], now), "suspense")
    L.submit(s.worker, [unsent], now)
    s.settle(unsent, "failed", now=now)


@story("both ends of a book transfer, what is under way, failed at the bank or is reversed already are returns, each once")
def _(s):
    now = day()
    (_, ann), (bob_name, bob) = s.user(funds=1000), s.user(bank=False)
    for outcome in (None, "unknown", "completed", "failed", "reversed"):
        id = s.sent(ann, bob_name, 10, now)
        if outcome: s.settle(id, outcome, now=now)
        got = [comes(s, who, 10, reference(id), now) for who in (ann, bob, ann, bob)]
        equal((outcome, got), (outcome, ["matched", "matched", "suspense", "suspense"]))
        if outcome in (None, "unknown"): s.settle(id, "failed", now=now)
    equal((waiting(s, ann), waiting(s, bob)), (50, 50))


@story("of two payments in one batch that carry one reference one is the return")
def _(s):
    now = day()
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    id = s.sent(ann, bob, 300, now)
    s.settle(id, "completed", now=now)
    n = uuid.uuid4().hex
    got = s.worker.execute(
        "SELECT result FROM credit_inbound(%s, %s, ARRAY[300, 300], %s, %s::uuid[], ARRAY['seen', 'seen'],"
        " ARRAY[NULL, NULL]::uuid[], %s) ORDER BY ord",
        [[f"{n}-1", f"{n}-2"], [account(s, ann)] * 2, [reference(id)] * 2, [L.v7(now), L.v7(now)], now]).fetchall()
    equal(got, [("matched",), ("suspense",)])


@story("money of a transfer that a restored ledger has still to send waits until the provider has said how it stands")
def _(s):
    now = day()
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    id = s.paid(ann, bob, 300, now - MINUTE)
    recovery = begun(s, now)
    payment = f"{uuid.uuid4().hex}-anc_py"
    equal((returned(s, ann, 300, payment, reference(id), now), s.wallet(ann)), ("unknown_account", (1000, 300)))
    equal(s.settle(id, "completed", now=now), ["completed"])
    equal(returned(s, ann, 300, payment, reference(id), now), "matched")
    equal((s.settle(id, "reversed", now=now), s.wallet(ann), expected(s, ann)), (["reversed"], (1000, 0), 1000))
    over(s, recovery, now + HOUR)


@story("what came back is expected at the provider until the reversal is booked, for a day, and once")
def _(s):
    now = day()
    (_, ann), (carl_name, carl), (bob_name, _) = s.user(funds=1000), s.user(funds=1000, bank=False), s.user()
    arriving = lambda user, at=now: s.one("SELECT arriving FROM expected_at_provider(%s, %s, %s)", account(s, user), user, at)[0]
    id = s.sent(ann, bob_name, 300, now)
    s.settle(id, "completed", now=now)
    equal((comes(s, ann, 300, reference(id), now), arriving(ann), arriving(ann, now + DAY)), ("matched", 300, 0))
    equal((s.settle(id, "reversed", now=now), arriving(ann), expected(s, ann)), (["reversed"], 0, 1000))
    out = s.sent(ann, carl_name, 100, now)
    equal((transfer(s, out, "route"), comes(s, carl, 100, reference(out), now), arriving(carl)), (("internal",), "matched", 100))
    s.settle(out, "completed", now=now)
    equal((arriving(carl), expected(s, carl)), (0, 1100))
    failed = s.sent(ann, bob_name, 50, now)
    s.settle(failed, "failed", now=now)
    equal((comes(s, ann, 50, reference(failed), now), arriving(ann)), ("matched", 0))


if __name__ == "__main__":
    tell_stories("recovered states")
