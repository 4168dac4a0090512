#!/usr/bin/env python3
"""Stories of recovery: a ledger that was restored to an earlier moment, and a provider that has gone on.

usage: recovery_test.py [part of a name ...]
"""
import concurrent.futures, sys, uuid

sys.dont_write_bytecode = True

import ledger as L
from drops import MINUTE, POOL, arrive, claim, created, drop_state, end, order, refunds, slots, sweep, swept, until_waiting
from recoveries import (absent, acceptance, accepted, account, all_noted, begun, booked, day, doubted, doubts, ended,
                        ending, expected, given, mark, missing, none_sent, noted, over, planned, reference, returned, told,
                        transfer)
from stage import DAY, HOUR, NOON, equal, story, tell_stories, together

# Beginning -------------------------------------------------------------------------------------------------------------

@story("a recovery is begun once, whoever begins it, and reaches back to the earliest moment that was named")
def _(s):
    now = day()
    equal(missing(s, uuid.uuid4()), None)
    got = together(s.database, [lambda c: begun(s, now, c=c)] * 8, role="worker")
    equal(len(set(got)), 1)
    equal(begun(s, now, restored_to=now - 5 * MINUTE), got[0])
    equal(s.one("SELECT restored_to FROM recoveries WHERE id = %s", got[0])[0], now - 10 * MINUTE)
    planned(s, now)
    all_noted(s, got[0], now + 2 * MINUTE)
    begun(s, now, restored_to=now - 20 * MINUTE)
    equal(s.one("SELECT restored_to FROM recoveries WHERE id = %s", got[0])[0], now - 20 * MINUTE)
    equal((missing(s, got[0])[0], missing(s, got[0])[1] > 0, ended(s, got[0], now + HOUR)), (True, True, "incomplete"))
    moment = (now - 10 * MINUTE).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    rows = s.owner.execute("SELECT actor, act, reason, after FROM audit_log WHERE subject = %s ORDER BY number", [str(got[0])])
    equal(rows.fetchone(), ("restore", "recovery.begun", "the disk is gone", f'{{"restored_to" : "{moment}"}}'))
    equal([row[1] for row in rows.fetchall()], ["recovery.extended"])
    over(s, got[0], now + HOUR)
    other = begun(s, now + 2 * HOUR)
    assert other != got[0]
    equal((ended(s, got[0], now + 2 * HOUR), ended(s, other, now + 2 * HOUR)), ("ended", "incomplete"))
    over(s, other, now + 3 * HOUR)


@story("restored once more, to a moment inside a recovery, everything is looked at and asked about again")
def _(s):
    now = day()
    (_, ann), (bob, _) = s.user(funds=1000, bank=False), s.user(bank=False)
    id = s.paid(ann, bob, 100, now)
    recovery = begun(s, now)
    planned(s, now)
    none_sent(s, now)
    all_noted(s, recovery, now + 3 * MINUTE)
    equal((missing(s, recovery), doubted(s, [id])), ((False, 0, 0), 0))
    equal(begun(s, now + HOUR, restored_to=now + 5 * MINUTE), recovery)
    equal((missing(s, recovery)[0], missing(s, recovery)[1] > 0, doubted(s, [id])), (True, True, 1))
    equal(ended(s, recovery, now + 2 * HOUR), "incomplete")
    over(s, recovery, now + HOUR)
    equal(L.submit(s.worker, [id], now + 3 * HOUR), ["ended"])


@story("while a recovery is open nothing is accepted or kept under the key, and the approval still counts afterwards")
def _(s):
    now = day()
    (ann_name, ann), (bob_name, bob) = s.user(funds=1000), s.user()
    q = L.request(ann, bob_name, 100)
    done = L.request(ann, bob_name, 10)
    equal(L.place(s.handler, [done], now)[0][0], "accepted")
    recovery = begun(s, now)
    answers = L.place(s.handler, [q, q | {"id": L.v7()}, L.request(bob, ann_name, 1), order(ann, 10, 2), done], now)
    equal([(a.outcome, a.code) for a in answers], [("recovering", "recovering"), ("recovering", "recovering"),
          ("recovering", "recovering"), ("recovering", "recovering"), ("idempotent_replay", "accepted")])
    equal(s.wallet(ann), (1000, 10))
    equal(s.one("SELECT count(*) FROM approval_nonces WHERE nonce = %s", q["nonce"])[0], 0)
    equal(s.one("SELECT count(*) FROM refused_orders WHERE key = %s", q["key"])[0], 0)
    over(s, recovery, now + MINUTE)
    equal(L.place(s.handler, [q], now + HOUR)[0][0], "accepted")


@story("while a recovery is open nothing is sent or sent again, and nothing fails for its age")
def _(s):
    now = day()
    (_, ann), (bob, _) = s.user(funds=1000, bank=False), s.user(bank=False)
    old = s.paid(ann, bob, 10, now - 23 * HOUR)
    fresh = s.paid(ann, bob, 20, now - MINUTE)
    lost = s.sent(ann, bob, 30, now - 30 * MINUTE)
    for moment in (now - 20 * MINUTE, now - 10 * MINUTE):
        verdict = s.worker.execute("SELECT verdict FROM record_absence(ARRAY[%s], %s)", [lost, moment]).fetchone()[0]
    equal(verdict, "resend")
    recovery = begun(s, now)
    later = now + 2 * HOUR
    equal(L.submit(s.worker, [old, fresh, lost], later), ["stale", "stale", "query"])
    for moment in (later, later + 5 * MINUTE): s.worker.execute("SELECT record_absence(ARRAY[%s], %s)", [lost, moment])
    resent = "SELECT verdict FROM begin_resend(ARRAY[%s::uuid], 'test', '10 seconds', %s)"
    equal(s.one(resent, lost, later + 6 * MINUTE)[0], "wait")
    equal([s.state(i) for i in (old, fresh, lost)], ["accepted", "accepted", "submitted"])
    charge = ("SELECT result FROM charge_subscriptions(ARRAY[%s::uuid], ARRAY[%s], ARRAY[1], ARRAY[%s::uuid], ARRAY[10::bigint],"
              " ARRAY[NULL::uuid], ARRAY[NULL::text], %s)")
    equal(s.one(charge, L.v7(), f"sub-{ann}-1", ann, later)[0], "stale")
    over(s, recovery, later)
    equal([transfer(s, i, "failure_reason") for i in (old, fresh, lost)], [("restored",)] * 3)
    again = s.sent(ann, bob, 30, later + HOUR)
    s.settle(again, "completed", now=later + HOUR)
    equal(s.wallet(ann), (970, 0))


@story("what was absent before the backup counts no more: it may have been sent again since")
def _(s):
    now = day()
    (_, ann), (bob, _) = s.user(funds=1000, bank=False), s.user(bank=False)
    lost = s.sent(ann, bob, 30, now - 30 * MINUTE)
    for moment in (now - 20 * MINUTE, now - 10 * MINUTE):
        s.worker.execute("SELECT record_absence(ARRAY[%s], %s)", [lost, moment])
    recovery = begun(s, now)
    equal(s.one("SELECT count(*) FROM transfer_absences WHERE transfer_id = %s", lost), (0,))
    s.settle(lost, "open", now=now)                                  # there by then, and gone again afterwards
    over(s, recovery, now)
    equal(s.one("SELECT verdict FROM begin_resend(ARRAY[%s::uuid], 'test', '10 seconds', %s)", lost, now + HOUR)[0], "wait")
    s.settle(lost, "failed", now=now + HOUR)


@story("who sends and who begins a recovery take turns: no call is committed after the beginning that did not see it")
def _(s):
    (_, ann), (bob, _) = s.user(funds=10**6, bank=False), s.user(bank=False)
    mixed = 0
    for turn in range(30):
        if mixed == 2: break
        ids = [s.paid(ann, bob, 1, None) for _ in range(20)]

        def begins(c):
            c.execute("SELECT pg_sleep(random() * .02)")
            return begun(s, None, NOON, c=c)
        got = together(s.database, [lambda c, i=i: L.submit(c, [i], None)[0] for i in ids[:10]] + [begins]
                       + [lambda c, i=i: L.submit(c, [i], None)[0] for i in ids[10:]], "worker", 6)
        recovery, at = s.one("SELECT id, begun_at FROM recoveries WHERE ended_at IS NULL")
        equal(s.one("SELECT count(*) FROM provider_calls WHERE started_at > %s AND outcome IS NULL", at)[0], 0)
        equal(set(got) - {recovery} <= {"send", "stale"}, True)
        mixed += 0 < got.count("send") < 20
        s.owner.execute("UPDATE recovery_doubts SET cleared_at = begun_at, finding = 'absent' FROM recoveries r WHERE r.id = recovery_id")
        planned(s, None)
        all_noted(s, recovery, at + HOUR)
        equal(ended(s, recovery, None), "ended")
    assert mixed, "no race was a race"


# What was open at the moment of the backup -----------------------------------------------------------------------------

@story("a transfer that was about to be sent and has left is settled by what the provider says, and never sent again")
def _(s):
    now = day()
    (_, ann), (bob_name, bob), (_, carl) = s.user(funds=1000, bank=False), s.user(bank=False), s.user(funds=500)
    fates = {}
    for outcome in ("completed", "failed", "reversed"): fates[outcome] = s.paid(ann, bob_name, 100, now)
    still = s.paid(ann, bob_name, 7, now)
    bank = s.one("SELECT id FROM beneficiaries WHERE user_id = %s", carl)[0]
    out = L.place(s.handler, [L.request(carl, None, 200, route="POST /transactions/self-transfer", type="self_transfer", target=bank)], now)[0][1]
    recovery = begun(s, now)
    mine = [*fates.values(), out, still]
    equal(doubted(s, mine), 5)
    later = now + 5 * MINUTE
    equal(L.settle(s.worker, [(i, o) for o, i in fates.items()] + [(out, "completed"), (still, "open")], later),
          ["completed", "failed", "reversed", "completed", "known"])
    equal(doubted(s, mine), 0)
    equal([s.state(i) for i in (*fates.values(), out, still)], ["completed", "failed", "reversed", "completed", "submitted"])
    equal((s.wallet(ann), s.wallet(bob), s.wallet(carl)), ((900, 7), (100, 0), (300, 0)))
    equal(L.submit(s.worker, [still, out], later), ["query", "ended"])
    over(s, recovery, later)
    equal(L.submit(s.worker, [still], later + HOUR), ["query"])
    s.settle(still, "completed", now=later + HOUR)
    equal((s.wallet(ann), s.wallet(bob)), ((893, 0), (107, 0)))


@story("a payment that had left for a wallet, for its beneficiary was gone by then, arrives in that wallet and frees its slot")
def _(s):
    now = day()
    (_, ann), (bob_name, bob), (_, eve) = s.user(funds=1000), s.user(), s.user()
    id = s.paid(ann, bob_name, 100, now)
    equal((transfer(s, id, "route"), s.slots(bob)), (("external",), 1))
    follow = lambda to: s.worker.execute("SELECT follow_switch(ARRAY[%s], ARRAY[%s], %s)", [id, account(s, to), now])
    follow(bob)
    equal(transfer(s, id, "route"), ("external",))                   # without a recovery it has not been sent
    recovery = begun(s, now)
    follow(eve)
    equal(transfer(s, id, "route"), ("external",))
    for _ in range(2): follow(bob)
    equal(s.settle(id, "completed", now=now), ["completed"])
    equal((transfer(s, id, "route", "route_reason"), s.slots(bob)), (("internal", "beneficiary_gone"), 0))
    equal((s.wallet(ann), s.wallet(bob), expected(s, bob)), ((900, 0), (100, 0), 100))
    over(s, recovery, now + HOUR)


@story("what the provider says of a transfer that is about to be sent is a break when there was no restore")
def _(s):
    now = day()
    (_, ann), (bob, _) = s.user(funds=1000, bank=False), s.user(bank=False)
    id = s.paid(ann, bob, 100, now)
    equal((s.settle(id, "completed", now=now), s.state(id)), (["break"], "accepted"))
    L.submit(s.worker, [id], now)
    s.settle(id, "completed", now=now)


@story("a transfer that is not listed is asked about for two minutes before it counts as never sent, and the recovery waits for that")
def _(s):
    now = day()
    (_, ann), (bob, _) = s.user(funds=1000, bank=False), s.user(bank=False)
    id = s.paid(ann, bob, 100, now - MINUTE)
    recovery = begun(s, now)
    planned(s, now)
    none_sent(s, now, but=[id])
    absent(s, [id], now)
    absent(s, [id], now + 1.9 * MINUTE)
    all_noted(s, recovery, now + 3 * MINUTE)
    equal((doubts(s), missing(s, recovery)[2], ended(s, recovery, now + 3 * MINUTE)), ([id], 1, "incomplete"))
    absent(s, [id], now + 2 * MINUTE)
    equal((doubts(s), missing(s, recovery)[2]), ([], 0))
    equal(L.submit(s.worker, [id], now + 3 * MINUTE), ["stale"])
    equal(ended(s, recovery, now + 4 * MINUTE), "ended")
    equal((L.submit(s.worker, [id], now + 5 * MINUTE), s.state(id)), (["ended"], "failed"))


@story("a claim that had left is paid once, a refund is made once, and no drop is claimed or given back meanwhile")
def _(s):
    now = day()
    (_, ann), (_, bob), (_, carl) = s.user(funds=1000), s.user(), s.user()
    drop, _ = created(s, ann, 100, 3, now=now - HOUR, expires=now + HOUR)
    claimed = claim(s.handler, bob, drop, now - MINUTE)[1]
    recovery = begun(s, now)
    equal(claim(s.handler, carl, drop, now), ("recovering", None))
    equal(s.settle(claimed, "completed", now=now), ["completed"])
    equal(slots(s, drop), {"paid": 1, "open": 2})
    equal(end(s.handler, ann, drop, now + MINUTE), "ended")
    equal((swept(s, drop, now + 2 * HOUR), refunds(s, drop), slots(s, drop)), (0, [], {"paid": 1, "closed": 2}))
    over(s, recovery, now + 2 * HOUR)
    equal(swept(s, drop, now + 3 * HOUR), 1)
    arrive(s, [refunds(s, drop)[0][0]], now + 3 * HOUR)
    equal((s.wallet(ann)[0], s.wallet(bob)[0], drop_state(s, drop)[0]), (900, 100, "ended"))


@story("operators decide nothing about transfers while a recovery is open")
def _(s):
    now = day()
    (_, ann), (bob, _) = s.user(funds=1000, bank=False), s.user(bank=False)
    id = s.sent(ann, bob, 100, now - HOUR)
    s.settle(id, "unknown", now=now - HOUR)
    proposal = L.v7()
    s.worker.execute("SELECT result FROM propose_outcome(%s, %s, 'failed', 'no trace', 'eve', interval '24 hours', %s)", [proposal, id, now])
    recovery = begun(s, now)
    approve = lambda at: s.one("SELECT result FROM approve_outcome(%s, 'adam', %s, %s)", proposal, L.v7(), at)[0]
    equal((approve(now), s.state(id)), ("recovering", "unknown"))
    equal(s.settle(id, "open", "unknown", now=now), ["submitted", "unknown"])
    over(s, recovery, now)
    equal((approve(now + HOUR), s.state(id)), ("approved", "failed"))


# What the ledger had forgotten -----------------------------------------------------------------------------------------

@story("a forgotten payment is taken from the wallet and waits in suspense for whom it reached; the books agree with the provider")
def _(s):
    now = day()
    (_, ann), (_, bob) = s.user(funds=1000), s.user(funds=50)
    recovery = begun(s, now)
    word, id = booked(s, now - MINUTE, account(s, ann), account(s, bob), amount=300)
    equal(word, "booked")
    equal((s.wallet(ann), s.wallet(bob)), ((700, 0), (50, 0)))
    equal((expected(s, ann), expected(s, bob)), (700, 350))
    equal(transfer(s, id, "type", "state", "route", "route_reason", "sender_id", "recipient_id", "reference"),
          ("p2p", "completed", "internal", "suspense", ann, bob, reference(id)))
    equal(told(s, id), ["transaction.created", "transaction.completed"])
    equal(s.one("SELECT source, destination, amount, made_at, transfer_id FROM forgotten_transfers WHERE reference = %s", reference(id)),
          (account(s, ann), account(s, bob), 300, now - MINUTE, id))
    over(s, recovery, now + HOUR)
    # Two operators give it to the person whose account has it.
    given(s, id, now + HOUR)
    equal((s.wallet(bob), expected(s, bob)), ((350, 0), 350))


@story("a forgotten transfer is booked once, however often and at once it is listed, from either of its ends")
def _(s):
    now = day()
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    recovery = begun(s, now)
    for _ in range(5):
        id, provider = L.v7(now), f"{uuid.uuid4().hex}-anc_trsf"
        got = together(s.database, [lambda c: booked(s, now, account(s, ann), account(s, bob), id=id, provider=provider, c=c)[0]] * 8, "worker")
        equal(sorted(got), ["booked"] + ["known"] * 7)
    equal(booked(s, now, account(s, ann), account(s, bob), id=id)[0], "known")
    equal(booked(s, now, account(s, ann), account(s, bob), provider=provider)[0], "known")
    equal((s.wallet(ann), expected(s, bob)), ((500, 0), 500))
    over(s, recovery, now + HOUR)
    equal(booked(s, now, account(s, ann), account(s, bob))[0], "no_recovery")


@story("a transfer that the ledger knows is not booked a second time")
def _(s):
    now = day()
    (_, ann), (bob_name, bob) = s.user(funds=1000), s.user(bank=False)
    id = s.paid(ann, bob_name, 100, now - HOUR)
    recovery = begun(s, now)
    equal(booked(s, now, account(s, ann), account(s, bob), id=id)[0], "known")
    equal((s.wallet(ann), s.state(id)), ((1000, 100), "accepted"))
    over(s, recovery, now + HOUR)


@story("a forgotten transfer takes a wallet below zero, which then owes and sends nothing, until money comes in")
def _(s):
    now = day()
    (ann_name, ann), (bob_name, bob) = s.user(funds=100), s.user()
    held = s.paid(ann, bob_name, 80, now - HOUR)
    recovery = begun(s, now)
    word, id = booked(s, now, account(s, ann), bank="a-bank", amount=70)
    equal((word, s.wallet(ann), expected(s, ann)), ("booked", (30, 80), 30))
    word, id = booked(s, now, account(s, ann), bank="a-bank", amount=100)
    equal((word, s.wallet(ann), expected(s, ann)), ("booked", (-70, 80), -70))
    equal(transfer(s, id, "type", "route", "route_reason", "destination"), ("p2p", "external", "forgotten", "a-bank"))
    over(s, recovery, now + HOUR)
    equal(s.pay(ann, bob_name, 1, now + 2 * HOUR)[0], "sender_restricted")
    equal((s.state(held), s.wallet(ann)), ("failed", (-70, 0)))
    L.fund(s.worker, account(s, ann), 100, now=now + 2 * HOUR)
    equal(s.wallet(ann), (30, 0))
    equal(s.pay(ann, bob_name, 1, now + 2 * HOUR)[0], "sender_restricted")


@story("a wallet that covers what was forgotten owes nothing and sends on")
def _(s):
    now = day()
    (_, ann), (bob, _) = s.user(funds=100), s.user()
    recovery = begun(s, now)
    equal(booked(s, now, account(s, ann), bank="a-bank", amount=100)[0], "booked")
    over(s, recovery, now + HOUR)
    L.fund(s.worker, account(s, ann), 100, now=now + 2 * HOUR)
    equal(s.pay(ann, bob, 100, now + 2 * HOUR)[0], "accepted")


@story("a forgotten withdrawal is the person's own, and one that failed or came back moves nothing")
def _(s):
    now = day()
    (name, ann) = s.user(funds=1000)
    recovery = begun(s, now)
    _, out = booked(s, now, account(s, ann), bank=f"{name}-bank", amount=300)
    equal((transfer(s, out, "type", "recipient_id"), s.wallet(ann)), (("self_transfer", None), (700, 0)))
    _, failed = booked(s, now, account(s, ann), bank=f"{name}-bank", amount=5000, status="failed")
    equal((s.state(failed), s.wallet(ann), told(s, failed)), ("failed", (700, 0), ["transaction.created", "transaction.failed"]))
    _, back = booked(s, now, account(s, ann), bank=f"{name}-bank", amount=5000, status="reversed")
    equal((s.state(back), s.wallet(ann), expected(s, ann)), ("reversed", (700, 0), 700))
    equal(told(s, back), ["transaction.created", "transaction.completed", "transaction.reversed"])
    equal(s.one("SELECT b.checked, b.debits_blocked FROM balances b JOIN users u ON u.wallet_id = b.account_id WHERE u.id = %s", ann), (True, False))
    over(s, recovery, now + HOUR)


@story("what the provider says later of a forgotten transfer finds it: money that comes back goes back")
def _(s):
    now = day()
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    recovery = begun(s, now)
    _, out = booked(s, now, account(s, ann), bank="a-bank", amount=300)
    _, inside = booked(s, now, account(s, ann), account(s, bob), amount=200)
    over(s, recovery, now + HOUR)
    equal((s.settle(out, "completed", "reversed", now=now + 2 * HOUR)), ["ignored", "reversed"])
    equal(s.settle(inside, "reversed", now=now + 2 * HOUR), ["reversed"])
    equal((s.wallet(ann), expected(s, ann), expected(s, bob)), ((1000, 0), 1000, 0))


@story("money from and to accounts that the ledger does not know: what reached one of ours waits there, what is of neither is not ours")
def _(s):
    now = day()
    (_, ann) = s.user(funds=1000)
    recovery = begun(s, now)
    stranger, another = f"{uuid.uuid4().hex}-account", f"{uuid.uuid4().hex}-account"
    word, came = booked(s, now, stranger, account(s, ann), amount=40)
    equal((word, transfer(s, came, "type", "sender_id", "recipient_id"), expected(s, ann)), ("booked", ("inbound", None, ann), 1040))
    word, went = booked(s, now, account(s, ann), stranger, amount=60)
    equal((word, s.wallet(ann), expected(s, ann)), ("booked", (940, 0), 980))
    equal(booked(s, now, stranger, another)[0], "not_ours")
    over(s, recovery, now + HOUR)
    # Who has the account by now is given it by two operators.
    _, owner = s.user(provider_account=stranger)
    equal(expected(s, owner), 60)
    given(s, went, now + HOUR)
    equal((s.wallet(owner), expected(s, owner)), ((60, 0), 60))


@story("what had left the account of drops is owed to us, what had reached it waits: both ends agree with the provider")
def _(s):
    now = day()
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    drop, _ = created(s, ann, 100, 3, now=now - HOUR, expires=now + HOUR)
    before = expected(s, None)
    recovery = begun(s, now)
    word, claimed = booked(s, now, POOL, account(s, bob), amount=100)
    equal((word, expected(s, None), expected(s, bob)), ("booked", before - 100, 100))
    word, funding = booked(s, now, account(s, ann), POOL, amount=250)
    equal((word, expected(s, None), expected(s, ann), s.wallet(ann)), ("booked", before + 150, 450, (450, 0)))
    over(s, recovery, now + HOUR)
    equal(s.one("SELECT result FROM propose_release(%s, %s, 'credit', 'no drop', 'eve', %s)", L.v7(), funding, now)[0], "recipient_unavailable")
    release = L.v7()
    equal(s.one("SELECT result FROM propose_release(%s, %s, 'return', 'the drop is gone', 'eve', %s)", release, funding, now + HOUR)[0], "proposed")
    equal(s.one("SELECT result FROM decide_release(%s, 'adam', true, %s)", release, now + HOUR)[0], "approved")
    equal(expected(s, None), before + 150)                                              # until the order has arrived
    s.stands(funding, now=now + 2 * HOUR)
    arrive(s, [release], now + 2 * HOUR)
    equal((expected(s, None), expected(s, ann), s.wallet(ann)), (before - 100, 700, (700, 0)))
    sweep(s.worker, now + 3 * HOUR)


@story("an order out of suspense may have been sent before a restore: what the provider takes back meanwhile is a break until it is over")
def _(s):
    now = day()
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    id = s.sent(ann, bob, 300, now - HOUR)
    s.change(b, status="frozen")
    equal(s.settle(id, "completed", now=now - HOUR), ["completed"])
    release = L.v7()
    s.one("SELECT propose_release(%s, %s, 'return', 'asked for', 'eve', %s)", release, id, now - HOUR)
    equal(s.one("SELECT result FROM decide_release(%s, 'adam', true, %s)", release, now - HOUR)[0], "approved")
    recovery = begun(s, now)
    equal((s.settle(id, "reversed", now=now), s.state(release), s.wallet(ann)), (["break"], "accepted", (700, 0)))
    over(s, recovery, now + HOUR)
    equal((s.state(release), s.one("SELECT state FROM jobs WHERE kind = 'check_transfer' AND key = %s", str(id))), ("failed", ("queued",)))
    equal((s.settle(id, "reversed", now=now + HOUR), s.wallet(ann)), (["reversed"], (1000, 0)))


# Blocked wallets -------------------------------------------------------------------------------------------------------

def unblocked(s, user, now, request=None, c=None, owed=0):
    """Records the act with what was there, if anything was done, as the service does in the same transaction."""
    c = c or s.worker
    with c.transaction():
        word, posted, held = c.execute("SELECT * FROM unblock_wallet(%s, %s, %s)", [user, owed, request]).fetchone()
        if posted is not None:
            c.execute("SELECT record_act('eve', 'wallet.unblocked', %s, 'she has paid', %s, NULL, %s, %s)",
                      [str(user), f"{posted} {held}", request, now])
        return word


def acts(s, subject, *columns):
    return s.owner.execute(f"SELECT {', '.join(columns)} FROM audit_log WHERE subject = %s ORDER BY number", [str(subject)]).fetchall()


@story("a wallet that went below zero is unblocked once money has come in, and sends again")
def _(s):
    now = day()
    (_, ann), (bob, _) = s.user(funds=100), s.user()
    held = s.sent(ann, bob, 80, now - HOUR)
    recovery = begun(s, now)
    booked(s, now, account(s, ann), bank="a-bank", amount=70)
    equal((s.wallet(ann), unblocked(s, ann, now)), ((30, 80), "below_zero"))     # what is held has been spent too
    s.settle(held, "open", now=now)
    over(s, recovery, now + HOUR)
    later = now + 2 * HOUR
    L.fund(s.worker, account(s, ann), 49, now=later)
    equal((unblocked(s, ann, later), s.pay(ann, bob, 1, later)[0]), ("below_zero", "sender_restricted"))
    L.fund(s.worker, account(s, ann), 1, now=later)
    equal(acts(s, ann, "act"), [])
    request = uuid.uuid4()
    got = together(s.database, [lambda c: unblocked(s, ann, later, request, c)] * 6, "worker", 6)
    equal((got, unblocked(s, ann, later, uuid.uuid4())), (["unblocked"] * 6, "not_blocked"))
    equal(acts(s, ann, "request_id", "before"), [(request, "80 80")])
    equal(s.pay(ann, bob, 1, later)[0], "insufficient_funds")
    L.fund(s.worker, account(s, ann), 5, now=later)
    equal(s.pay(ann, bob, 5, later)[0], "accepted")
    s.settle(held, "completed", now=later)
    equal(unblocked(s, uuid.uuid4(), later), "missing")


@story("a wallet of which a reversal found the money spent is unblocked, and blocked again by the next; an old request unblocks nothing")
def _(s):
    now = day()
    (_, ann), (bob, b), (carl, _) = s.user(funds=1000, bank=False), s.user(bank=False), s.user(bank=False)

    def spent():
        id = s.sent(ann, bob, 100, now)
        s.settle(id, "completed", now=now)
        out = s.sent(b, carl, 100, now)
        s.settle(out, "completed", now=now)
        equal(s.settle(id, "reversed", now=now), ["reversed"])
        equal(s.pay(b, carl, 1, now)[0], "sender_restricted")

    spent()
    request = uuid.uuid4()
    equal((unblocked(s, b, now), s.pay(b, carl, 1, now)[0]), ("changed", "sender_restricted"))
    equal([unblocked(s, b, now, request, owed=100) for _ in range(2)], ["unblocked"] * 2)
    L.fund(s.worker, account(s, b), 100, now=now)                    # what comes in pays it all the same
    equal((s.wallet(b), s.pay(b, carl, 1, now)[0]), ((0, 0), "insufficient_funds"))
    spent()
    equal(unblocked(s, b, now, request, owed=100), "unblocked")      # that one: it is answered what it was answered
    equal(s.pay(b, carl, 1, now)[0], "sender_restricted")
    equal([unblocked(s, b, now, None, owed=owed) for owed in (200, 100)], ["changed", "unblocked"])
    equal((s.pay(b, carl, 1, now)[0], len(acts(s, b, "act"))), ("insufficient_funds", 2))


# Money from outside ----------------------------------------------------------------------------------------------------

@story("money that came in is credited by account, and by nobody else once it is known")
def _(s):
    now = day()
    (_, ann) = s.user(funds=10)
    recovery = begun(s, now)
    recover = lambda payment, at, amount=70: s.one("SELECT recover_payment(%s, %s, %s, %s, %s)", payment, account(s, ann), amount, L.v7(at), at)[0]
    number = uuid.uuid4().hex
    equal(recover(f"{number}-anc_inb_trsf", now), "waiting")
    equal(L.fund(s.worker, account(s, ann), 70, payment=f"{number}-anc_py", now=now)[2], "credited")
    equal(recover(f"{number}-anc_inb_trsf", now + HOUR), "known")
    equal((s.wallet(ann), expected(s, ann)), ((80, 0), 80))
    over(s, recovery, now + HOUR)


@story("a kobo that account never credits, whatever reference it carries, is in suspense after ten minutes, and credited by nobody then")
def _(s):
    now = day()
    (_, ann) = s.user(funds=10)
    recovery = begun(s, now)
    recover = lambda payment, at: s.one("SELECT recover_payment(%s, %s, 1, %s, %s)", payment, account(s, ann), L.v7(at), at)[0]
    number = uuid.uuid4().hex
    equal([recover(f"{number}-anc_inb_trsf", now + minutes * MINUTE) for minutes in (0, 5, 9.9, 10, 11)],
          ["waiting", "waiting", "waiting", "held", "known"])
    equal((s.wallet(ann), expected(s, ann)), ((10, 0), 11))
    equal(L.fund(s.worker, account(s, ann), 1, payment=f"{number}-anc_inb_trsf", now=now)[2], "duplicate")
    equal(L.fund(s.worker, account(s, ann), 1, payment=f"{number}-anc_py", now=now)[2], "duplicate")
    equal(s.one("SELECT hold_unmatched(%s, %s, 1, %s, 'account', NULL, %s)", f"{number}-anc_py", account(s, ann), L.v7(now), now)[0], "duplicate")
    equal((s.wallet(ann), expected(s, ann)), ((10, 0), 11))
    over(s, recovery, now + HOUR)


@story("money of a forgotten transfer that came back waits until that transfer is booked, and is no income")
def _(s):
    now = day()
    (_, ann) = s.user(funds=1000)
    recovery = begun(s, now)
    id = L.v7(now)
    back = lambda: returned(s, ann, 300, f"{id.hex}-anc_py", reference(id), now)
    equal(([back(), back()], s.wallet(ann)), (["unknown_account"] * 2, (1000, 0)))
    booked(s, now, account(s, ann), bank="a-bank", amount=300, status="reversed", id=id)
    equal((back(), back(), s.wallet(ann), expected(s, ann)), ("matched", "duplicate", (1000, 0), 1000))
    # What nobody can take for one of ours is credited as always.
    for name in (None, "rent", f"rel-{L.v7(now)}", f"trf-{id.hex}", f"x{reference(L.v7(now))}", reference("1-2")):
        equal((name, returned(s, ann, 1, f"{uuid.uuid4().hex}-anc_py", name, now)), (name, "credited"))
    stranger, payment = reference(L.v7(now)), f"{uuid.uuid4().hex}-anc_py"
    equal(returned(s, ann, 5, payment, stranger, now), "unknown_account")
    over(s, recovery, now + HOUR)
    equal([returned(s, ann, 5, payment, stranger, now + HOUR) for _ in range(2)], ["credited", "duplicate"])
    equal((s.wallet(ann), expected(s, ann)), ((1011, 0), 1011))


@story("what carries a reference of ours and is never booked is in suspense after ten minutes all the same, and credited by nobody then")
def _(s):
    now = day()
    (_, ann) = s.user(funds=10)
    recovery = begun(s, now)
    number, name = uuid.uuid4().hex, reference(L.v7(now))
    recover = lambda at: s.one("SELECT recover_payment(%s, %s, 1, %s, %s)", f"{number}-anc_inb_trsf", account(s, ann), L.v7(at), at)[0]
    equal((recover(now), returned(s, ann, 1, f"{number}-anc_py", name, now)), ("waiting", "unknown_account"))
    equal((recover(now + 10 * MINUTE), returned(s, ann, 1, f"{number}-anc_py", name, now)), ("held", "duplicate"))
    equal((s.wallet(ann), expected(s, ann)), ((10, 0), 11))
    over(s, recovery, now + HOUR)
    equal(returned(s, ann, 1, f"{number}-anc_py", name, now + HOUR), "duplicate")


@story("account and the recovery book a payment at the same moment: once, whichever comes first, and whatever id they have for it")
def _(s):
    now = day()
    (_, ann) = s.user(funds=10)
    recovery = begun(s, now)
    later = now + 10 * MINUTE
    for turn in range(3):
        number = uuid.uuid4().hex
        own, other = f"{number}-anc_inb_trsf", f"{number}-anc_py"
        # On shards of their own: only the turns that they take may keep them apart.
        ids = [uuid.UUID(int=L.v7(later).int >> 4 << 4 | n) for n in (1, 2)]
        recover = lambda c, at: c.execute("SELECT recover_payment(%s, %s, 7, %s, %s)", [own, account(s, ann), ids[0], at]).fetchone()[0]
        credit = lambda c: c.execute(
            "SELECT result FROM credit_inbound(ARRAY[%s, %s], ARRAY[%s, %s], ARRAY[7, 3], ARRAY[NULL, NULL]::text[], %s::uuid[],"
            " ARRAY['funding', 'funding'], ARRAY[NULL, NULL]::uuid[], %s) ORDER BY ord",
            [other, f"{uuid.uuid4().hex}-anc_py", *[account(s, ann)] * 2, [ids[1], uuid.UUID(int=ids[1].int + 16)], later]).fetchall()
        hold = lambda c: c.execute("SELECT hold_unmatched(%s, %s, 7, %s, 'account', NULL, %s)",
                                   [other, account(s, ann), ids[1], later]).fetchone()[0]
        equal(recover(s.worker, now), "waiting")
        first, second, answers = [
            (lambda c: recover(c, later), credit, ("held", [("duplicate",), ("credited",)])),
            (credit, lambda c: recover(c, later), ([("credited",), ("credited",)], "known")),
            (lambda c: recover(c, later), hold, ("held", "duplicate")),
        ][turn]
        with L.connect(s.database, "worker") as c, concurrent.futures.ThreadPoolExecutor(1) as pool:
            got = first(c)
            waiting = pool.submit(second, s.worker)
            until_waiting(s)
            c.commit()
            equal((turn, got, waiting.result()), (turn, *answers))
    equal((s.wallet(ann), expected(s, ann)), ((23, 0), 37))
    over(s, recovery, now + HOUR)


# The end ---------------------------------------------------------------------------------------------------------------

@story("a difference that an operator has looked at holds a recovery open no more, and another one does")
def _(s):
    now = day()
    (_, ann) = s.user(funds=10)
    recovery = begun(s, now)
    planned(s, now)
    none_sent(s, now)
    all_noted(s, recovery, now + 3 * MINUTE)
    mine = account(s, ann)
    s.owner.execute("UPDATE recovery_accounts SET looked_at = NULL, differences = NULL WHERE account = %s AND recovery_id = %s", [mine, recovery])
    left = lambda: missing(s, recovery)[1]
    equal((accepted(s, recovery, mine, now), left()), ("not_looked_at", 1))
    noted(s, recovery, mine, now + 1.9 * MINUTE, 1)
    equal((accepted(s, recovery, mine, now + HOUR), left()), ("not_looked_at", 1))
    noted(s, recovery, mine, now + 2 * MINUTE)
    equal((accepted(s, recovery, mine, now + HOUR), left()), ("agrees", 0))
    noted(s, recovery, mine, now + 3 * MINUTE, 1)
    equal(ended(s, recovery, now + HOUR), "incomplete")
    seen = mark(s, recovery, mine)
    equal((accepted(s, recovery, mine, now + HOUR, seen="0badf00d"), left()), ("changed", 1))
    got = together(s.database, [lambda c: acceptance(s, recovery, mine, now + HOUR, c=c, seen=seen)] * 6, "worker", 6)
    equal((sorted(got, key=str), left()), ([("accepted", 1, "balance")] + [("accepted", None, None)] * 5, 0))
    equal(accepted(s, recovery, mine, now + HOUR, who="adam"), "accepted")
    row = "SELECT accepted_by, accept_reason, accepted_at FROM recovery_accounts WHERE recovery_id = %s AND account = %s"
    equal(s.one(row, recovery, mine), ("eve", "older than the backup", now + HOUR))
    noted(s, recovery, mine, now + 4 * MINUTE, 1)                    # the same again
    noted(s, recovery, mine, now + 3.5 * MINUTE, 2)                  # one that began before
    equal(left(), 0)
    for differences, detail in ((2, "balance"), (1, "missing_with_us"), (0, None)):
        noted(s, recovery, mine, now + 5 * MINUTE, differences, detail)
        equal((differences, left(), s.one(row, recovery, mine)), (differences, int(differences > 0), (None, None, None)))
        noted(s, recovery, mine, now + 5 * MINUTE, 1)
        equal((left(), accepted(s, recovery, mine, now + HOUR), left()), (1, "accepted", 0))
    equal((accepted(s, recovery, "nobodys-account", now), accepted(s, uuid.uuid4(), mine, now)), ("missing", "no_recovery"))
    equal(ended(s, recovery, now + HOUR), "ended")
    noted(s, recovery, mine, now + HOUR, 3)                          # a look that ends too late
    equal((left(), s.one(row, recovery, mine)[0], accepted(s, recovery, mine, now + HOUR)), (0, "eve", "accepted"))
    equal(accepted(s, recovery, account(s, s.user()[1]), now + HOUR), "missing")
    equal(accepted(s, recovery, POOL, now + HOUR), "ended")


@story("what was accepted counts no more when the ledger is restored once more, or to an earlier moment")
def _(s):
    now = day()
    (_, ann) = s.user(funds=10)
    recovery = begun(s, now)
    planned(s, now)
    none_sent(s, now)
    mine = account(s, ann)
    for again, after in ((now + 5 * MINUTE, HOUR), (now - 20 * MINUTE, 2 * HOUR)):
        all_noted(s, recovery, now + after - MINUTE)
        noted(s, recovery, mine, now + after, 1)
        equal((accepted(s, recovery, mine, now + after), missing(s, recovery)[1]), ("accepted", 0))
        begun(s, now + after, restored_to=again)
        row = "SELECT differences, accepted_at FROM recovery_accounts WHERE recovery_id = %s AND account = %s"
        noted(s, recovery, mine, now + after - MINUTE / 60, 0)       # a look that was under way
        equal(s.one(row, recovery, mine), (None, None))
        noted(s, recovery, mine, now + after + 3 * MINUTE, 1)
        equal(s.one(row, recovery, mine), (1, None))
        equal(ended(s, recovery, now + after + HOUR), "incomplete")
    over(s, recovery, now + DAY / 2)


@story("a recovery ends when every account was looked at, late enough, and left nothing; then once, for whoever asks")
def _(s):
    now = day()
    (_, ann) = s.user(funds=10)
    recovery = begun(s, now)
    equal(ended(s, recovery, now), "incomplete")
    assert planned(s, now) > 1
    equal(planned(s, now + MINUTE / 4), 0)                           # it was a moment ago
    count = missing(s, recovery)[1]
    assert count > 1, count
    jobs = "SELECT count(*) FROM jobs WHERE kind = 'recover_account' AND state = 'queued'"
    equal(s.one(jobs)[0], count)
    none_sent(s, now)
    all_noted(s, recovery, now + 3 * MINUTE)
    mine = account(s, ann)
    s.owner.execute("UPDATE recovery_accounts SET looked_at = NULL WHERE account = %s AND recovery_id = %s", [mine, recovery])
    for at, differences, left in ((2.1, 1, 1), (2.2, 0, 0), (2.3, 1, 1), (1, 0, 1), (2.4, 0, 0)):
        noted(s, recovery, mine, now + at * MINUTE, differences)
        equal((at, missing(s, recovery)[1]), (at, left))
    s.owner.execute("UPDATE recovery_accounts SET looked_at = NULL WHERE account = %s AND recovery_id = %s", [mine, recovery])
    noted(s, recovery, mine, now + 1.9 * MINUTE)
    equal(ended(s, recovery, now + HOUR), "incomplete")
    noted(s, recovery, mine, now + 2 * MINUTE)
    _, new = s.user(funds=10)                                        # an account that turns up meanwhile
    planned(s, now + HOUR)
    equal((missing(s, recovery)[1], ended(s, recovery, now + HOUR)), (1, "incomplete"))
    noted(s, recovery, account(s, new), now + HOUR)
    got = together(s.database, [lambda c: ending(s, recovery, now + HOUR, who="eve", c=c)] * 6, "worker", 6)
    equal(sorted(got, key=str), [("ended", 0)] + [("ended", None)] * 5)
    equal(s.one("SELECT ended_by, end_reason FROM recoveries WHERE id = %s", recovery), ("eve", "all agrees"))
    equal(ended(s, uuid.uuid4(), now), "missing")
    equal(planned(s, now + 2 * HOUR), 0)


@story("a job that failed is asked for again, one that runs or waits is left alone")
def _(s):
    now = day()
    (_, ann) = s.user()
    recovery = begun(s, now)
    planned(s, now)
    mine = account(s, ann)
    state = lambda: s.one("SELECT state FROM jobs WHERE kind = 'recover_account' AND key = %s", mine)[0]
    for before, after in (("failed", "queued"), ("done", "queued"), ("running", "running")):
        s.owner.execute("UPDATE jobs SET state = %s WHERE kind = 'recover_account' AND key = %s", [before, mine])
        now += MINUTE
        planned(s, now)
        equal(state(), after)
    noted(s, recovery, mine, now + HOUR)
    s.owner.execute("UPDATE jobs SET state = 'done' WHERE kind = 'recover_account' AND key = %s", [mine])
    planned(s, now + MINUTE)
    equal(state(), "done")
    over(s, recovery, now + HOUR)


@story("nobody rewrites what was forgotten, and neither login role writes a recovery")
def _(s):
    now = day()
    (_, ann) = s.user(funds=100)
    recovery = begun(s, now)
    booked(s, now, account(s, ann), bank="a-bank")
    for statement in ("UPDATE forgotten_transfers SET amount = 1", "DELETE FROM forgotten_transfers"):
        for c in (s.owner, s.worker, s.handler):
            try: c.execute(statement)
            except L.psycopg.errors.InsufficientPrivilege: continue
            raise AssertionError(f"went through: {statement}")
    writes = ["UPDATE recoveries SET ended_at = now()", "DELETE FROM recovery_doubts", "INSERT INTO recovery_payments VALUES ('x', 'x', now())",
              "UPDATE recovery_accounts SET differences = 0", "SELECT adopt_transfers(ARRAY[]::uuid[], now())",
              "UPDATE recovery_accounts SET accepted_at = now()", "UPDATE balances SET debits_blocked = false",
              "SELECT lock_payments(ARRAY[]::text[])"]
    calls = ["SELECT begin_recovery(now(), 'x', 'x')", "SELECT accept_difference(gen_random_uuid(), 'x', 'x', 'x', 'x')",
             "SELECT unblock_wallet(gen_random_uuid(), 0, NULL)",
             "SELECT end_recovery(gen_random_uuid(), 'x', 'x')", "SELECT note_absent(ARRAY[]::uuid[])"]
    for c, statements in ((s.worker, writes), (s.handler, writes + calls)):
        for statement in statements:
            try: c.execute(statement)
            except L.psycopg.errors.InsufficientPrivilege: continue
            raise AssertionError(f"went through: {statement}")
    over(s, recovery, now + HOUR)


if __name__ == "__main__":
    tell_stories("recovery")
