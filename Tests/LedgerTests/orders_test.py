#!/usr/bin/env python3
"""Stories of single rules: each rule of order_refusal() on facts made by hand, and what orders of one batch take from each other.

usage: orders_test.py [word of a story ...]
"""
import itertools, json, re, sys, uuid

sys.dont_write_bytecode = True

import ledger as L
import psycopg
from drops import order
from stage import DAY, HOUR, NOON, equal, story, tell_stories, together

ANN, BOB, KEY, BANK, NONCE = (str(uuid.UUID(int=n)) for n in range(1, 6))
# A payment that nothing is wrong with.
GOOD = dict(
    ord=1, at_key=1, sender_id=ANN, known_sender=ANN, type="p2p", amount=100, hash="\\x01", nonce=NONCE, recovering=False,
    restricted=False, sending_allowed=True, nonce_used=False, device_revoked=False, recipient_id=BOB, recipient_account="bob",
    unavailable=False, per_transfer=100, day_left=100, month_left=100, available=110, route="internal", fee=7, duty=3,
    bank_minimum=100, room_step=1, room_tries=3, room_refusals=0, now=NOON.isoformat())
REQUEST = dict(type="p2p", recipient_id=BOB, target=KEY, request_id=KEY, request_owner=BOB, request_payer=ANN, request_state="open", request_amount=100,
               request_multiple=False, request_expires_at=(NOON + HOUR).isoformat())
WITHDRAWAL = dict(type="self_transfer", recipient_id=None, recipient_account=None, target=BANK, own_bank=BANK, own_verified=True,
                  own_idle=False, route="external")
# In the order of the rules: the code, and what is wrong then.
RULES = [
    ("sender_unknown", dict(known_sender=None)),
    ("idempotency_key_reused", dict(stored_hash="\\x02")),
    ("idempotent_replay", dict(stored_hash="\\x01", stored_code=None)),
    ("idempotent_replay", dict(stored_hash="\\x01", stored_code="recipient_self", stored_nonce=KEY)),
    ("idempotent_replay", dict(stored_hash="\\x01", stored_code="insufficient_funds", stored_nonce=NONCE)),
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
    ("quote_changed", dict(quote_cost=9)),
    ("insufficient_funds", dict(available=109)),
    ("recipient_limit", dict(recipient_left=99, route="internal")),
    ("recipient_limit", dict(recipient_left=119, room_step=60, route="internal")),
    ("recipient_limit", dict(recipient_left=99, room_step=None, route="internal")),
    ("recipient_limit", dict(recipient_left=100, room_refusals=3, route="internal")),
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
                 dict(recipient_left=120, room_step=60, room_refusals=2), dict(room_refusals=3, route="external"),
                 dict(route="external", recipient_left=0), dict(bank_minimum=101),
                 dict(stored_hash="\\x01", stored_code="insufficient_funds", stored_nonce=KEY)):
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
    twice = L.request(ann, "nobody", 5, key="twice")
    equal([(a.outcome, a.code) for a in L.place(s.handler, [twice, twice, twice | dict(nonce=uuid.uuid4())], NOON)],
          [("recipient_unknown", "recipient_unknown"), ("idempotent_replay", "recipient_unknown"),
           ("recipient_unknown", "recipient_unknown")])
    equal(s.wallet(ann), (1000, 30))


PASSING = {"sender_unknown", "recovering", "recipient_not_ready", "request_in_payment"}
LASTING = {"idempotency_key_reused", "amount_invalid", "recipient_self", "request_unknown", "request_mismatch", "request_expired",
           "request_declined", "request_amount", "quote_expired"}


@story("each refusal passes, or may be otherwise later, or lasts: none is without a kind")
def _(s):
    text = s.owner.execute("SELECT pg_get_functiondef('order_refusal'::regproc)").fetchone()[0]
    codes = set(re.findall(r"THEN '(\w+)'", text)) - {"idempotent_replay"}
    equal(codes, {code for code, _ in RULES} - {"idempotent_replay"})
    kinds = dict(s.owner.execute("SELECT c, refusal_kind(c) FROM unnest(%s::text[]) c", [sorted(codes)]).fetchall())
    wanted = {c: "passing" if c in PASSING else "lasting" if c in LASTING else "momentary" for c in codes}
    equal(kinds, wanted)
    equal(s.owner.execute("SELECT refusal_kind('accepted'), refusal_kind('idempotent_replay')").fetchone(), (None, None))
    spent = {c for c, in s.owner.execute("SELECT c FROM unnest(%s::text[]) c WHERE spends_approval(c)", [sorted(codes)]).fetchall()}
    equal(codes - spent, PASSING | {"idempotency_key_reused"})
    kept = {c for c, in s.owner.execute("SELECT c FROM unnest(%s::text[]) c WHERE is_kept(c)", [sorted(codes)]).fetchall()}
    equal(spent - kept, {"approval_used"})


def again(q, **more): return q | dict(id=L.v7()) | more


def anew(q): return again(q, nonce=uuid.uuid4())


def outcomes(s, *batch, now=NOON): return [a.outcome for a in L.place(s.handler, list(batch), now)]


def kept(s, q):
    """What stands under the key of an order: code, kind, approval."""
    row = L.stored(s.handler, q["sender"], q["route"], q["key"])
    return row and (row["code"], row["kind"], row["nonce"])


def spent(s, q): return s.one("SELECT count(*) FROM approval_nonces WHERE user_id = %s AND nonce = %s", q["sender"], q["nonce"])[0]


@story("a refusal that passes by itself leaves nothing: the same request with the same approval is accepted afterwards")
def _(s):
    (_, ann), (_, eve), (bob, b) = s.user(funds=1000), s.user(funds=1000), s.user(provider_account=None, bank=False)
    q = L.request(ann, bob, 100)
    equal(outcomes(s, q, again(q, hash=b"other", amount=7), again(q)), ["recipient_not_ready"] * 3)
    equal((kept(s, q), spent(s, q), s.wallet(ann)), (None, 0, (1000, 0)))
    s.change(b, provider_account=f"{bob}-account")
    equal(outcomes(s, again(q), again(q), anew(q)), ["accepted", "idempotent_replay", "idempotent_replay"])
    equal((kept(s, q), spent(s, q), s.wallet(ann)), (("accepted", None, None), 1, (1000, 100)))

    asked = uuid.uuid4()
    s.handler.execute("SELECT create_payment_request(%s, %s, NULL::text, 100, NULL::text, 'link', %s, NULL::uuid, NULL::text, %s)",
                      [asked, b, NOON + DAY, NOON])
    first, second = (L.request(payer, bob, 100, target=asked) for payer in (ann, eve))
    equal(outcomes(s, first, second), ["accepted", "request_in_payment"])
    equal((outcomes(s, again(second)), kept(s, second), spent(s, second)), (["request_in_payment"], None, 0))
    equal(L.submit(s.worker, [first["id"]], NOON), ["send"])
    s.settle(first["id"], "failed")
    equal(outcomes(s, again(second), again(second)), ["accepted", "idempotent_replay"])
    equal((spent(s, second), s.wallet(eve)), (1, (1000, 100)))


@story("a refusal that may be otherwise later stands for its approval, is decided anew under another, and goes when that is accepted")
def _(s):
    (name, ann), (bob, _) = s.user(funds=100), s.user(bank=False)
    q = L.request(ann, bob, 500)
    equal((outcomes(s, q), kept(s, q)), (["insufficient_funds"], ("insufficient_funds", "momentary", q["nonce"])))
    L.fund(s.worker, f"{name}-account", 1000)
    equal(L.place(s.handler, [again(q)], NOON)[0][::3], ("idempotent_replay", "insufficient_funds"))
    equal(outcomes(s, again(anew(q), hash=b"other")), ["idempotency_key_reused"])
    s.change(ann, status="frozen")
    second = anew(q)
    equal((outcomes(s, second), kept(s, q)), (["sender_restricted"], ("sender_restricted", "momentary", second["nonce"])))
    s.change(ann, status="active")
    equal(L.place(s.handler, [again(second)], NOON)[0][::3], ("idempotent_replay", "sender_restricted"))
    equal((outcomes(s, again(q)), kept(s, q)[2]), (["approval_used"], second["nonce"]))          # the first approval is spent
    third = anew(q)
    equal(outcomes(s, third), ["accepted"])
    said = [L.place(s.handler, [x], NOON)[0][:2] for x in (again(third), again(second), again(q), anew(q))]
    equal(said, [("idempotent_replay", third["id"])] * 4)
    equal((kept(s, q), s.wallet(ann)), (("accepted", None, None), (1100, 500)))
    equal(s.one("SELECT count(*) FROM refused_orders WHERE user_id = %s", ann), (0,))


@story("a refusal that never ends otherwise is the answer under every approval")
def _(s):
    me, ann = s.user(funds=100)
    q = L.request(ann, me, 50)
    equal((outcomes(s, q), kept(s, q)), (["recipient_self"], ("recipient_self", "lasting", q["nonce"])))
    equal([a[::3] for a in L.place(s.handler, [anew(q), again(q)], NOON)], [("idempotent_replay", "recipient_self")] * 2)
    equal(kept(s, q), ("recipient_self", "lasting", q["nonce"]))


@story("orders of one batch under one key: the last answer stands, and what was accepted replaces what was refused")
def _(s):
    (_, ann), (bob, _), gone = s.user(funds=100), s.user(bank=False), uuid.uuid4()
    s.worker.execute("INSERT INTO devices (id, user_id, public_key, activated_at, revoked_at) VALUES (%s, %s, '', %s, %s)",
                     [gone, ann, NOON - 9 * DAY, NOON - DAY])
    q = L.request(ann, bob, 40, device=gone)
    by_pin = anew(q) | dict(device=None)
    equal(outcomes(s, q, again(q), by_pin, anew(q)), ["device_revoked", "idempotent_replay", "accepted", "idempotent_replay"])
    equal((kept(s, q), s.wallet(ann)), (("accepted", None, None), (100, 40)))
    dear = L.request(ann, bob, 500)
    equal(outcomes(s, dear), ["insufficient_funds"])
    second, third = anew(dear), anew(dear)
    equal(outcomes(s, again(dear), second, third), ["idempotent_replay", "insufficient_funds", "insufficient_funds"])
    equal(kept(s, dear), ("insufficient_funds", "momentary", third["nonce"]))
    equal([spent(s, x) for x in (dear, second, third)], [1, 1, 1])


@story("one key approved anew many times at once is paid once")
def _(s):
    (name, ann), (bob, _) = s.user(funds=100), s.user(bank=False)
    q = L.request(ann, bob, 500)
    equal(outcomes(s, q), ["insufficient_funds"])
    L.fund(s.worker, f"{name}-account", 2000)
    got = together(s.database, [lambda c: L.place(c, [anew(q)], NOON)[0] for _ in range(24)])
    equal(sorted(a.outcome for a in got), ["accepted"] + ["idempotent_replay"] * 23)
    equal((len({a.id for a in got}), kept(s, q), s.wallet(ann)), (1, ("accepted", None, None), (2100, 500)))


@story("an accepted order keeps the version of its answer, as the caller or the database says; what is no order has none")
def _(s):
    (name, ann), (bob, _) = s.user(funds=100), s.user(bank=False)
    newest, = s.owner.execute("SELECT answer_version()").fetchone()
    q, old = L.request(ann, bob, 10), L.request(ann, bob, 10)
    equal(outcomes(s, q), ["accepted"])
    s.handler.execute(L.PLACE.replace("%s) ORDER", "%s, 7::smallint) ORDER"), [[old[f]] for f in L.FIELDS] + [NOON])
    equal([L.stored(s.handler, ann, L.P2P, x["key"])["answer_version"] for x in (q, old)], [newest, 7])
    equal(s.one("SELECT count(answer_version) FROM transfers WHERE type = 'inbound' AND recipient_id = %s", ann), (0,))


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
