#!/usr/bin/env python3
"""Stories of money drops: claimed by the first, once per person, never past the end; what is left goes back once.

usage: drops_test.py [part of a name ...]
"""
import concurrent.futures, datetime as dt, json, random, sys, threading, uuid

sys.dont_write_bytecode = True

import ledger as L
from drops import (DROP, MINUTE, POOL, arrive, claim, created, drop_state, end, later, order, pool, refunds, slots, sweep, swept, told,
                   until_waiting)
from stage import DAY, HOUR, NOON, equal, story, tell_stories, together


# Creation --------------------------------------------------------------------------------------------------------------

@story("a drop takes all its money from the creator, and is claimable when that has arrived")
def _(s):
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    q = order(ann, 100, 5, password="hash")
    outcome, id, route, *_ = L.place(s.handler, [q], NOON)[0]
    equal((outcome, route), ("accepted", "internal"))
    kept = L.stored(s.handler, ann, DROP, q["key"])
    equal([kept[n] for n in ("type", "money_drop_id", "amount", "amount_per_claim", "slots", "password_required", "expires_at", "link")],
          ["money_drop", q["target"], 500, 100, 5, True, NOON + HOUR, "https://x/d/1"])
    equal((s.wallet(ann), drop_state(s, q["target"])), ((1000, 500), ("pending", None)))
    equal(claim(s.handler, bob, q["target"], password="hash"), ("drop_pending", None))
    equal(s.one("SELECT kind, destination, source_account FROM begin_submission(ARRAY[%s::uuid], 'test', '10 seconds', %s)", id, NOON),
          ("BookTransfer", POOL, s.one("SELECT provider_account FROM users WHERE id = %s", ann)[0]))
    s.settle(id, "completed")
    equal((s.wallet(ann), pool(s, q["target"]), drop_state(s, q["target"])), ((500, 0), 500, ("open", None)))
    equal(s.spent(ann), (500, 500))
    equal(told(s, q["target"]), ["money_drop.opened"])


@story("a drop needs funds, an unspent approval, limits and a sensible expiry, and answers its key for ever")
def _(s):
    (_, ann), (_, ben) = s.user(funds=1000), s.user(funds=100000, tier=1)
    equal(L.place(s.handler, [order(ann, 101, 10)], NOON)[0][0], "insufficient_funds")
    equal(L.place(s.handler, [order(ben, 501, 10)], NOON)[0][0], "limit_per_transfer")
    equal(L.place(s.handler, [order(ann, 10, 2, expires=NOON)], NOON)[0][0], "expiry_invalid")
    equal(L.place(s.handler, [order(ann, 10, 2, expires=NOON + 32 * DAY)], NOON)[0][0], "expiry_invalid")
    s.change(ben, sending_allowed=False)
    equal(L.place(s.handler, [order(ben, 1, 1)], NOON)[0][0], "receive_only")
    q = order(ann, 10, 2, key="party")
    first = L.place(s.handler, [q], NOON)[0]
    equal(L.place(s.handler, [order(ann, 10, 2, nonce=q["nonce"])], NOON)[0][0], "approval_used")
    kept, again = L.stored(s.handler, ann, DROP, "party"), ("idempotent_replay", first.id, None, "accepted", None, None)
    equal(L.place(s.handler, [q], NOON)[0], again)
    s.worker.execute("SELECT prune_orders('2999-01-01', '2999-01-01', 1000000)")
    equal(L.place(s.handler, [q], NOON)[0], again)
    equal(L.stored(s.handler, ann, DROP, "party"), kept)
    equal(s.one("SELECT count(*) FROM money_drops WHERE creator_id = %s", ann), (1,))


@story("funding that fails ends the drop and gives everything back")
def _(s):
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    q = order(ann, 100, 5)
    id = L.place(s.handler, [q], NOON)[0][1]
    L.submit(s.worker, [id], NOON)
    s.settle(id, "failed")
    equal((s.wallet(ann), drop_state(s, q["target"]), s.spent(ann)), ((1000, 0), ("failed", "funding_failed"), (0, 0)))
    equal(claim(s.handler, bob, q["target"]), ("drop_ended", None))
    equal(swept(s, q["target"], NOON + 2 * HOUR), 0)
    equal((refunds(s, q["target"]), told(s, q["target"])), ([], ["money_drop.ended"]))


@story("funding that arrives after the expiry goes straight back")
def _(s):
    _, ann = s.user(funds=1000)
    q = order(ann, 100, 5, expires=NOON + MINUTE)
    id = L.place(s.handler, [q], NOON)[0][1]
    L.submit(s.worker, [id], NOON)
    s.settle(id, "completed", now=NOON + 2 * MINUTE)
    equal(drop_state(s, q["target"]), ("ended", "expired"))
    equal(swept(s, q["target"], NOON + 2 * MINUTE), 1)
    arrive(s, [r[0] for r in refunds(s, q["target"])], NOON + 2 * MINUTE)
    equal((s.wallet(ann), pool(s, q["target"])), ((1000, 0), 0))


@story("funding that the provider takes back ends the drop: nothing more is claimed or refunded, and people are told")
def _(s):
    (_, ann), (_, bob), (_, carl), (_, dan) = s.user(funds=1000), s.user(), s.user(), s.user()
    drop, funding = created(s, ann, 100, 4)
    arrive(s, [claim(s.handler, bob, drop)[1]])
    under_way = claim(s.handler, carl, drop)[1]
    L.submit(s.worker, [under_way], NOON)
    s.settle(funding, "reversed")
    equal((drop_state(s, drop), slots(s, drop)), (("ended", "funding_reversed"), {"paid": 1, "claimed": 1, "void": 2}))
    equal(claim(s.handler, dan, drop), ("drop_ended", None))
    s.settle(under_way, "completed")
    equal((pool(s, drop), s.wallet(carl), s.wallet(ann)), (0, (100, 0), (1000, 0)))
    equal((swept(s, drop, NOON + 2 * HOUR), refunds(s, drop)), (0, []))
    equal(s.one("SELECT count(*) FROM breaks WHERE transfer_id = %s AND kind = 'drop_funding_reversed'", funding), (1,))


# Claims ----------------------------------------------------------------------------------------------------------------

@story("a claim is paid from the pool into the wallet, once per person and never to the creator")
def _(s):
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    drop, _ = created(s, ann, 100, 3)
    outcome, id = claim(s.handler, bob, drop)
    equal((outcome, claim(s.handler, bob, drop), claim(s.handler, ann, drop)), ("accepted", ("already_claimed", None), ("drop_own", None)))
    equal(s.one("SELECT kind, source_account, destination FROM begin_submission(ARRAY[%s::uuid], 'test', '10 seconds', %s)", id, NOON),
          ("BookTransfer", POOL, s.one("SELECT provider_account FROM users WHERE id = %s", bob)[0]))
    equal(s.wallet(bob), (0, 0))
    s.settle(id, "unknown", "open", "completed", "completed")
    equal((s.wallet(bob), pool(s, drop), slots(s, drop)), ((100, 0), 200, {"open": 2, "paid": 1}))
    equal(claim(s.handler, bob, drop), ("already_claimed", None))
    equal(told(s, drop), ["money_drop.opened", "money_drop.claimed"])


@story("only evidence of failure opens a claimed slot again, for anybody")
def _(s):
    (_, ann), (_, bob), (_, carl) = s.user(funds=1000), s.user(), s.user()
    drop, _ = created(s, ann, 100, 1)
    first = claim(s.handler, bob, drop)[1]
    L.submit(s.worker, [first], NOON)
    s.settle(first, "unknown")
    equal(claim(s.handler, carl, drop), ("drop_exhausted", None))
    s.settle(first, "failed")
    equal(slots(s, drop), {"open": 1})
    again = claim(s.handler, bob, drop)
    equal(again[0], "accepted")
    arrive(s, [again[1]])
    s.settle(again[1], "reversed")                              # taken back after it arrived: the drop has ended meanwhile
    equal((slots(s, drop), s.wallet(bob), pool(s, drop)), ({"closed": 1}, (0, 0), 100))
    equal(swept(s, drop, NOON), 1)
    arrive(s, [r[0] for r in refunds(s, drop)])
    equal((s.wallet(ann), pool(s, drop)), ((1000, 0), 0))


@story("who claims must be allowed to receive, have a wallet and room in it, and know the password")
def _(s):
    (_, ann), (_, bob) = s.user(funds=20000), s.user(tier=0)    # ceiling 6,000
    drop, _ = created(s, ann, 4000, 2, password="right")
    equal(claim(s.handler, bob, drop), ("password_wrong", None))
    equal(claim(s.handler, bob, drop, password="wrong"), ("password_wrong", None))
    for change, back, code in ((dict(status="frozen"), dict(status="active"), "claimant_restricted"),
                               (dict(credits_blocked=True), dict(credits_blocked=False), "claimant_restricted"),
                               (dict(provider_account=None), dict(provider_account=f"again-{bob}"), "claimant_not_ready")):
        s.change(bob, **change)
        equal(claim(s.handler, bob, drop, password="right"), (code, None))
        s.change(bob, **back)
    equal(claim(s.handler, uuid.uuid4(), drop, password="right"), ("claimant_unknown", None))
    equal(claim(s.handler, bob, uuid.uuid4()), ("drop_unknown", None))
    equal(claim(s.handler, bob, drop, password="right")[0], "accepted")
    other, _ = created(s, ann, 2000, 1)
    third, _ = created(s, ann, 1, 1)                            # 4,000 are on their way, 2,000 fit
    equal([claim(s.handler, bob, d)[0] for d in (other, third)], ["accepted", "recipient_limit"])


@story("five wrong passwords stop a person for a quarter of an hour")
def _(s):
    (_, ann), (_, bob), (_, carl) = s.user(funds=1000), s.user(), s.user()
    drop, _ = created(s, ann, 10, 1, password="right")

    def wait(user, now): return s.handler.execute("SELECT * FROM drop_password(%s, %s, %s)", [drop, user, now]).fetchone()
    for n in range(5):
        equal(wait(bob, NOON), ("right", 0))
        equal(s.handler.execute("SELECT try_drop_password(%s, %s, %s)", [drop, bob, NOON]).fetchone(), (0,))
    equal((wait(bob, NOON + MINUTE), wait(carl, NOON)), (("right", 14 * 60), ("right", 0)))
    equal(wait(bob, NOON + 15 * MINUTE), ("right", 0))


@story("a claimant who was frozen before the transfer left gets nothing, and the slot is free again")
def _(s):
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    drop, _ = created(s, ann, 100, 1)
    id = claim(s.handler, bob, drop)[1]
    s.change(bob, status="frozen")
    equal((L.submit(s.worker, [id], NOON), slots(s, drop)), (["failed"], {"open": 1}))


# The end ---------------------------------------------------------------------------------------------------------------

@story("after the expiry nobody claims, and the rest goes back exactly once")
def _(s):
    (_, ann), (_, bob), (_, carl) = s.user(funds=1000), s.user(), s.user()
    drop, _ = created(s, ann, 100, 5)
    arrive(s, [claim(s.handler, bob, drop, NOON + HOUR - dt.timedelta(milliseconds=1))[1]])
    equal(claim(s.handler, carl, drop, NOON + HOUR), ("drop_expired", None))
    equal((swept(s, drop, NOON + HOUR - dt.timedelta(milliseconds=1)), swept(s, drop, NOON + HOUR), swept(s, drop, NOON + HOUR)), (0, 1, 0))
    equal(claim(s.handler, carl, drop, NOON + HOUR), ("drop_expired", None))
    (id, amount, _), = refunds(s, drop)
    equal(amount, 400)
    arrive(s, [id], NOON + HOUR)
    equal((s.wallet(ann), s.wallet(bob), pool(s, drop), swept(s, drop, NOON + 9 * HOUR)), ((900, 0), (100, 0), 0, 0))
    equal(told(s, drop), ["money_drop.opened", "money_drop.claimed", "money_drop.ended", "money_drop.refunded"])
    equal(s.spent(ann), (100, 100))                             # what came back was not spent


@story("the creator ends a drop early, nobody else does, and twice is once")
def _(s):
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    drop, _ = created(s, ann, 100, 5)
    equal([end(s.handler, bob, drop), end(s.handler, ann, uuid.uuid4()), end(s.handler, ann, drop), end(s.handler, ann, drop)],
          ["drop_unknown", "drop_unknown", "ended", "drop_ended"])
    equal(claim(s.handler, bob, drop), ("drop_ended", None))
    arrive(s, [r[0] for r in refunds(s, drop)])
    equal((s.wallet(ann), len(refunds(s, drop))), ((1000, 0), 1))


@story("a claim under way when the drop ends is still paid; if it fails its part follows the refund")
def _(s):
    (_, ann), (_, bob), (_, carl) = s.user(funds=1000), s.user(), s.user()
    drop, _ = created(s, ann, 100, 4)
    good, bad = claim(s.handler, bob, drop)[1], claim(s.handler, carl, drop)[1]
    equal(end(s.handler, ann, drop), "ended")
    arrive(s, [good])
    arrive(s, [bad], outcome="failed")
    equal(slots(s, drop), {"paid": 1, "closed": 1, "refunding": 2})
    equal((swept(s, drop, NOON), swept(s, drop, NOON)), (1, 0))
    equal(sorted(r[1] for r in refunds(s, drop)), [100, 200])
    arrive(s, [r[0] for r in refunds(s, drop)])
    equal((s.wallet(ann), s.wallet(bob), s.wallet(carl), pool(s, drop)), ((900, 0), (100, 0), (0, 0), 0))


@story("when every slot is paid the drop is over")
def _(s):
    (_, ann), (_, bob), (_, carl) = s.user(funds=1000), s.user(), s.user()
    drop, _ = created(s, ann, 100, 2)
    arrive(s, [claim(s.handler, u, drop)[1] for u in (bob, carl)])
    equal((drop_state(s, drop), pool(s, drop)), (("ended", "claimed"), 0))
    equal((claim(s.handler, s.user()[1], drop), end(s.handler, ann, drop)), (("drop_exhausted", None), "drop_ended"))
    equal((swept(s, drop, NOON + 9 * HOUR), refunds(s, drop)), (0, []))


@story("a refund that does not arrive is tried again later with growing pauses, and people are told")
def _(s):
    _, ann = s.user(funds=1000)
    drop, _ = created(s, ann, 100, 2)
    end(s.handler, ann, drop)
    arrive(s, [refunds(s, drop)[0][0]], outcome="failed")
    equal((swept(s, drop, NOON), swept(s, drop, NOON + MINUTE), len(refunds(s, drop))), (0, 1, 2))
    arrive(s, [refunds(s, drop)[1][0]], NOON + MINUTE, "failed")
    equal((swept(s, drop, NOON + 2 * MINUTE), swept(s, drop, NOON + 3 * MINUTE)), (0, 1))
    arrive(s, [refunds(s, drop)[2][0]], NOON + 3 * MINUTE)
    equal((s.wallet(ann), pool(s, drop), [r[2] for r in refunds(s, drop)]), ((1000, 0), 0, ["failed", "failed", "completed"]))
    equal(s.one("SELECT count(*) FROM breaks b JOIN transfers t ON t.id = b.transfer_id WHERE t.parent_id = %s"
                " AND b.kind = 'drop_refund_failed'", drop), (2,))


@story("the rest survives a creator who was closed: it waits in suspense")
def _(s):
    _, ann = s.user(funds=1000)
    drop, _ = created(s, ann, 100, 2)
    s.change(ann, status="closed")
    equal(swept(s, drop, NOON + HOUR), 1)
    (id, amount, _), = refunds(s, drop)
    arrive(s, [id], NOON + HOUR)
    equal((s.wallet(ann), pool(s, drop)), ((800, 0), 0))
    equal(s.one("SELECT sum(e.amount) FROM entries e JOIN ledger_accounts a ON a.id = e.account_id WHERE e.transfer_id = %s AND"
                " a.kind = 'suspense'", id), (200,))
    equal(s.one("SELECT route_reason FROM transfers WHERE id = %s", id), ("suspense",))
    _, ben = s.user(funds=1000)
    drop, _ = created(s, ben, 100, 2)
    equal(end(s.handler, ben, drop), "ended")
    s.change(ben, status="frozen")                              # frozen after the refund was booked: it is his own money
    arrive(s, [r[0] for r in refunds(s, drop)])
    equal(s.wallet(ben), (1000, 0))


@story("the drops of a closed profile end, and nobody is forgotten while a kobo of theirs is somewhere")
def _(s):
    (_, ann), (_, bob) = s.user(funds=500), s.user()

    def close(now=NOON): return s.one("SELECT close_products(%s, %s)", ann, now)[0]
    def forgettable(): return s.one("SELECT may_be_erased(%s)", ann)[0]
    (drop, _), pending = created(s, ann, 100, 3), order(ann, 100, 2)
    id = L.place(s.handler, [pending], NOON)[0][1]
    L.submit(s.worker, [id], NOON)
    claimed = claim(s.handler, bob, drop)[1]
    s.change(ann, status="closed")
    equal((close(), drop_state(s, drop), close()), (1, ("ended", "ended"), 1))          # one is being funded
    s.settle(id, "completed")
    equal((close(), drop_state(s, pending["target"])), (0, ("ended", "ended")))
    backs = [refunds(s, d)[0][0] for d in (drop, pending["target"])]
    equal((s.wallet(ann), forgettable()), ((0, 0), False))
    arrive(s, [claimed])
    arrive(s, backs, outcome="failed")
    equal((pool(s, drop), pool(s, pending["target"]), forgettable()), (200, 200, False))
    sweep(s.worker, NOON + MINUTE)
    arrive(s, [refunds(s, d)[1][0] for d in (drop, pending["target"])], NOON + MINUTE)
    equal((pool(s, drop), s.wallet(ann), forgettable()), (0, (0, 0), False))            # all of it is in suspense
    _, eve = s.user()
    equal(s.one("SELECT may_be_erased(%s)", eve), (False,))                             # not closed
    s.change(eve, status="closed")
    equal(s.one("SELECT may_be_erased(%s)", eve), (True,))


# Rights ----------------------------------------------------------------------------------------------------------------

@story("a request sees its own drops and claims, and neither login role writes them")
def _(s):
    (_, ann), (_, bob), (_, carl) = s.user(funds=1000), s.user(), s.user()
    drop, _ = created(s, ann, 100, 3, password="secret")
    claim(s.handler, bob, drop, password="secret")
    for user, want in ((ann, (1, 3)), (bob, (0, 1)), (carl, (0, 0))):
        with L.connect(s.database, "handler") as c:
            c.execute("SELECT set_config('transfa.user_id', %s, true)", [str(user)])
            equal(tuple(c.execute(f"SELECT count(*) FROM {t} WHERE {k} = %s", [drop]).fetchone()[0]
                        for t, k in (("money_drops", "id"), ("drop_slots", "drop_id"))), want)
    equal(s.handler.execute("SELECT count(*) FROM money_drops").fetchone(), (0,))
    writes = ["UPDATE drop_slots SET state = 'open'", "DELETE FROM drop_slots", "UPDATE money_drops SET state = 'open'",
              "INSERT INTO drop_slots VALUES (gen_random_uuid(), 1)", "SELECT refund_drop(gen_random_uuid(), NULL, now())",
              "SELECT close_drop(gen_random_uuid(), 'ended', NULL, now())", "DELETE FROM drop_password_failures"]
    for connection, statements in ((s.worker, writes), (s.handler, writes + ["SELECT sweep_money_drops(1)"])):
        for statement in statements:
            try: connection.execute(statement)
            except L.psycopg.errors.InsufficientPrivilege: continue
            raise AssertionError(f"went through: {statement}")


# Races -----------------------------------------------------------------------------------------------------------------

@story("fifty claimants for ten slots at once: ten are paid, forty are told that all is gone")
def _(s):
    for _ in range(4):
        _, ann = s.user(funds=1000)
        people = [s.user()[1] for _ in range(50)]
        drop, _ = created(s, ann, 100, 10)
        got = together(s.database, [lambda c, p=p: claim(c, p, drop) for p in people], connections=25)
        equal(sorted(g[0] for g in got), ["accepted"] * 10 + ["drop_exhausted"] * 40)
        arrive(s, [g[1] for g in got if g[0] == "accepted"])
        equal((pool(s, drop), drop_state(s, drop)), (0, ("ended", "claimed")))


@story("one person who claims twenty times at once is paid once")
def _(s):
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    drop, _ = created(s, ann, 10, 20)
    got = together(s.database, [lambda c: claim(c, bob, drop)[0] for _ in range(20)], connections=10)
    equal((sorted(got), slots(s, drop)), (["accepted"] + ["already_claimed"] * 19, {"open": 19, "claimed": 1}))


@story("who finds the last slot in other hands waits for it, and gets it when it comes back")
def _(s):
    (_, ann), (_, bob), (_, carl) = s.user(funds=1000), s.user(), s.user()
    drop, _ = created(s, ann, 10, 1)
    with L.connect(s.database, "handler") as c, concurrent.futures.ThreadPoolExecutor(1) as other:
        equal(claim(c, bob, drop)[0], "accepted")
        waiting = other.submit(claim, s.handler, carl, drop)
        until_waiting(s)
        c.rollback()
        equal(waiting.result()[0], "accepted")


@story("a claim that waited past the expiry is too late")
def _(s):
    (_, ann), (_, bob), (_, carl) = s.user(funds=1000), s.user(), s.user()
    now = s.one("SELECT clock_timestamp()")[0]
    drop, _ = created(s, ann, 10, 1, now=now, expires=now + dt.timedelta(seconds=3))
    with L.connect(s.database, "handler") as c, concurrent.futures.ThreadPoolExecutor(1) as other:
        equal(claim(c, bob, drop, None)[0], "accepted")
        waiting = other.submit(claim, s.handler, carl, drop, None)
        until_waiting(s)
        c.execute("SELECT pg_sleep_until(%s)", [now + dt.timedelta(seconds=3)])
        c.rollback()
        equal(waiting.result()[0], "drop_expired")


@story("the end races claims: each slot is claimed or goes back, never both")
def _(s):
    both = 0
    for turn in range(60):
        if turn >= 12 and both: break
        _, ann = s.user(funds=1000)
        people = [s.user()[1] for _ in range(12)]
        drop, _ = created(s, ann, 50, 20)
        jobs = [lambda c, p=p: later(c, turn) or claim(c, p, drop)[0] for p in people]
        jobs += [lambda c: later(c, turn) or end(c, ann, drop)] * 2
        got = together(s.database, jobs, connections=14)
        paid = got.count("accepted")
        equal(sorted(g for g in got if g not in ("accepted",)), sorted(["drop_ended"] * (13 - paid) + ["ended"]))
        equal([r[1] for r in refunds(s, drop)], [50 * (20 - paid)])
        arrive(s, [r[0] for r in s.worker.execute("SELECT id FROM transfers WHERE parent_id = %s AND state = 'accepted'", [drop])])
        equal((s.wallet(ann), pool(s, drop)), ((1000 - 50 * paid, 0), 0))
        both += 0 < paid < 12
    assert both, "no race was a race"


@story("the expiry, swept by three replicas, races claims by the real clock: one of the two wins, one refund")
def _(s):
    now, mixed = s.one("SELECT clock_timestamp()")[0], 0
    L.beat(s.worker, now + DAY)
    for turn in range(30):                                      # until it was close, however busy the machine is
        if mixed == 2: break
        _, ann = s.user(funds=1000)
        people = [s.user()[1] for _ in range(40)]
        now = s.one("SELECT clock_timestamp()")[0]
        drop, _ = created(s, ann, 20, 50, now=now, expires=now + dt.timedelta(milliseconds=120 + 40 * turn))
        until = dt.timedelta(milliseconds=300 + 40 * turn)

        def sweeps(c):
            while c.execute("SELECT clock_timestamp()").fetchone()[0] < now + until: sweep(c, None)

        def late(c, p, n):
            c.execute("SELECT pg_sleep(%s)", [0.004 * n])
            return claim(c, p, drop, None)[0]
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            sweeping = pool.submit(together, s.database, [sweeps] * 3, "worker", 3)
            got = together(s.database, [lambda c, p=p, n=n: late(c, p, n) for n, p in enumerate(people)], connections=8)
            sweeping.result()
        paid = got.count("accepted")
        equal(set(got) - {"accepted"} <= {"drop_expired"}, True)
        sweep(s.worker, None)
        equal([r[1] for r in refunds(s, drop)], [20 * (50 - paid)])
        equal(told(s, drop).count("money_drop.ended"), 1)
        mixed += 0 < paid < 40
    assert mixed, "no claim met the expiry"
    L.beat(s.worker, NOON + 400 * DAY)


@story("settlements of many drops in any order, beside claims and ends, never deadlock")
def _(s):
    rng = random.Random(5)
    _, ann = s.user(funds=10**6)
    drops = [created(s, ann, 10, 30)[0] for _ in range(6)]
    people = [s.user()[1] for _ in range(60)]
    before = s.owner.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").fetchone()[0]
    waiting, guard = [], threading.Lock()

    def claims(c):
        for _ in range(25):
            outcome, id = claim(c, rng.choice(people), rng.choice(drops))
            if outcome == "accepted":
                with guard: waiting.append(id)

    def settles(c):
        with L.connect(s.database, "worker", True) as w:
            for _ in range(15):
                with guard: ids, waiting[:] = waiting[:], []
                rng.shuffle(ids)
                L.submit(w, ids, NOON)
                L.settle(w, [(i, rng.choice(["completed", "failed", "reversed"])) for i in ids], NOON)
                sweep(w, NOON)
    together(s.database, [claims] * 4 + [settles] * 4 + [lambda c: [end(c, ann, d) for d in drops[:2]]], connections=9)
    equal(s.owner.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").fetchone()[0], before)


if __name__ == "__main__":
    tell_stories("money drops")
