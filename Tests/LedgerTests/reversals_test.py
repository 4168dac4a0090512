#!/usr/bin/env python3
"""What reversals do to money that has moved on: out of suspense, out of the wallet, out of a drop.

At the end of each story the provider's accounts hold what the ledger expects there: `held` is the provider, in a few lines.
"""
import sys

sys.dont_write_bytecode = True

import ledger as L
from drops import POOL, arrive, claim, created, drop_state, end, pool, refunds, slots, swept, told
from recoveries import account, given
from stage import HOUR, NOON, equal, story, tell_stories, together


def held(s, user):
    """What the provider holds for a person, or of drops, by the orders it has carried out and taken back and by what came in;
    and what our books expect there."""
    at = account(s, user) if user else POOL
    moved = """SELECT coalesce(sum(CASE WHEN t.destination = %(at)s AND t.route = 'internal' THEN t.amount ELSE 0 END
            - CASE WHEN t.source_account = %(at)s THEN t.amount ELSE 0 END), 0)
        FROM transfers t WHERE t.state = 'completed' AND t.reference LIKE 'trf-%%'"""
    came = "SELECT coalesce(sum(p.amount), 0) FROM inbound_payments p WHERE p.provider_account = %(at)s AND p.disposition <> 'matched'"
    there = s.owner.execute(f"SELECT ({moved}) + ({came})", dict(at=at)).fetchone()[0]
    return int(there), s.one("SELECT expected FROM expected_at_provider(%s, %s)", at, user)[0]


def agree(s, *users):
    for user in users:
        there, expected = held(s, user)
        equal(expected, there)


def owed(s, user): return s.one("SELECT owed, debits_blocked FROM wallets WHERE user_id = %s", user)


def legs(s, id, of):
    return s.owner.execute("SELECT e.leg, e.amount FROM entries e JOIN users u ON u.wallet_id = e.account_id WHERE e.transfer_id = %s"
                           " AND u.id = %s ORDER BY e.sequence", [id, of]).fetchall()


def paid(s, sender, to, amount, now=NOON):
    id = s.sent(sender, to, amount, now)
    equal(s.settle(id, "completed", now=now), ["completed"])
    return id


def suspended(s, sender, name, to, amount):
    """A payment that waited in suspense and was released. (payment, release)"""
    id = s.sent(sender, name, amount)
    s.change(to, credits_blocked=True)
    s.settle(id, "completed")
    s.change(to, credits_blocked=False)
    return id, given(s, id)


# Released from suspense ------------------------------------------------------------------------------------------------

@story("a reversal of money that was released from suspense takes it out of the wallet, and suspense is as it was")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    before = s.one("SELECT sum(b.posted) FROM ledger_accounts a JOIN balances b ON b.account_id = a.id WHERE a.kind = 'suspense'")
    id, release = suspended(s, ann, bob, b, 300)
    equal((s.wallet(ann), s.wallet(b)), ((700, 0), (300, 0)))
    equal(s.settle(id, "reversed"), ["reversed"])
    equal((s.state(id), s.state(release), s.wallet(ann), s.wallet(b), owed(s, b)), ("reversed", "reversed", (1000, 0), (0, 0), (0, False)))
    equal(s.one("SELECT sum(b.posted) FROM ledger_accounts a JOIN balances b ON b.account_id = a.id WHERE a.kind = 'suspense'"), before)
    equal(s.one("SELECT state, evidence FROM transfer_steps WHERE transfer_id = %s AND step = 2", release), ("reversed", f"reversed with trf-{id}"))
    told_of = lambda x: s.owner.execute("SELECT type, data::json->>'type', (data::json->>'receivable')::int FROM outbox WHERE subject = %s"
                                        " AND type = 'transaction.reversed'", [str(x)]).fetchall()
    equal((told_of(release), told_of(id)), ([("transaction.reversed", "inbound", 0)], [("transaction.reversed", "p2p", 0)]))
    equal(s.settle(id, "reversed"), ["ignored"])
    agree(s, ann, b)


@story("what a person has spent of released money is owed by them when it is reversed, also by two operators")
def _(s):
    (_, ann), (bob, b), (carl, c) = s.user(funds=1000), s.user(bank=False), s.user(bank=False)
    id, release = suspended(s, ann, bob, b, 300)
    paid(s, b, carl, 200)
    proposal = L.v7()
    equal(s.one("SELECT result FROM propose_outcome(%s, %s, 'reversed', 'they say so', 'eve', '1 day', %s)", proposal, id, NOON), ("open",))
    equal(s.one("SELECT result FROM approve_outcome(%s, 'adam', %s, %s)", proposal, L.v7(), NOON), ("approved",))
    equal((s.wallet(ann), s.wallet(b), owed(s, b), s.state(release)), ((1000, 0), (0, 0), (200, True), "reversed"))
    equal(s.one("SELECT data::json->>'receivable' FROM outbox WHERE type = 'transaction.reversed' AND subject = %s", str(id)), ("200",))
    agree(s, ann, b, c)


@story("a claim and the rest of a drop that waited in suspense, were released and are reversed are the pool's again")
def _(s):
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    drop, _ = created(s, ann, 100, 3)
    id = claim(s.handler, bob, drop)[1]
    equal(L.submit(s.worker, [id], NOON), ["send"])
    s.change(bob, credits_blocked=True)
    s.settle(id, "completed")
    s.change(bob, credits_blocked=False)
    given(s, id)
    equal((s.wallet(bob), pool(s, drop)), ((100, 0), 200))
    s.settle(id, "reversed")
    equal((s.wallet(bob), pool(s, drop), slots(s, drop)), ((0, 0), 300, {"open": 3}))
    s.change(ann, credits_blocked=True)
    equal(end(s.handler, ann, drop), "ended")
    rest = refunds(s, drop)[0][0]
    arrive(s, [rest])
    s.change(ann, credits_blocked=False)
    given(s, rest)
    equal((s.wallet(ann), pool(s, drop)), ((1000, 0), 0))
    s.settle(rest, "reversed")
    equal((s.wallet(ann), pool(s, drop), slots(s, drop)), ((700, 0), 300, {"closed": 3}))
    agree(s, ann, bob)


@story("reversals, releases and what comes in, all at once and of the same people, never deadlock")
def _(s):
    people = [s.user(funds=100000, bank=False) for _ in range(4)]
    for turn in range(8):
        first = [suspended(s, people[n][1], people[n - 1][0], people[n - 1][1], 100)[0] for n in range(4)]
        more = [paid(s, people[n][1], people[n - 2][0], 50) for n in range(4)]
        for n in range(4): paid(s, people[n][1], people[n - 1][0], s.wallet(people[n][1])[0] - 10)
        items = [[(i, "reversed") for i in order] for order in (first + more, more[::-1] + first[::-1], first[::2] + more[1::2])]
        jobs = [lambda c, x=x: L.settle(c, x, NOON) for x in items]
        for n in range(4): jobs.append(lambda c, n=n: L.fund(c, account(s, people[n][1]), 75 + turn, now=NOON))
        together(s.database, jobs, "worker", 7)
        equal({s.state(i) for i in first + more}, {"reversed"})
    agree(s, *[p[1] for p in people])


# What is owed ----------------------------------------------------------------------------------------------------------

@story("what comes in pays what is owed first, says so beside its own line, and lifts the block once nothing is owed")
def _(s):
    (_, ann), (bob, b), (carl, c) = s.user(funds=1000, bank=False), s.user(bank=False), s.user(bank=False)
    first = paid(s, ann, bob, 1000)
    paid(s, b, carl, 1000)
    s.settle(first, "reversed")
    equal((s.wallet(b), owed(s, b)), ((0, 0), (1000, True)))
    part = L.fund(s.worker, account(s, b), 400, now=NOON)[0]
    equal((s.wallet(b), owed(s, b), legs(s, part, b)), ((0, 0), (600, True), [("amount", 400), ("collected", -400)]))
    equal((s.pay(b, carl, 1)[0], held(s, b)), ("sender_restricted", (-600, -600)))
    rest = L.fund(s.worker, account(s, b), 4600, now=NOON)[0]
    equal((s.wallet(b), owed(s, b), legs(s, rest, b)), ((4000, 0), (0, False), [("amount", 4600), ("collected", -600)]))
    equal((held(s, b), s.pay(b, carl, 4001)[0], s.pay(b, carl, 4000)[0]), ((4000, 4000), "insufficient_funds", "accepted"))
    agree(s, ann, c)


@story("a plan is not paid with money that is owed")
def _(s):
    (_, ann), (bob, b), (carl, _) = s.user(funds=150000, bank=False), s.user(bank=False), s.user(bank=False)
    first = paid(s, ann, bob, 150000)
    paid(s, b, carl, 150000)
    s.settle(first, "reversed")
    L.fund(s.worker, account(s, b), 150000, now=NOON)
    charged = s.worker.execute("SELECT result FROM charge_subscriptions(ARRAY[%s::uuid], ARRAY[%s], ARRAY[1], ARRAY[%s::uuid], ARRAY[150000::bigint],"
                               " ARRAY[NULL::uuid], ARRAY[NULL::text], %s)", [L.v7(NOON), f"sub-{b}-20260515", b, NOON]).fetchone()
    equal((charged, s.wallet(b), owed(s, b)), (("refused",), (0, 0), (0, False)))


@story("a payment, a release, a claim, a refund of a drop and one's own payment that comes back each pay what is owed")
def _(s):
    (ann_name, ann), (bob, b), (carl, c) = s.user(funds=10000, bank=False), s.user(bank=False), s.user(bank=False)
    own = None
    for way in ("payment", "release", "claim", "refund", "own"):
        drop = None
        if way in ("refund", "own"): L.fund(s.worker, account(s, b), 100, now=NOON)
        if way == "refund": drop, _ = created(s, b, 100, 1)
        if way == "own": own = paid(s, b, carl, 100)
        first = paid(s, ann, bob, 70)
        if way == "release": waiting = s.sent(ann, bob, 100)
        paid(s, b, carl, 70)
        s.settle(first, "reversed")
        equal((way, s.wallet(b), owed(s, b)), (way, (0, 0), (70, True)))
        if way == "payment": paid(s, ann, bob, 100)
        if way == "release":
            s.change(b, credits_blocked=True)
            s.settle(waiting, "completed")
            s.change(b, credits_blocked=False)
            given(s, waiting)
        if way == "claim": arrive(s, [claim(s.handler, b, created(s, ann, 100, 1)[0])[1]])
        if way == "refund":
            end(s.handler, b, drop)
            arrive(s, [r[0] for r in refunds(s, drop)])
        if way == "own": s.settle(own, "reversed")
        equal((way, s.wallet(b), owed(s, b)), (way, (30, 0), (0, False)))
        paid(s, b, ann_name, 30)
    agree(s, ann, b, c)


@story("what was held for a payment that fails pays what is owed; two payments at once pay it together")
def _(s):
    (ann_name, ann), (bob, b), (carl, _) = s.user(funds=10000, bank=False), s.user(bank=False), s.user(bank=False)
    first = paid(s, ann, bob, 300)
    paid(s, b, carl, 100)
    waiting = s.paid(b, carl, 200)
    s.settle(first, "reversed")
    equal((s.wallet(b), owed(s, b)), ((200, 200), (300, True)))
    equal(L.submit(s.worker, [waiting], NOON), ["failed"])
    equal((s.wallet(b), owed(s, b), held(s, b)), ((0, 0), (100, True), (-100, -100)))
    two = [s.sent(ann, bob, 60), s.sent(ann, bob, 90)]
    L.settle(s.worker, [(i, "completed") for i in two], NOON)
    equal((s.wallet(b), owed(s, b), [legs(s, i, b) for i in two]),
          ((50, 0), (0, False), [[("amount", 60), ("collected", -60)], [("amount", 90), ("collected", -40)]]))
    paid(s, b, ann_name, 50)


@story("money that is held for a payment does not pay what is owed, what comes in beside it does")
def _(s):
    (_, ann), (bob, b), (carl, _) = s.user(funds=1000, bank=False), s.user(bank=False), s.user(bank=False)
    first = paid(s, ann, bob, 300)
    s.sent(b, carl, 300)
    s.settle(first, "reversed")
    equal((s.wallet(b), owed(s, b)), ((300, 300), (300, True)))
    paid(s, ann, bob, 120)
    equal((s.wallet(b), owed(s, b)), ((300, 300), (180, True)))


@story("a block that a recovery has set is not lifted by what pays a debt")
def _(s):
    (_, ann), (bob, b), (carl, _) = s.user(funds=1000, bank=False), s.user(bank=False), s.user(bank=False)
    first = paid(s, ann, bob, 180)
    paid(s, b, carl, 100)
    s.sent(b, carl, 80)
    s.settle(first, "reversed")
    s.worker.execute("SELECT begin_recovery(%s, 'eve', 'restored', %s)", [NOON, NOON])
    id = L.v7(NOON)
    equal(s.one("SELECT recover_transfer(%s, %s, %s, NULL, 'a-bank', 50, 'completed', %s, %s, %s, %s)", f"prov-{id}", f"trf-{id}",
                account(s, b), NOON, id, POOL, NOON), ("booked",))
    s.owner.execute("DELETE FROM recovery_doubts")              # the other stories' transfers are not asked about
    s.owner.execute("UPDATE recoveries SET planned_at = %s, ended_at = %s, ended_by = 'eve', end_reason = 'over'", [NOON, NOON])
    equal((s.wallet(b), owed(s, b)), ((30, 80), (180, True)))
    L.fund(s.worker, account(s, b), 60, now=NOON)               # most of it is what is held and was not there
    equal((s.wallet(b), owed(s, b)), ((80, 80), (170, True)))
    L.fund(s.worker, account(s, b), 300, now=NOON)
    equal((s.wallet(b), owed(s, b), held(s, b)), ((210, 80), (0, True), (210, 210)))
    equal(s.one("SELECT result FROM unblock_wallet(%s, 0, NULL)", b), ("unblocked",))
    equal((owed(s, b), s.pay(b, carl, 130)[0]), ((0, False), "accepted"))


def debtor(s):
    """Somebody who spent 100 that were taken back, and whom operators let send again; and a name to pay to."""
    (_, ann), (bob, b), (carl, _) = s.user(funds=1000, bank=False), s.user(bank=False), s.user(bank=False)
    first = paid(s, ann, bob, 100)
    paid(s, b, carl, 100)
    s.settle(first, "reversed")
    equal(s.one("SELECT result FROM unblock_wallet(%s, 100, NULL)", b), ("unblocked",))
    return b, carl


@story("operators let a wallet that owes send again: the debt stays, and is still paid by what comes in")
def _(s):
    b, carl = debtor(s)
    equal(owed(s, b), (100, False))
    L.fund(s.worker, account(s, b), 130, now=NOON)
    equal((s.wallet(b), owed(s, b), s.pay(b, carl, 31)[0], held(s, b)), ((30, 0), (0, False), "insufficient_funds", (30, 30)))


@story("a person who owes is not erased")
def _(s):
    b, _ = debtor(s)
    s.change(b, status="closed")
    equal(s.one("SELECT may_be_erased(%s)", b), (False,))


# Drops -----------------------------------------------------------------------------------------------------------------

def left(s, drop):
    """What the pool has, what it owes, and whether it is blocked."""
    return s.one("SELECT b.posted, b.owed, b.debits_blocked, b.checked FROM balances b JOIN money_drops d ON d.pool_id = b.account_id WHERE d.id = %s", drop)


@story("a refund that was not sent when the provider took the funding back is not paid as well")
def _(s):
    _, ann = s.user(funds=1000)
    drop, funding = created(s, ann, 100, 5)
    end(s.handler, ann, drop)
    rest = refunds(s, drop)[0][0]
    s.settle(funding, "reversed")
    equal((s.state(rest), s.wallet(ann), left(s, drop), slots(s, drop)), ("failed", (1000, 0), (0, 0, True, True), {"void": 5}))
    equal((L.submit(s.worker, [rest], NOON), s.wallet(ann)), (["ended"], (1000, 0)))
    equal(s.one("SELECT failure_reason FROM transfers WHERE id = %s", rest), ("drop_not_covered",))
    equal(s.owner.execute("SELECT kind FROM breaks WHERE transfer_id = ANY(%s)", [[funding, rest]]).fetchall(), [("drop_funding_reversed",)])
    equal((swept(s, drop, NOON + 9 * HOUR), drop_state(s, drop)), (0, ("ended", "funding_reversed")))


@story("a claim that was not sent when the provider took the funding back fails, whoever has claimed before")
def _(s):
    (_, ann), people = s.user(funds=2000), [s.user() for _ in range(3)]
    for before in (0, 1):
        drop, funding = created(s, ann, 100, 4)
        for _, p in people[:before]: arrive(s, [claim(s.handler, p, drop)[1]])
        waiting = claim(s.handler, people[2][1], drop)[1]
        s.settle(funding, "reversed")
        equal((s.state(waiting), left(s, drop)), ("failed", (0, before * 100, True, True)))
        equal(slots(s, drop), {"void": 4 - before} | ({"paid": 1} if before else {}))
        equal(s.one("SELECT data::json->>'claimed' FROM outbox WHERE type = 'money_drop.ended' AND subject = %s", str(drop)), (str(before),))
        equal(s.one("SELECT incoming FROM receiving_counters WHERE user_id = %s", people[2][1]), (0,))
    equal(s.wallet(people[2][1]), (0, 0))


@story("what is at the provider when the funding is taken back may arrive, as a loss of its own drop; what comes back makes it good")
def _(s):
    (_, ann), (_, bob), (_, carl), (_, dan) = s.user(funds=1000), s.user(), s.user(), s.user()
    before = held(s, None)
    drop, funding = created(s, ann, 100, 5)
    done = claim(s.handler, bob, drop)[1]
    arrive(s, [done])
    under_way, fails = claim(s.handler, carl, drop)[1], claim(s.handler, dan, drop)[1]
    equal(L.submit(s.worker, [under_way, fails], NOON), ["send"] * 2)
    s.settle(funding, "reversed")
    equal(left(s, drop), (0, 100, True, True))
    s.settle(fails, "failed")
    s.settle(under_way, "completed")
    equal((left(s, drop), s.wallet(carl), s.wallet(ann), slots(s, drop)), ((0, 200, True, True), (100, 0), (1000, 0), {"paid": 2, "void": 3}))
    there, expected = held(s, None)
    equal((there - before[0], expected - before[1]), (-200, -200))
    s.settle(under_way, "reversed")
    equal((left(s, drop), s.wallet(carl)), ((0, 100, True, True), (0, 0)))
    s.settle(done, "reversed")
    equal((left(s, drop), s.wallet(bob)), ((0, 0, True, True), (0, 0)))
    there, expected = held(s, None)
    equal((there - before[0], expected - before[1]), (0, 0))
    agree(s, ann, bob, carl, dan)


@story("what may have been sent of a drop whose funding was taken back is not sent again")
def _(s):
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    drop, funding = created(s, ann, 100, 2)
    id = claim(s.handler, bob, drop)[1]
    equal(L.submit(s.worker, [id], NOON), ["send"])
    s.settle(id, "unknown")
    absent = lambda now: s.one("SELECT verdict FROM record_absence(ARRAY[%s::uuid], %s)", id, now)[0]
    s.settle(funding, "reversed")
    equal([absent(NOON + n * HOUR) for n in (1, 2)], ["wait", "not_covered"])
    equal(s.one("SELECT verdict FROM begin_resend(ARRAY[%s::uuid], 'test', '10 seconds', %s)", id, NOON + 3 * HOUR), ("wait",))
    s.settle(id, "failed")
    equal(left(s, drop), (0, 0, True, True))


@story("a pool pays what its own money covers beside what is under way, the older claims first")
def _(s):
    (_, ann), people = s.user(funds=1000), [s.user() for _ in range(3)]
    drop, _ = created(s, ann, 100, 3)
    ids = sorted(claim(s.handler, p, drop)[1] for _, p in people)
    with s.owner.transaction(force_rollback=True):              # as if something were wrong with the books
        s.owner.execute("UPDATE balances SET posted = 250 WHERE account_id = (SELECT pool_id FROM money_drops WHERE id = %s)", [drop])
        equal(L.submit(s.owner, ids[:1], NOON), ["send"])
        equal(L.submit(s.owner, ids[::-1], NOON), ["failed", "send", "query"])
        equal(s.owner.execute("SELECT failure_reason FROM transfers WHERE id = %s", [ids[2]]).fetchone(), ("drop_not_covered",))
    arrive(s, ids)
    equal(pool(s, drop), 0)


@story("a funding that is taken back while claims of its drop are made and sent: nothing is lost twice, and nobody waits for ever")
def _(s):
    people = [s.user()[1] for _ in range(6)]
    for turn in range(10):
        _, ann = s.user(funds=1000)
        drop, funding = created(s, ann, 100, 6)
        ids = [claim(s.handler, p, drop)[1] for p in people[:3]]
        with L.connect(s.database, "handler", True) as h:
            jobs = [lambda c: L.settle(c, [(funding, "reversed")], NOON), lambda c: L.submit(c, ids, NOON),
                    lambda c: claim(h, people[3 + turn % 3], drop), lambda c: L.submit(c, ids[::-1], NOON)]
            together(s.database, jobs, "worker", 4)
        late = [i for i, in s.owner.execute("SELECT id FROM transfers WHERE parent_id = %s AND state = 'accepted'", [drop])]
        equal(set(L.submit(s.worker, late, NOON)) <= {"failed"}, True)
        sent = [i for i, in s.owner.execute("SELECT id FROM transfers WHERE parent_id = %s AND state = 'submitted'", [drop])]
        L.settle(s.worker, [(i, "completed") for i in sent], NOON)
        equal((left(s, drop), s.wallet(ann)), ((0, 100 * len(sent), True, True), (1000, 0)))


if __name__ == "__main__":
    tell_stories("reversals")
