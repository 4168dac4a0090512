#!/usr/bin/env python3
"""Money stories on the real database: races, refusals, refunds, rights.

usage: scenarios_test.py [part of a name ...]
"""
import datetime as dt, itertools, json, sys, uuid

sys.dont_write_bytecode = True

import ledger as L
from stage import DAY, HOUR, NOON, equal, story, tell_stories, together


# Acceptance ------------------------------------------------------------------------------------------------------------

@story("seven payments to a free person: five to the bank, two rerouted")
def _(s):
    (_, ann), (bob, b) = s.user(funds=10000), s.user()
    routes = [s.pay(ann, bob, 100)[2] for _ in range(7)]
    equal(routes, ["external"] * 5 + ["internal"] * 2)
    equal(s.slots(b), 5)
    equal(s.one("SELECT count(*) FROM transfers WHERE recipient_id = %s AND route_reason = 'no_slot'", b), (2,))
    events = s.owner.execute("SELECT type FROM outbox WHERE subject = %s ORDER BY sequence", [str(b)]).fetchall()
    equal(events, [("external_slot.taken",)] * 5)
    equal(s.owner.execute("SELECT count(*) FROM outbox WHERE type = 'transfer.rerouted.internal' AND subject IN"
                          " (SELECT id::text FROM transfers WHERE recipient_id = %s)", [b]).fetchone(), (2,))


@story("five slots in one batch too, and only with an external destination")
def _(s):
    (_, ann), (bob, b), (carl, c) = s.user(funds=10000), s.user(), s.user(bank=False)
    answers = L.place(s.handler, [L.request(ann, bob, 10) for _ in range(7)] + [L.request(ann, carl, 10)], NOON)
    equal([a[2] for a in answers], ["external"] * 5 + ["internal"] * 3)
    equal((s.slots(b), s.slots(c)), (5, 0))


@story("a plan routes to the bank without slots until the second it ends")
def _(s):
    (_, ann), (bob, b) = s.user(funds=10000), s.user(active_until=NOON)
    before = s.paid(ann, bob, 10, NOON - dt.timedelta(milliseconds=1))
    equal((s.one("SELECT route_reason FROM transfers WHERE id = %s", before), s.slots(b)), (("plan",), 0))
    s.paid(ann, bob, 10, NOON)
    equal(s.slots(b), 1)


@story("who prefers the wallet, is not verified or has no beneficiary is paid into the wallet without reroute event")
def _(s):
    _, ann = s.user(funds=10000)
    for more, reason in ((dict(receive_preference="wallet"), "prefers_wallet"), (dict(kyc_status="pending"), "not_verified"),
                         (dict(bank=False), "no_beneficiary")):
        name, _ = s.user(plan=True, **more)
        id = s.paid(ann, name, 10)
        equal(s.one("SELECT route, route_reason, sequence FROM transfers WHERE id = %s", id), ("internal", reason, 1))


@story("what is less than a bank takes goes to the wallet without a slot, with a plan too, and is withdrawn by nobody")
def _(s):
    before = NOON - 200 * DAY                                   # banks take what the service comes with, 100 kobo
    (_, ann), (bob, b), (carl, c), (dora, _) = s.user(funds=1000), s.user(), s.user(plan=True), s.user(plan=True, tier=0)
    def way(to, amount, now=before):
        id = s.paid(ann, to, amount, now, id=L.v7(now))
        quoted = s.handler.execute("SELECT route, route_reason FROM quote_payment(%s, %s, %s, %s)", [ann, to, amount, now]).fetchone()
        return s.one("SELECT route, route_reason, sequence FROM transfers WHERE id = %s", id), quoted
    little, slot, plan = ("internal", "below_minimum"), ("external", "free_slot"), ("external", "plan")
    equal(way(bob, 99), ((*little, 1), little))
    equal((s.slots(b), way(bob, 100), s.slots(b)), (0, ((*slot, 1), slot), 1))
    equal((way(carl, 99), way(carl, 100)), (((*little, 1), little), ((*plan, 1), plan)))
    equal([way(dora, a)[0][:2] for a in (99, 100)], [little, plan])         # her wallet has a ceiling: she is locked for it
    equal((way(bob, 1, NOON)[1], s.slots(c)), (slot, 0))                    # by then banks take a kobo
    bank = s.one("SELECT id FROM beneficiaries WHERE user_id = %s AND is_default", b)[0]
    L.fund(s.worker, f"{bob}-account", 1000)
    def draw(amount, now, key): return L.place(s.handler, [L.request(b, None, amount, key, route="withdraw", type="self_transfer", target=bank)], now)[0]
    equal([draw(99, before, "little").outcome, draw(100, before, "enough").outcome], ["amount_below_minimum", "accepted"])
    equal([draw(99, NOON, "little").outcome, draw(99, NOON, "again").outcome], ["accepted", "accepted"])     # approved anew
    equal((s.wallet(b), s.slots(b)), ((1000, 298), 1))


@story("the available balance is the limit to the kobo, fees included")
def _(s):
    s.owner.execute("INSERT INTO fee_schedule VALUES ('p2p', 'external', %s, 0, 10, 5), ('p2p', 'internal', %s, 0, 1, 0)", [NOON + DAY] * 2)
    try:
        (_, ann), (bob, b) = s.user(funds=115), s.user(plan=True)
        equal(s.pay(ann, bob, 101, NOON + DAY)[0], "insufficient_funds")
        id = s.sent(ann, bob, 100, NOON + DAY)
        equal(s.wallet(ann), (115, 115))
        s.settle(id, "completed", now=NOON + DAY)
        equal(s.wallet(ann), (0, 0))
        legs = s.worker.execute("SELECT leg, sum(amount) FROM entries WHERE transfer_id = %s AND amount > 0 GROUP BY 1 ORDER BY 1", [id]).fetchall()
        equal(legs, [("amount", 100), ("duty", 5), ("fee", 10)])
        s.settle(id, "reversed", now=NOON + DAY)
        equal(s.wallet(ann), (115, 0))
        L.fund(s.worker, s.one("SELECT provider_account FROM users WHERE id = %s", ann)[0], 100)
        again = s.sent(ann, bob, 200, NOON + DAY)
        s.settle(again, "failed", now=NOON + DAY)
        equal(s.wallet(ann), (215, 0))
    finally:
        s.owner.execute("DELETE FROM fee_schedule WHERE valid_from = %s", [NOON + DAY])


@story("limits hold to the kobo, per transfer, day and month, and the user's own lower ones too")
def _(s):
    (_, ann), (bob, _) = s.user(funds=300000, tier=1), s.user(plan=True)
    equal(s.pay(ann, bob, 5001)[0], "limit_per_transfer")
    for _ in range(6): s.paid(ann, bob, 5000)
    equal(s.pay(ann, bob, 1)[0], "limit_per_day")
    tomorrow = NOON + DAY
    for day in range(1, 6):
        for _ in range(6): s.paid(ann, bob, 5000, NOON + day * DAY)
    for _ in range(4): s.paid(ann, bob, 5000, NOON + 6 * DAY)
    equal(s.spent(ann), (20000, 200000))
    equal(s.pay(ann, bob, 1, NOON + 6 * DAY)[0], "limit_per_month")
    (_, carl) = s.user(funds=10000)
    s.worker.execute("INSERT INTO user_limits (user_id, per_transfer, per_day) VALUES (%s, 100, 150)", [carl])
    equal([s.pay(carl, bob, a)[0] for a in (101, 100, 51, 50, 1)],
          ["limit_per_transfer", "accepted", "limit_per_day", "accepted", "limit_per_day"])


@story("days and months are Lagos ones: 23:00 UTC is tomorrow")
def _(s):
    (_, ann), (bob, b) = s.user(funds=100000, tier=1), s.user()
    edge = dt.datetime(2026, 5, 31, 23, tzinfo=L.UTC)
    for _ in range(6): s.paid(ann, bob, 5000, edge - dt.timedelta(seconds=1))
    equal((s.spent(ann), s.slots(b)), ((30000, 30000), 5))
    equal(s.pay(ann, bob, 1, edge - dt.timedelta(seconds=1))[0], "limit_per_day")
    id = s.paid(ann, bob, 1, edge)
    equal((s.spent(ann), s.slots(b)), ((1, 1), 1))
    equal(s.one("SELECT slot_month, spent_day FROM transfers WHERE id = %s", id), (dt.date(2026, 6, 1), dt.date(2026, 6, 1)))
    s.paid(ann, bob, 1, edge - HOUR)                            # a replica whose clock is behind counts into the newer day
    equal((s.spent(ann), s.slots(b)), ((2, 2), 2))


@story("a new device sends little on its first day, by PIN too, and all on its second")
def _(s):
    (_, ann), (bob, _) = s.user(funds=10**7), s.user(plan=True)
    device = uuid.uuid4()
    s.worker.execute("INSERT INTO devices (id, user_id, public_key, activated_at) VALUES (%s, %s, '', %s)", [device, ann, NOON - HOUR])
    id = s.sent(ann, bob, 1500000, device=device)
    equal(s.pay(ann, bob, 500001, device=device)[0], "limit_new_device")
    equal(s.pay(ann, bob, 500001)[0], "limit_new_device")
    s.settle(id, "failed")
    s.paid(ann, bob, 2000000)
    equal(s.pay(ann, bob, 1, device=device)[0], "limit_new_device")
    s.paid(ann, bob, 3000000, NOON + 23 * HOUR, device=device)


def known(s, device, user, since, now):
    s.worker.execute("SELECT note_device(%s, %s, '', %s, 1, %s)", [device, user, since, now])


def first_day(s, device): return s.one("SELECT first_day_total FROM devices WHERE id = %s", device)[0]


@story("a reset PIN counts since it was reset: what PINs sent before its event came is in its day, which it does not prolong")
def _(s):
    (_, ann), (bob, _) = s.user(funds=10**8), s.user(plan=True)
    phone, reset, other = uuid.uuid4(), uuid.uuid4(), uuid.uuid4()
    known(s, phone, ann, NOON - 10 * HOUR, NOON - 10 * HOUR)

    def paid(amount, at, **more): return s.paid(ann, bob, amount, at, id=L.v7(at), **more)
    paid(100000, NOON - HOUR)                                   # before the reset: the phone's
    paid(200000, NOON, device=phone)                            # approved by the phone: not the PIN's
    paid(300000, NOON)
    gone = paid(400000, NOON + HOUR)
    L.submit(s.worker, [gone], NOON + HOUR)
    s.settle(gone, "failed", now=NOON + HOUR)
    still = paid(700000, NOON + 2 * HOUR)
    for _ in range(2): known(s, reset, ann, NOON, NOON + 3 * HOUR)
    equal((first_day(s, phone), first_day(s, reset)), (300000, 1000000))
    known(s, reset, ann, NOON + 3 * HOUR, NOON + 3 * HOUR)      # an id that is known says nothing new
    equal(s.pay(ann, bob, 1000001, NOON + 4 * HOUR)[0], "limit_new_device")
    L.submit(s.worker, [still], NOON + 4 * HOUR)
    s.settle(still, "failed", now=NOON + 4 * HOUR)
    equal(first_day(s, reset), 300000)
    paid(1700000, NOON + 5 * HOUR)
    equal(s.pay(ann, bob, 1, NOON + 23 * HOUR)[0], "limit_new_device")
    paid(3000000, NOON + 24 * HOUR)
    known(s, other, ann, NOON - 9 * HOUR, NOON + 25 * HOUR)     # older than the reset: what was sent since is not its
    equal((first_day(s, other), first_day(s, phone)), (100000, 200000))
    ahead = uuid.uuid4()
    known(s, ahead, ann, NOON + 99 * DAY, NOON + 26 * HOUR)     # a clock that runs ahead elsewhere
    equal(s.one("SELECT activated_at FROM devices WHERE id = %s", ahead), (NOON + 26 * HOUR,))


@story("closed is the last word, whoever says otherwise")
def _(s):
    _, ann = s.user()
    for status in ("frozen", "active", "closed"): s.change(ann, status=status)
    for status in ("active", "frozen"):
        try: s.change(ann, status=status)
        except L.psycopg.errors.CheckViolation: continue
        raise AssertionError(f"a closed profile became {status}")
    s.change(ann, status="closed", username=None)


@story("a payment that would lift the recipient above the maximum balance is refused, pending ones counted")
def _(s):
    (_, ann), (bob, b) = s.user(funds=10000), s.user(tier=0, bank=False)       # ceiling 6,000
    first = s.sent(ann, bob, 4000)
    equal(s.pay(ann, bob, 2001)[0], "recipient_limit")
    s.settle(first, "completed")
    equal(s.pay(ann, bob, 2001)[0], "recipient_limit")
    second = s.sent(ann, bob, 2000)
    equal(s.pay(ann, bob, 1)[0], "recipient_limit")
    s.settle(second, "failed")
    s.paid(ann, bob, 2000)


@story("an approval works once, also when it was refused")
def _(s):
    (name, ann), (bob, _) = s.user(funds=100), s.user()
    nonce = uuid.uuid4()
    equal(s.pay(ann, bob, 500, nonce=nonce)[0], "insufficient_funds")
    L.fund(s.worker, f"{name}-account", 1000)
    equal(s.pay(ann, bob, 500, nonce=nonce)[0], "approval_used")
    nonce = uuid.uuid4()
    s.change(ann, sending_allowed=False)
    equal(s.pay(ann, bob, 500, nonce=nonce)[0], "receive_only")
    s.change(ann, sending_allowed=True)
    equal(s.pay(ann, bob, 500, nonce=nonce)[0], "approval_used")
    both = [L.request(ann, bob, 1, nonce=nonce2) for nonce2 in [uuid.uuid4()] * 2]
    equal([a[0] for a in L.place(s.handler, both, NOON)], ["accepted", "approval_used"])


@story("one key, one payment: answered as it was, refused for another body, kept by the transfer for ever")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    first = s.pay(ann, bob, 100, key="lunch")
    kept = L.stored(s.handler, ann, L.P2P, "lunch")
    equal([kept[n] for n in ("code", "transfer_id", "route", "amount", "fee", "duty", "recipient_username")],
          ["accepted", first.id, first.route, 100, first.fee, first.duty, bob])
    again = ("idempotent_replay", first.id, None, "accepted", None, None)
    equal(s.pay(ann, bob, 100, NOON + HOUR, key="lunch"), again)
    equal(s.pay(ann, bob, 200, key="lunch")[0], "idempotency_key_reused")
    dear = L.request(ann, bob, 5000, key="dear")
    equal(L.place(s.handler, [dear], NOON)[0][0], "insufficient_funds")
    equal(L.place(s.handler, [dear], NOON)[0], ("idempotent_replay", None, None, "insufficient_funds", None, None))
    equal(L.stored(s.handler, ann, L.P2P, "dear")["code"], "insufficient_funds")
    frozen = L.request(ann, bob, 10, key="frozen")
    s.change(ann, status="frozen")
    equal(L.place(s.handler, [frozen], NOON)[0][0], "sender_restricted")
    s.change(ann, status="active")
    equal(L.place(s.handler, [frozen], NOON)[0], ("idempotent_replay", None, None, "sender_restricted", None, None))
    equal(s.pay(ann, bob, 10, key="frozen")[0], "accepted")     # approved anew
    s.worker.execute("SELECT prune_orders('2999-01-01', '2999-01-01', 1000000)")
    equal(L.stored(s.handler, ann, L.P2P, "dear"), None)
    equal(s.pay(ann, bob, 100, NOON + 40 * DAY, key="lunch"), again)
    equal(s.pay(ann, bob, 200, NOON + 40 * DAY, key="lunch")[0], "idempotency_key_reused")
    equal(L.stored(s.handler, ann, L.P2P, "lunch"), kept)
    equal(s.wallet(ann), (1000, 110))


@story("refusals in their order")
def _(s):
    (me, ann), (bob, _) = s.user(funds=1000), s.user()
    frozen, waiting = s.user(status="frozen")[0], s.user(provider_account=None)[0]
    cases = [((uuid.uuid4(), bob, 1), "sender_unknown"), ((ann, "nobody", 1), "recipient_unknown"), ((ann, me, 1), "recipient_self"),
             ((ann, bob, 0), "amount_invalid"), ((ann, bob, -1), "amount_invalid"), ((ann, frozen, 1), "recipient_unavailable"),
             ((ann, waiting, 1), "recipient_not_ready"), ((ann, bob, 2**63 - 1), "limit_per_transfer")]
    for asked, code in cases: equal(s.pay(*asked), (code, None, None, code, None, None))
    equal(s.pay(ann, bob, 1, device=uuid.uuid4())[0], "device_unknown")
    equal(s.wallet(ann), (1000, 0))


@story("an order keeps to its quote: refused when that has expired or costs more by now, and taken when it costs less")
def _(s):
    (_, ann), (bob, b) = s.user(funds=100_000), s.user(bank=False)
    def quoted(cost, expires, now=NOON, **more):
        details = '{"quote":{"cost":%d,"expires_at":"%s"}}' % (cost, expires.isoformat())
        return s.pay(ann, bob, 100, now, details=details, **more)
    equal(quoted(0, NOON)[0], "quote_expired")
    equal(quoted(0, NOON + HOUR)[0], "accepted")
    charged = NOON + 30 * DAY
    # A later version of the fees, in force for this second only: other stories pay none.
    s.owner.execute("INSERT INTO fee_schedule VALUES ('p2p', 'internal', %s, 0, 20, 5), ('p2p', 'internal', %s, 0, 0, 0)",
                    [charged, charged + dt.timedelta(seconds=1)])
    try:
        equal(quoted(24, charged + HOUR, charged)[0], "quote_changed")
        equal(quoted(25, charged + HOUR, charged, key="quoted")[0], "accepted")
        equal(quoted(26, charged + HOUR, charged)[0], "accepted")
    finally:
        s.owner.execute("DELETE FROM fee_schedule WHERE valid_from >= %s", [charged])
    # The same request again is answered as before, also when the quote has expired meanwhile.
    equal(quoted(25, charged + HOUR, charged + DAY, key="quoted")[0], "idempotent_replay")
    equal(s.wallet(ann), (100_000, 100 + 125 + 125))


# Submission ------------------------------------------------------------------------------------------------------------

@story("while a source is silent nothing is submitted, and after a day it fails and gives everything back")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user()
    late = NOON + 400 * DAY + dt.timedelta(seconds=31)
    id = s.paid(ann, bob, 100, late)
    equal((L.submit(s.worker, [id], late), s.state(id)), (["stale"], "accepted"))
    equal((L.submit(s.worker, [id], late + DAY + HOUR), s.state(id)), (["failed"], "failed"))
    equal((s.wallet(ann), s.slots(b), s.spent(ann)), ((1000, 0), 0, (0, 0)))


@story("a bank is slow or down by what became of transfers to it; few of them, refusals and wallets say nothing")
def _(s):
    minute, (_, ann) = dt.timedelta(minutes=1), s.user(funds=1_000_000)
    def bank(code):
        name, user = s.user(plan=True)
        s.worker.execute("UPDATE beneficiaries SET bank_code = %s WHERE user_id = %s", [code, user])
        return name, user
    def health(now):
        s.worker.execute("SELECT weigh_banks(1000, %s)", [now])
        return {r[0]: r[1:] for r in s.worker.execute("SELECT bank_code, status, transfers, failed, late FROM bank_health").fetchall()}
    def sent(to): return s.sent(ann, to, 10, now, id=L.v7(now))
    def ahead(user, to): return s.handler.execute("SELECT bank_ahead(%s, %s, NULL)", [user, to]).fetchone()[0]
    now = NOON + 200 * DAY                                       # other stories' transfers are not of this half hour
    (good, _), (bad, b), (late, _), (few, _), (quiet, _) = (bank(c) for c in ("good", "bad", "late", "few", "quiet"))
    for to, outcomes in ((good, ["completed"] * 9 + ["failed"]), (bad, ["failed"] * 4 + ["completed"]), (few, ["failed"] * 4)):
        for outcome in outcomes: s.settle(sent(to), outcome, now=now + dt.timedelta(seconds=10))
    under_way = [sent(late) for _ in range(6)]
    equal("late" in health(now + minute), False)
    for id in [sent(quiet) for _ in range(6)]:
        s.worker.execute("SELECT * FROM settle_payments(ARRAY[%s::uuid], ARRAY['failed'], ARRAY['insufficient_funds'], ARRAY['refused'],"
                         " ARRAY[NULL::text], ARRAY[%s::uuid], ARRAY[NULL::uuid], 'test', %s)", [id, L.v7(now), now])
    equal(health(now + 3 * minute), dict(good=("normal", 10, 1, 0), bad=("down", 5, 4, 0), few=("normal", 4, 4, 0), late=("down", 6, 0, 6)))
    equal((ahead(ann, bad), ahead(ann, good), ahead(ann, quiet), ahead(ann, "nobody")), ("down", "normal", "normal", None))
    own = s.one("SELECT id FROM beneficiaries WHERE user_id = %s", b)[0]
    mine = "SELECT bank_ahead(%s, NULL, %s)"
    equal([s.handler.execute(mine, [u, own]).fetchone()[0] for u in (b, ann)], ["down", None])
    for id in under_way: s.settle(id, "completed", now=now + 4 * minute)
    equal(health(now + 5 * minute)["late"], ("slow", 6, 0, 0))   # they took four minutes
    equal(health(now + 60 * minute), {})


@story("what stands out within an hour is noted for people, once, and not again within a day of their look")
def _(s):
    now, (_, ann), (shop, sh), (bob, b) = NOON + 300 * DAY, s.user(funds=90_000_000), s.user(bank=False), s.user(bank=False, funds=100)
    s.change(sh, account_type="merchant")
    people = [s.user(bank=False, funds=1000) for _ in range(21)]
    (carl, c), (dora, d) = s.user(bank=False), s.user(bank=False)
    def sent(user, to, amount=10): return s.paid(user, to, amount, now, id=L.v7(now))
    def alerts(at):
        s.worker.execute("SELECT note_risk_alerts(10000, %s)", [at])
        return {(r[0], r[1]): r[2:] for r in s.worker.execute(
            "SELECT user_id, kind, counted, received, sent FROM risk_alerts WHERE state = 'open' AND user_id = ANY (%s)", [[ann, b, sh, c, d]]).fetchall()}
    for name, _ in people[:20]: sent(ann, name)
    for _, user in people[:20]: sent(user, bob)
    for _, user in people: sent(user, shop)                     # a merchant is paid by many
    equal(alerts(now), {})
    sent(ann, people[20][0]), sent(people[20][1], bob)
    equal(alerts(now), {(ann, "many_recipients"): (21, None, None), (b, "many_senders"): (21, None, None)})
    for name, user, onward in ((carl, c, 9_000_000), (dora, d, 8_000_000)):
        s.settle(s.sent(ann, name, 10_000_000, now, id=L.v7(now)), "completed", now=now)
        sent(user, shop, onward)
    equal([x for x in alerts(now).items() if x[0][1] == "passes_on"], [((c, "passes_on"), (None, 10_000_000, 9_000_000))])
    id = s.one("SELECT id FROM risk_alerts WHERE user_id = %s AND kind = 'many_recipients'", ann)[0]
    clear = "SELECT * FROM clear_risk_alert(%s, 'ngozi', 'a landlord', %s)"
    nothing = (None,) * 5
    equal([s.one(clear, x, now) for x in (L.v7(), id, id)],
          [("unknown", *nothing), ("cleared", ann, "many_recipients", 23, None, None), ("decided", *nothing)])
    equal([set(alerts(now + h * HOUR)) & {(ann, "many_recipients")} for h in (0, 23, 25)], [set()] * 3)
    equal(s.one("SELECT cleared_by, note FROM risk_alerts WHERE id = %s", id), ("ngozi", "a landlord"))


@story("who was restricted, or whose device was revoked, after the acceptance sends nothing")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user()
    device = uuid.uuid4()
    s.worker.execute("INSERT INTO devices (id, user_id, public_key, activated_at) VALUES (%s, %s, '', %s)", [device, ann, NOON - 9 * DAY])
    for change, back in ((dict(status="frozen"), dict(status="active")), (dict(debits_blocked=True), dict(debits_blocked=False)),
                         (dict(sending_allowed=False), dict(sending_allowed=True))):
        id = s.paid(ann, bob, 10)
        s.change(ann, **change)
        equal(L.submit(s.worker, [id], NOON), ["failed"])
        s.change(ann, **back)
    id = s.paid(ann, bob, 10)
    s.change(b, credits_blocked=True)
    equal(L.submit(s.worker, [id], NOON), ["failed"])
    s.change(b, credits_blocked=False)
    id = s.paid(ann, bob, 10, device=device)
    s.worker.execute("UPDATE devices SET revoked_at = now() WHERE id = %s", [device])
    equal(L.submit(s.worker, [id], NOON), ["failed"])
    equal((s.wallet(ann), s.slots(b)), ((1000, 0), 0))
    equal(s.one("SELECT count(*) FROM provider_calls c JOIN transfers t USING (reference) WHERE t.sender_id = %s", ann), (0,))


@story("a beneficiary that is gone at submission: switched to the wallet once, slot back")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user()
    id = s.paid(ann, bob, 100, key="gone")
    equal(s.slots(b), 1)
    kept = L.stored(s.handler, ann, L.P2P, "gone")
    s.worker.execute("UPDATE beneficiaries SET deleted_at = now() WHERE user_id = %s", [b])
    equal(L.submit(s.worker, [id, id], NOON), ["send", "query"])
    equal((kept["route"], L.stored(s.handler, ann, L.P2P, "gone")), ("external", kept))    # the answer stays what it was
    equal(s.one("SELECT route, destination, slot_month FROM transfers WHERE id = %s", id), ("internal", f"{bob}-account", None))
    equal(s.slots(b), 0)
    s.settle(id, "completed")
    equal(s.wallet(b), (100, 0))


@story("two workers with the same job: one sends, the other asks")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    ids = [s.paid(ann, bob, 1) for _ in range(20)]
    both = together(s.database, [lambda c: L.submit(c, ids, NOON), lambda c: L.submit(c, ids[::-1], NOON)], "worker", 2)
    equal(sorted(zip(*(both[0], both[1][::-1]))), [("query", "send")] * both[0].count("query") + [("send", "query")] * both[0].count("send"))


@story("an order is sent again only after two absences, two minutes apart, long after the first call")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    id = s.sent(ann, bob, 10)
    s.settle(id, "unknown")

    def absence(seconds):
        at = NOON + dt.timedelta(seconds=seconds)
        verdict = s.one("SELECT verdict FROM record_absence(ARRAY[%s::uuid], %s)", id, at)[0]
        return verdict, s.one("SELECT verdict FROM begin_resend(ARRAY[%s::uuid], 'test', '10 seconds', %s)", id, at)[0]
    equal([absence(n) for n in (60, 129, 130, 249)], [("wait", "wait")] * 4)
    equal(absence(250), ("resend", "send"))
    equal(absence(251), ("wait", "wait"))                       # the second call starts it all over
    equal(s.one("SELECT max(attempt) FROM provider_calls WHERE reference = %s", f"trf-{id}"), (2,))


# Outcomes --------------------------------------------------------------------------------------------------------------

@story("what failed or was reversed gives back money, limits and slot at once, and only once")
def _(s):
    for outcomes in (("failed", "failed"), ("reversed", "reversed"), ("completed", "reversed", "completed"), ("unknown", "failed")):
        (_, ann), (bob, b) = s.user(funds=1000), s.user()
        id = s.sent(ann, bob, 300)
        equal((s.wallet(ann), s.slots(b), s.spent(ann)), ((1000, 300), 1, (300, 300)))
        s.settle(id, *outcomes)
        equal((s.wallet(ann), s.slots(b), s.spent(ann)), ((1000, 0), 0, (0, 0)))


@story("a slot goes back to the month it was taken from")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user()
    may, june = s.sent(ann, bob, 10), NOON + 30 * DAY
    id = s.sent(ann, bob, 10, june)
    s.settle(may, "failed", now=june)
    equal((s.slots(b), s.spent(ann)), (1, (10, 10)))
    s.settle(id, "failed", now=june)
    said = s.owner.execute("SELECT data::json->>'month', data::json->>'used' FROM outbox WHERE type = 'external_slot.released'"
                           " AND subject = %s ORDER BY sequence", [str(b)]).fetchall()
    equal(said, [("2026-05", None), ("2026-06", "0")])          # of a month that is over nobody counts any more
    two = [s.sent(ann, bob, 10, june) for _ in range(2)]
    equal(L.settle(s.worker, [(id, "failed") for id in two], june), ["failed", "failed"])
    said = s.owner.execute("SELECT data::json->>'used' FROM outbox WHERE type = 'external_slot.released' AND subject = %s"
                           " ORDER BY sequence OFFSET 2", [str(b)]).fetchall()
    equal(said, [("1",), ("0",)])


@story("every order and repetition of the provider's messages ends in the same books")
def _(s):
    for outcomes in itertools.permutations(("completed", "reversed", "unknown", "open", "reversed")):
        (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
        id = s.sent(ann, bob, 300)
        L.settle(s.worker, [(id, o) for o in outcomes], NOON)
        equal((s.state(id), s.wallet(ann), s.wallet(b)), ("reversed", (1000, 0), (0, 0)))


@story("a late success after a failure is a break for people, never a flip")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    id = s.sent(ann, bob, 300)
    equal(s.settle(id, "failed", "completed", "completed"), ["failed", "break", "break"])
    equal((s.state(id), s.wallet(ann)), ("failed", (1000, 0)))
    equal(s.one("SELECT count(*), min(kind) FROM breaks WHERE transfer_id = %s", id), (1, "provider_says_completed"))
    early = s.paid(ann, bob, 10)
    equal(s.settle(early, "completed", "unknown", "open"), ["break", "ignored", "ignored"])


# Decisions of operators ------------------------------------------------------------------------------------------------

PROPOSE = "SELECT result FROM propose_outcome(%s, %s, %s, %s, %s, interval '24 hours', %s)"


def proposed(s, id, outcome, who="eve", now=NOON, reason="seen on the statement"):
    """Proposes an outcome: the proposal, and what came of it."""
    proposal = L.v7()
    return proposal, s.one(PROPOSE, proposal, id, outcome, reason, who, now)[0]


def approved(s, proposal, who="mallory", now=NOON):
    return s.one("SELECT result FROM approve_outcome(%s, %s, %s, %s)", proposal, who, L.v7(), now)[0]


def withdrawn(s, proposal, who="eve", now=NOON):
    return s.one("SELECT result FROM withdraw_outcome(%s, %s, %s)", proposal, who, now)[0]


def order_ended(s, id, attempt, now):
    s.one("SELECT finish_calls(ARRAY[%s::text], ARRAY[%s::integer], ARRAY['lost'], %s)", f"trf-{id}", attempt, now)


def lost(s, payer, payee, amount=300):
    """A transfer of which nobody knows whether it happened: its order had no answer, and can arrive no more."""
    sent = NOON - dt.timedelta(seconds=130)
    id = s.sent(payer, payee, amount, sent)
    order_ended(s, id, 1, sent + dt.timedelta(seconds=1))
    equal(s.settle(id, "unknown"), ["unknown"])
    return id


@story("unknown ends by evidence or by two operators, and keeps the money held until then")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    id = lost(s, ann, bob)
    equal((L.submit(s.worker, [id], NOON + 30 * DAY), s.wallet(ann)), (["query"], (1000, 300)))
    proposal, word = proposed(s, id, "failed")
    equal((word, proposed(s, id, "completed", "mallory")[1]), ("open", "already_proposed"))
    equal((approved(s, proposal, "eve"), s.state(id), s.wallet(ann)), ("same_operator", "unknown", (1000, 300)))
    equal((approved(s, proposal), approved(s, proposal), s.state(id), s.wallet(ann)), ("approved", "decided", "failed", (1000, 0)))
    equal(s.one("SELECT actor, evidence FROM transfer_steps WHERE transfer_id = %s AND state = 'failed'", id),
          ("operators eve and mallory", f"proposal:{proposal}"))
    other = lost(s, ann, bob)
    equal(approved(s, proposed(s, other, "completed", "mallory")[0], "eve"), "approved")
    equal((s.state(other), s.wallet(ann), s.wallet(b)), ("completed", (700, 0), (300, 0)))
    nothing, last = (None,) * 4, proposed(s, lost(s, ann, bob), "failed")[0]
    told = lambda: s.one("SELECT * FROM approve_outcome(%s, 'mallory', %s, %s)", last, L.v7(), NOON)
    of = s.one("SELECT transfer_id FROM transfer_proposals WHERE id = %s", last)[0]
    equal((told(), told()), (("approved", of, "failed", "eve", "seen on the statement"), ("decided", *nothing)))
    try:
        s.one("SELECT * FROM settle_payments(ARRAY[%s::uuid], ARRAY['failed'], ARRAY['x'], ARRAY[''], ARRAY[NULL::text], ARRAY[%s::uuid],"
              " ARRAY[NULL::uuid], 'test')", lost(s, ann, bob), L.v7())
        raise AssertionError("failed without evidence")
    except L.psycopg.errors.CheckViolation: pass


@story("nobody decides without a reason, about what is not unknown, or about what was never sent")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    for who, reason in (("eve", ""), ("", "sure")):
        try:
            proposed(s, lost(s, ann, bob, 10), "failed", who, reason=reason)
            raise AssertionError("proposed by nobody or without a reason")
        except L.psycopg.errors.CheckViolation: pass
    open_one, accepted = s.sent(ann, bob, 10), s.paid(ann, bob, 10)
    for id, outcome, word in ((open_one, "completed", "not_unknown"), (open_one, "reversed", "not_reversible"), (accepted, "failed", "not_unknown"),
                              (lost(s, ann, bob, 10), "reversed", "not_reversible"), (L.v7(), "failed", "missing")):
        equal(proposed(s, id, outcome)[1], word)
    inbound = s.one("SELECT id FROM transfers WHERE recipient_id = %s AND type = 'inbound'", ann)[0]
    equal(proposed(s, inbound, "reversed")[1], "not_reversible")
    equal((approved(s, L.v7()), withdrawn(s, L.v7())), ("missing", "missing"))


@story("a proposal holds for a day, can be withdrawn, and makes room for another")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    id = lost(s, ann, bob)
    late, _ = proposed(s, id, "failed")
    equal((approved(s, late, now=NOON + DAY), approved(s, late), s.state(id)), ("expired", "decided", "unknown"))
    gone, word = proposed(s, id, "failed", now=NOON + DAY)
    equal((word, withdrawn(s, gone, "mallory"), withdrawn(s, gone), approved(s, gone)), ("open", "withdrawn", "decided", "decided"))
    stale, _ = proposed(s, id, "failed", now=NOON + DAY)
    last, word = proposed(s, id, "completed", now=NOON + 2 * DAY)
    equal((word, approved(s, stale, now=NOON + 2 * DAY)), ("open", "decided"))
    equal(approved(s, last, now=NOON + 3 * DAY - dt.timedelta(milliseconds=1)), "approved")
    states = s.owner.execute("SELECT state FROM transfer_proposals WHERE transfer_id = %s ORDER BY proposed_at, id", [id]).fetchall()
    equal((sorted(x[0] for x in states), s.state(id)), (["approved", "expired", "expired", "withdrawn"], "completed"))


@story("evidence that comes before the approval wins, and what comes after it and says otherwise is a break")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    for seen, state in (("completed", "completed"), ("open", "submitted"), ("reversed", "reversed")):
        id = lost(s, ann, bob, 10)
        proposal, _ = proposed(s, id, "failed")
        s.settle(id, seen)
        equal((approved(s, proposal), s.state(id)), ("overtaken", state))
    id = lost(s, ann, bob, 10)
    equal(approved(s, proposed(s, id, "failed")[0]), "approved")
    equal((s.settle(id, "completed"), s.state(id)), (["break"], "failed"))


@story("nobody decides that a transfer failed while its order may still arrive, or on what was known before it was sent again")
def _(s):
    def at(seconds): return NOON + dt.timedelta(seconds=seconds)
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    id = s.sent(ann, bob, 300)
    s.settle(id, "unknown")                                      # the order has no end: who sent it may have crashed
    equal(approved(s, proposed(s, id, "failed", now=at(100))[0], now=at(129)), "overtaken")
    before, _ = proposed(s, id, "failed", now=at(140))
    for seconds in (140, 260): s.one("SELECT verdict FROM record_absence(ARRAY[%s::uuid], %s)", id, at(seconds))
    equal(s.one("SELECT verdict FROM begin_resend(ARRAY[%s::uuid], 'test', '10 seconds', %s)", id, at(260)), ("send",))
    order_ended(s, id, 2, at(261))
    equal((approved(s, before, now=at(300)), s.state(id), s.wallet(ann)), ("overtaken", "unknown", (1000, 300)))
    equal(approved(s, proposed(s, id, "failed", now=at(300))[0], now=at(390)), "approved")
    crashed = s.sent(ann, bob, 300)
    s.settle(crashed, "unknown")
    late, _ = proposed(s, crashed, "failed", now=at(100))
    equal((approved(s, late, now=at(130)), s.wallet(ann), s.wallet(b)), ("approved", (1000, 0), (0, 0)))
    arrived = s.sent(ann, bob, 300)
    s.settle(arrived, "unknown")
    equal((approved(s, proposed(s, arrived, "completed")[0]), s.wallet(b)), ("approved", (300, 0)))


@story("a reversal that the provider did not tell of is booked by two operators, whatever is left of the money")
def _(s):
    (_, ann), (bob, b), (carl, _) = s.user(funds=1000), s.user(bank=False), s.user()
    id = s.sent(ann, bob, 300)
    s.settle(id, "completed")
    s.paid(b, carl, 200)
    equal(proposed(s, id, "failed")[1], "not_unknown")
    proposal, word = proposed(s, id, "reversed")
    equal((word, approved(s, proposal, "eve"), approved(s, proposal)), ("open", "same_operator", "approved"))
    equal((s.state(id), s.wallet(ann), s.wallet(b)), ("reversed", (1000, 0), (200, 200)))
    equal(s.one("SELECT owed, debits_blocked FROM wallets WHERE user_id = %s", b), (200, True))
    equal((proposed(s, id, "reversed")[1], s.settle(id, "reversed")), ("not_reversible", ["ignored"]))
    (_, dan), (eva, _) = s.user(funds=100), s.user()                                # to a bank: the slot comes back too
    away = s.sent(dan, eva, 100)
    s.settle(away, "completed")
    equal(approved(s, proposed(s, away, "reversed")[0]), "approved")
    equal((s.wallet(dan), s.spent(dan)), ((100, 0), (0, 0)))


@story("two who propose, two who approve and a message of the provider, all at once: one of them counts")
def _(s):
    (_, ann), (bob, b) = s.user(funds=100000), s.user(bank=False)
    for _ in range(12):
        id = lost(s, ann, bob, 10)
        first = lambda c, who: c.execute(PROPOSE, [L.v7(), id, "failed", "sure", who, NOON]).fetchone()[0]
        got = together(s.database, [lambda c, w=w: first(c, w) for w in ("eve", "mallory", "trent", "peggy")], "worker", 4)
        equal(sorted(got), ["already_proposed"] * 3 + ["open"])
        proposal, by = s.one("SELECT id, proposed_by FROM transfer_proposals WHERE transfer_id = %s", id)
        approve = lambda c, who: c.execute("SELECT result FROM approve_outcome(%s, %s, %s, %s)", [proposal, who, L.v7(), NOON]).fetchone()[0]
        others = [w for w in ("eve", "mallory", "trent", "peggy") if w != by]
        got = together(s.database, [lambda c, w=w: approve(c, w) for w in others] + [lambda c: L.settle(c, [(id, "completed")], NOON)[0]],
                       "worker", 4)
        state = s.state(id)
        ours = "approved" if state == "failed" else "overtaken"
        equal((sorted(got[:3]), got[3]), (sorted([ours, "decided", "decided"]), "break" if state == "failed" else "completed"))
    arrived = s.one("SELECT count(*) FROM transfers WHERE sender_id = %s AND state = 'completed'", ann)[0]
    equal((s.wallet(ann), s.wallet(b)), ((100000 - 10 * arrived, 0), (10 * arrived, 0)))


@story("money that was taken back while its release out of suspense was proposed is not released")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    id = s.sent(ann, bob, 300)
    s.change(b, credits_blocked=True)
    s.settle(id, "completed")
    s.change(b, credits_blocked=False)
    release = L.v7()
    equal(s.one("SELECT result FROM propose_release(%s, %s, 'credit', 'checked', 'eve', %s)", release, id, NOON), ("proposed",))
    equal(approved(s, proposed(s, id, "reversed")[0]), "approved")
    equal(s.one("SELECT result FROM decide_release(%s, 'mallory', true, %s)", release, NOON), ("not_in_suspense",))
    equal((s.wallet(ann), s.wallet(b)), ((1000, 0), (0, 0)))
    equal(s.one("SELECT result FROM decide_release(%s, 'mallory', false, %s)", release, NOON), ("rejected",))


@story("money that operators gave back out of suspense is not reversed by operators as well")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    id = s.sent(ann, bob, 300)
    s.change(b, status="frozen")
    s.settle(id, "completed")
    early, word = proposed(s, id, "reversed")
    release = L.v7()
    equal(s.one("SELECT result FROM propose_release(%s, %s, 'return', 'paid back', 'eve', %s)", release, id, NOON), ("proposed",))
    equal((word, s.one("SELECT result FROM decide_release(%s, 'mallory', true, %s)", release, NOON)), ("open", ("approved",)))
    equal((approved(s, early), proposed(s, id, "reversed")[1], s.wallet(ann)), ("overtaken", "not_reversible", (700, 0)))


@story("a reversal of money already spent becomes a receivable and stops the wallet")
def _(s):
    (_, ann), (bob, b), (carl, _) = s.user(funds=1000), s.user(bank=False), s.user()
    id = s.sent(ann, bob, 300)
    s.settle(id, "completed")
    s.paid(b, carl, 200)
    s.settle(id, "reversed")
    equal((s.wallet(ann), s.wallet(b)), ((1000, 0), (200, 200)))
    equal(s.one("SELECT owed, debits_blocked FROM wallets WHERE user_id = %s", b), (200, True))
    equal(s.one("SELECT data::json->>'receivable' FROM outbox WHERE type = 'transaction.reversed' AND subject = %s", str(id)), ("200",))
    equal(s.pay(b, carl, 1)[0], "sender_restricted")


# Money from outside ----------------------------------------------------------------------------------------------------

@story("one payment of the provider is credited once, however often and at once it is told")
def _(s):
    name, ann = s.user()
    got = together(s.database, [lambda c: L.fund(c, f"{name}-account", 500, f"payment-{name}", NOON)[2] for _ in range(40)], "worker")
    equal((sorted(got), s.wallet(ann)), (["credited"] + ["duplicate"] * 39, (500, 0)))


@story("money for a frozen wallet, or above its maximum, waits in suspense; our own references credit nothing")
def _(s):
    frozen, f = s.user(status="frozen")
    full, u = s.user(tier=0)
    equal(L.fund(s.worker, f"{frozen}-account", 10)[2], "suspense")
    equal([L.fund(s.worker, f"{full}-account", a)[2] for a in (6000, 1)], ["credited", "suspense"])
    equal((s.wallet(f), s.wallet(u)), ((0, 0), (6000, 0)))
    equal(L.fund(s.worker, "nobody's-account", 10)[2], "unknown_account")
    (_, ann), (bob, b) = s.user(funds=100), s.user(bank=False)
    id = s.sent(ann, bob, 50)
    got = s.one("SELECT transfer_id, result FROM credit_inbound(ARRAY[%s::text], ARRAY[%s::text], ARRAY[50], ARRAY[%s::text], ARRAY[%s::uuid],"
                " ARRAY['seen'], ARRAY[NULL::uuid])", f"p-{id}", f"{bob}-account", f"trf-{id}", L.v7())
    equal((got, s.wallet(b)), ((id, "matched"), (0, 0)))


@story("money on its way to a wallet that is frozen or closed before it arrives waits in suspense, and is released when it may be")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False, tier=1)
    for change, back in ((dict(status="frozen"), dict(status="active")), (dict(credits_blocked=True), dict(credits_blocked=False)),
                         (dict(status="closed"), None)):  # closed is the last word: this can only go back
        id, before = s.sent(ann, bob, 100), s.wallet(b)
        s.change(b, **change)
        equal(s.settle(id, "unknown", "completed"), ["unknown", "completed"])
        equal((s.wallet(b), s.state(id)), (before, "completed"))
        equal(s.one("SELECT route_reason, (SELECT incoming FROM receiving_counters WHERE user_id = %s) FROM transfers WHERE id = %s",
                    b, id), ("suspense", 0))
        told = s.one("SELECT data::json->>'route_reason' FROM outbox WHERE type = 'transaction.completed' AND subject = %s", str(id))
        equal(told, ("suspense",))
        release = L.v7()
        propose = "SELECT result FROM propose_release(%s, %s, 'credit', 'looked at', 'ann', %s)"
        equal(s.one(propose, release, id, NOON), ("proposed",))
        decide = "SELECT result FROM decide_release(%s, 'bob', true, %s)"
        equal(s.one(decide, release, NOON), ("recipient_unavailable",))
        if not back: continue
        s.change(b, **back)
        equal((s.one(decide, release, NOON), s.wallet(b)), (("approved",), (before[0] + 100, 0)))
        equal(s.one("SELECT type, data::json->>'type', data::json->>'route_reason' FROM outbox WHERE subject = %s", str(release)),
              ("transaction.completed", "p2p", "released"))
    equal(s.wallet(ann), (700, 0))


@story("money on an account that belongs to nobody is booked once, however often and at once it is told, and is the owner's later")
def _(s):
    hold = "SELECT hold_unmatched(%s, 'lost-account', 70, %s, 'seen', NULL, %s)"
    got = together(s.database, [lambda c: c.execute(hold, ["lost-payment", L.v7(), NOON]).fetchone()[0] for _ in range(10)], role="worker")
    equal(sorted(got), ["duplicate"] * 9 + ["suspense"])
    id, told = s.one("SELECT transfer_id, (SELECT data FROM outbox WHERE subject = transfer_id::text) FROM inbound_payments"
                     " WHERE provider_payment_id = 'lost-payment'")
    equal(("recipient_id" in told, '"route_reason":"suspense"' in told), (False, True))
    propose = "SELECT result FROM propose_release(%s, %s, 'credit', 'found', 'ann', %s)"
    equal(s.one(propose, L.v7(), id, NOON), ("recipient_unavailable",))
    _, bob = s.user(provider_account="lost-account")
    equal(L.fund(s.worker, "lost-account", 70, "lost-payment")[2], "duplicate")
    release = L.v7()
    equal(s.one(propose, release, id, NOON), ("proposed",))
    equal((s.one("SELECT result FROM decide_release(%s, 'bob', true, %s)", release, NOON), s.wallet(bob)), (("approved",), (70, 0)))


@story("money in suspense that the provider takes back goes back to who sent it, before and after the wallet was frozen")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    first, second = s.sent(ann, bob, 100), s.sent(ann, bob, 10)
    s.change(b, status="frozen")
    equal((s.settle(first, "completed", "reversed"), s.settle(second, "reversed")), (["completed", "reversed"], ["reversed"]))
    equal((s.wallet(ann), s.wallet(b), s.spent(ann)), ((1000, 0), (0, 0), (0, 0)))
    # Without debts and blocks: nobody has spent it.
    equal(s.one("SELECT debits_blocked FROM wallets WHERE user_id = %s", b), (False,))


@story("slots counted elsewhere count here")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user()
    equal(s.one("SELECT adjust_slots(%s, 4, %s, NULL, %s)", b, L.v7(), NOON), (4,))
    equal([s.pay(ann, bob, 10)[2] for _ in range(2)], ["external", "internal"])


# Rights ----------------------------------------------------------------------------------------------------------------

@story("nobody rewrites entries or history, and neither login role writes the ledger")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    s.settle(s.sent(ann, bob, 10), "completed")
    writes = ["UPDATE entries SET amount = 1", "DELETE FROM entries", "TRUNCATE entries", "UPDATE transfer_steps SET state = 'failed'",
              "DELETE FROM transfer_steps", "DELETE FROM transfers", "TRUNCATE transfer_steps"]
    more = ["UPDATE balances SET posted = posted + 1", "INSERT INTO entries VALUES (1000, 99, 1, 1, 'amount', gen_random_uuid(), now())",
            "UPDATE transfers SET state = 'completed'", "UPDATE holds SET amount = 1", "DELETE FROM approval_nonces",
            "UPDATE spending_counters SET day_total = 0", "UPDATE receiving_counters SET slots_used = 0", "UPDATE tier_limits SET per_day = 1",
            "INSERT INTO ledger_accounts (kind, owner_id, created_at) VALUES ('wallet', gen_random_uuid(), now())",
            "UPDATE devices SET first_day_total = 0", "UPDATE users SET wallet_id = 0", "SELECT post_legs('{}', '{}', '{}', '{}', now())"]
    settles = ["UPDATE users SET tier = 3", "SELECT settle_payments('{}', '{}', '{}', '{}', '{}', '{}', '{}', 'me')",
               "SELECT credit_inbound('{}', '{}', '{}', '{}', '{}', '{}', '{}')", "SELECT ensure_users('{}')", "SELECT * FROM breaks"]
    for connection, statements in ((s.owner, writes), (s.worker, writes + more), (s.handler, writes + more + settles)):
        for statement in statements:
            try: connection.execute(statement)
            except L.psycopg.errors.InsufficientPrivilege: continue
            raise AssertionError(f"went through: {statement}")


@story("a request sees the rows of its own user and nothing without one")
def _(s):
    (_, ann), (bob, b), (_, carl) = s.user(funds=1000), s.user(), s.user(funds=500)
    id = s.sent(ann, bob, 100)
    s.settle(id, "completed")
    s.paid(ann, bob, 5)
    tables = ("users", "balances", "entries", "holds", "transfers", "transfer_steps", "beneficiaries", "spending_counters",
              "receiving_counters", "ledger_accounts", "wallets", "idempotency_keys")
    with L.connect(s.database, "handler") as c:
        for table in tables: equal((table, c.execute(f"SELECT count(*) FROM {table}").fetchone()[0]), (table, 0))
        def seen(user, table):
            c.execute("SELECT set_config('transfa.user_id', %s, true)", [str(user)])
            return c.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        equal([seen(ann, t) for t in tables], [1, 1, 2, 2, 3, 5, 1, 1, 1, 1, 1, 0])
        equal([seen(b, t) for t in tables], [1, 1, 0, 0, 2, 4, 1, 1, 1, 1, 1, 0])
        equal([seen(carl, t) for t in tables], [1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0])
    for table, in s.owner.execute("SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relkind = 'r' AND"
                                  " c.relnamespace = 'public'::regnamespace AND a.attname IN ('user_id', 'sender_id', 'owner_id', 'account_id')"
                                  " AND NOT (c.relrowsecurity AND c.relforcerowsecurity)").fetchall():
        raise AssertionError(f"{table} has no forced row level security")


# Races -----------------------------------------------------------------------------------------------------------------

@story("two replicas, one payer with a tight limit, one recipient with one slot left: both exact")
def _(s):
    for _ in range(5):
        (_, ann), (bob, b) = s.user(funds=300000, tier=1), s.user()
        s.one("SELECT adjust_slots(%s, 4, %s, NULL, %s)", b, L.v7(), NOON)
        got = together(s.database, [lambda c: L.place(c, [L.request(ann, bob, 4000) for _ in range(4)], NOON) for _ in range(6)], connections=2)
        answers = [a for batch in got for a in batch]
        equal(sorted(a[0] for a in answers), ["accepted"] * 7 + ["limit_per_day"] * 17)
        equal((s.slots(b), [a[2] for a in answers].count("external")), (1, 1))


@story("payers of different replicas and one recipient near the maximum balance: never above it")
def _(s):
    for _ in range(5):
        bob, b = s.user(tier=0, bank=False)                     # ceiling 6,000
        payers = [s.user(funds=10000)[1] for _ in range(4)]
        got = together(s.database, [lambda c, p=p: L.place(c, [L.request(p, bob, 1000)], NOON)[0][0] for p in payers * 4], connections=4)
        equal(sorted(got), ["accepted"] * 6 + ["recipient_limit"] * 10)


@story("the same key a hundred times at once: one payment, one answer")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    got = together(s.database, [lambda c: L.place(c, [L.request(ann, bob, 10, key="once")])[0] for _ in range(100)], connections=10)
    equal(sorted(g[0] for g in got), ["accepted"] + ["idempotent_replay"] * 99)
    equal((len({(g.id, g.code) for g in got}), s.wallet(ann)), (1, (1000, 10)))


@story("two hundred payments at once from a wallet that covers fifty: exactly fifty")
def _(s):
    (_, ann), (bob, _) = s.user(funds=5049), s.user(plan=True)
    got = together(s.database, [lambda c: L.place(c, [L.request(ann, bob, 100)])[0] for _ in range(200)], connections=20)
    equal(sorted(g[0] for g in got), ["accepted"] * 50 + ["insufficient_funds"] * 150)
    equal(s.wallet(ann), (5049, 5000))


@story("A pays B while B pays A, two thousand times: the sum is constant at every look")
def _(s):
    (a, ann), (b, bob) = s.user(funds=10000, bank=False), s.user(funds=10000, bank=False)

    def storm(c, sender, to):
        accepted = [x[1] for x in L.place(c, [L.request(sender, to, 7) for _ in range(10)], NOON) if x[0] == "accepted"]
        with L.connect(s.database, "worker", True) as w:
            L.submit(w, accepted, NOON)
            L.settle(w, [(i, "completed") for i in accepted], NOON)
            return w.execute("SELECT sum(posted), min(posted - held) FROM wallets WHERE user_id IN (%s, %s)", [ann, bob]).fetchone()
    looks = together(s.database, [lambda c, x=x: storm(c, *x) for x in [(ann, b), (bob, a)] * 100], connections=8)
    equal({x[0] for x in looks}, {20000})
    assert min(x[1] for x in looks) >= 0
    equal(s.one("SELECT count(*) FROM transfers WHERE sender_id IN (%s, %s) AND state = 'completed'", ann, bob), (2000,))


if __name__ == "__main__":
    tell_stories("scenarios")
