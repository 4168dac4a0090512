#!/usr/bin/env python3
"""Stories of single rules: each rule of order_refusal() on facts made by hand, and what orders of one batch take from each other.

usage: orders_test.py [word of a story ...]
"""
import itertools, json, sys, uuid

sys.dont_write_bytecode = True

import ledger as L
import psycopg
from drops import order
from stage import DAY, HOUR, NOON, equal, story, tell_stories

ANN, BOB, KEY, BANK = (str(uuid.UUID(int=n)) for n in range(1, 5))
# A payment that nothing is wrong with.
GOOD = dict(
    ord=1, at_key=1, sender_id=ANN, known_sender=ANN, type="p2p", amount=100, hash="\\x01", first_hash="\\x01", recovering=False,
    restricted=False, sending_allowed=True, nonce_used=False, device_revoked=False, recipient_id=BOB, recipient_account="bob",
    unavailable=False, per_transfer=100, day_left=100, month_left=100, available=110, route="internal", fee=7, duty=3,
    bank_minimum=100, now=NOON.isoformat())
REQUEST = dict(type="p2p", recipient_id=BOB, target=KEY, request_id=KEY, request_owner=BOB, request_payer=ANN, request_state="open", request_amount=100,
               request_multiple=False, request_expires_at=(NOON + HOUR).isoformat())
WITHDRAWAL = dict(type="self_transfer", recipient_id=None, recipient_account=None, target=BANK, own_bank=BANK, own_verified=True,
                  own_idle=False, route="external")
# In the order of the rules: the code, and what is wrong then.
RULES = [
    ("sender_unknown", dict(known_sender=None)),
    ("idempotency_key_reused", dict(stored_hash="\\x02")),
    ("idempotency_key_reused", dict(first_hash="\\x02", stored_hash=None)),
    ("idempotent_replay", dict(stored_hash="\\x01")),
    ("idempotent_replay", dict(ord=2)),
    ("recovering", dict(recovering=True)),
    ("sender_restricted", dict(restricted=True)),
    ("receive_only", dict(sending_allowed=False, type="p2p")),
    ("approval_used", dict(nonce_used=True)),
    ("device_unknown", dict(device_id=KEY, known_device=None)),
    ("device_revoked", dict(device_id=KEY, known_device=KEY, device_revoked=True)),
    ("amount_invalid", dict(amount=0)),
    ("recipient_unknown", dict(recipient_id=None, type="p2p")),
    ("recipient_self", dict(recipient_id=ANN)),
    ("recipient_unavailable", dict(unavailable=True)),
    ("recipient_not_ready", dict(recipient_account=None, type="p2p")),
    ("request_unknown", REQUEST | dict(request_id=None)),
    ("request_unknown", REQUEST | dict(request_payer=BOB)),
    ("request_unknown", REQUEST | dict(request_state="cancelled")),
    ("request_mismatch", REQUEST | dict(request_owner=KEY)),
    ("request_in_payment", REQUEST | dict(request_state="processing")),
    ("request_paid", REQUEST | dict(request_state="fulfilled")),
    ("request_expired", REQUEST | dict(request_state="expired")),
    ("request_expired", REQUEST | dict(request_expires_at=NOON.isoformat())),
    ("request_declined", REQUEST | dict(request_state="declined")),
    ("request_amount", REQUEST | dict(request_amount=99)),
    ("beneficiary_unknown", WITHDRAWAL | dict(own_bank=None)),
    ("beneficiary_not_verified", WITHDRAWAL | dict(own_verified=False)),
    ("beneficiary_not_in_plan", WITHDRAWAL | dict(own_idle=True)),
    ("expiry_invalid", dict(type="money_drop", drop_expires_at=NOON.isoformat())),
    ("expiry_invalid", dict(type="money_drop", drop_expires_at=(NOON + 32 * DAY).isoformat())),
    ("quote_expired", dict(quote_expires_at=NOON.isoformat())),
    ("amount_below_minimum", WITHDRAWAL | dict(bank_minimum=101)),
    ("limit_per_transfer", dict(per_transfer=99)),
    ("limit_per_day", dict(day_left=99)),
    ("limit_per_month", dict(month_left=99)),
    ("limit_new_device", dict(device_left=99)),
    ("limit_new_beneficiary", WITHDRAWAL | dict(own_left=99)),
    ("recipient_limit", dict(recipient_left=99, route="internal")),
    ("quote_changed", dict(quote_cost=9)),
    ("insufficient_funds", dict(available=109)),
]


def refusal(s, *changes):
    facts = GOOD.copy()
    for change in changes: facts |= change
    return s.owner.execute("SELECT order_refusal(jsonb_populate_record(NULL::order_facts, %s))", [json.dumps(facts)]).fetchone()[0]


@story("each rule refuses what it is for, and nothing else")
def _(s):
    for good in ({}, REQUEST, REQUEST | dict(request_payer=None), WITHDRAWAL, WITHDRAWAL | dict(sending_allowed=False, own_left=100),
                 dict(type="money_drop", recipient_id=None, recipient_account=None, drop_expires_at=(NOON + 31 * DAY).isoformat()),
                 dict(quote_cost=10, quote_expires_at=(NOON + HOUR).isoformat()), dict(recipient_left=100, device_left=100),
                 dict(route="external", recipient_left=0), dict(bank_minimum=101)):
        equal((refusal(s, good), good), (None, good))
    for code, wrong in RULES: equal((refusal(s, wrong), wrong), (code, wrong))


@story("where two rules apply the first answers")
def _(s):
    tried = 0
    for (first, one), (_, other) in itertools.combinations(RULES, 2):
        if all(one[name] == other[name] for name in one.keys() & other.keys()):
            tried += 1
            equal((refusal(s, other, one), one, other), (first, one, other))
    assert tried > 400, tried


@story("what an earlier order of a batch took, a later one has no more: funds, months, devices, ceilings")
def _(s):
    (_, ann), (bob, _), (_, may) = s.user(funds=1000), s.user(), s.user(funds=100_000, tier=1)
    def codes(*batch): return [a.outcome for a in L.place(s.handler, list(batch), NOON)]
    equal(codes(*[L.request(ann, bob, 400) for _ in range(3)]), ["accepted", "accepted", "insufficient_funds"])
    # 30,000 a day and 200,000 a month, of which 185,000 went on earlier days.
    s.owner.execute("UPDATE spending_counters SET day = %s, day_total = 0, month = %s, month_total = 185000 WHERE user_id = %s",
                    [NOON.date(), NOON.date().replace(day=1), may])
    try:
        equal(codes(*[L.request(may, bob, 5000) for _ in range(4)]), ["accepted"] * 3 + ["limit_per_month"])
    finally:
        s.owner.execute("UPDATE spending_counters SET month_total = month_total - 185000 WHERE user_id = %s", [may])
    (_, eve), device = s.user(funds=3_000_000), uuid.uuid4()
    s.worker.execute("INSERT INTO devices (id, user_id, public_key, activated_at) VALUES (%s, %s, '\\x00', %s)", [device, eve, NOON - HOUR])
    equal(codes(*[L.request(eve, bob, 900_000, device=device) for _ in range(3)]), ["accepted", "accepted", "limit_new_device"])
    (low, _), (_, rich) = s.user(tier=0, receive_preference="wallet"), s.user(funds=100_000)
    equal(codes(*[L.request(rich, low, 2500) for _ in range(3)]), ["accepted", "accepted", "recipient_limit"])


@story("orders of one batch that share a key are one order, and the events of its slots are numbered on")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user()
    once = L.request(ann, bob, 10, key="once")
    batch = [once, once | dict(id=L.v7(), nonce=uuid.uuid4()), L.request(ann, bob, 20), once | dict(hash=b"other")]
    got = L.place(s.handler, batch, NOON)
    equal([a.outcome for a in got], ["accepted", "idempotent_replay", "accepted", "idempotency_key_reused"])
    equal(got[1].id, got[0].id)
    equal(s.owner.execute("SELECT sequence, data::json->>'used' FROM outbox WHERE subject = %s::text AND type = 'external_slot.taken'"
                          " ORDER BY sequence", [b]).fetchall(), [(1, "1"), (2, "2")])
    twice = [L.request(ann, "nobody", 5, key="twice") for _ in range(2)]
    equal([(a.outcome, a.code) for a in L.place(s.handler, twice, NOON)],
          [("recipient_unknown", "recipient_unknown"), ("idempotent_replay", "recipient_unknown")])
    equal(s.wallet(ann), (1000, 30))


@story("a drop that is not the sum of its slots is nobody's order: nothing of its batch happens")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    try:
        L.place(s.handler, [L.request(ann, bob, 10), order(ann, 10, 5) | dict(amount=51)], NOON)
    except psycopg.errors.CheckViolation:
        pass
    else:
        raise AssertionError("a drop lost a kobo")
    equal(s.wallet(ann), (1000, 0))


@story("what decides an order is looked up, whatever the statistics of the tables were when it was planned")
def _(s):
    def nodes(plan):
        yield plan
        for part in plan.get("Plans", ()): yield from nodes(part)
    for _ in range(60): s.user()
    arrays = [*(f"{kind}[]" for kind in L.TYPES), "uuid[]", "timestamptz"]
    with psycopg.connect(L.url_of(s.database), autocommit=True) as c:
        for people in (60, 2000):
            c.execute("ANALYZE")
            c.execute("SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off")
            c.execute(f"PREPARE facts ({', '.join(arrays)}) AS"
                      f" SELECT * FROM order_facts({', '.join(f'${n + 1}' for n in range(len(arrays)))})")
            plan = c.execute(f"EXPLAIN (FORMAT JSON) EXECUTE facts ({', '.join(['NULL'] * len(arrays))})").fetchone()[0][0]["Plan"]
            whole = [n for n in nodes(plan) if "Scan" in n["Node Type"] and n.get("Relation Name") and "Index Cond" not in n]
            equal([n["Relation Name"] for n in whole], [])
            c.execute("DEALLOCATE facts")
            if people == 60:
                for _ in range(2000): L.add_user(c, f"crowd{uuid.uuid4().hex[:12]}", bank=False)


if __name__ == "__main__":
    tell_stories("orders")
