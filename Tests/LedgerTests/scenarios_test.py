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
    equal(s.one("SELECT count(*) FROM transactions WHERE recipient_id = %s AND route_reason = 'no_slot'", b), (2,))
    events = s.owner.execute("SELECT type FROM outbox WHERE subject = %s ORDER BY sequence", [str(b)]).fetchall()
    equal(events, [("external_slot.taken",)] * 5)
    equal(s.owner.execute("SELECT count(*) FROM outbox WHERE type = 'transfer.rerouted.internal' AND subject IN"
                          " (SELECT id::text FROM transactions WHERE recipient_id = %s)", [b]).fetchone(), (2,))


@story("five slots in one batch too, and only with an external destination")
def _(s):
    (_, ann), (bob, b), (carl, c) = s.user(funds=10000), s.user(), s.user(bank=False)
    answers = L.accept(s.handler, [L.request(ann, bob, 10) for _ in range(7)] + [L.request(ann, carl, 10)], NOON)
    equal([a[2] for a in answers], ["external"] * 5 + ["internal"] * 3)
    equal((s.slots(b), s.slots(c)), (5, 0))


@story("a plan routes to the bank without slots until the second it ends")
def _(s):
    (_, ann), (bob, b) = s.user(funds=10000), s.user(active_until=NOON)
    before = s.paid(ann, bob, 10, NOON - dt.timedelta(milliseconds=1))
    equal((s.one("SELECT route_reason FROM transactions WHERE id = %s", before), s.slots(b)), (("plan",), 0))
    s.paid(ann, bob, 10, NOON)
    equal(s.slots(b), 1)


@story("who prefers the wallet, is not verified or has no beneficiary is paid into the wallet without reroute event")
def _(s):
    _, ann = s.user(funds=10000)
    for more, reason in ((dict(receive_preference="wallet"), "prefers_wallet"), (dict(kyc_status="pending"), "not_verified"),
                         (dict(bank=False), "no_beneficiary")):
        name, _ = s.user(plan=True, **more)
        id = s.paid(ann, name, 10)
        equal(s.one("SELECT route, route_reason, sequence FROM transactions WHERE id = %s", id), ("internal", reason, 1))


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
        legs = s.worker.execute("SELECT leg, sum(amount) FROM entries WHERE transaction_id = %s AND amount > 0 GROUP BY 1 ORDER BY 1", [id]).fetchall()
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
    equal(s.one("SELECT slot_month, spent_day FROM transactions WHERE id = %s", id), (dt.date(2026, 6, 1), dt.date(2026, 6, 1)))
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
    equal([a[0] for a in L.accept(s.handler, both, NOON)], ["accepted", "approval_used"])


@story("one key, one payment: replayed to the byte, refused for another body, kept by the transaction for ever")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    first = s.pay(ann, bob, 100, key="lunch")
    equal(s.pay(ann, bob, 100, NOON + HOUR, key="lunch")[3:], first[3:])
    equal(s.pay(ann, bob, 200, key="lunch")[0], "idempotency_key_reused")
    equal(s.pay(ann, bob, 5000, key="dear")[0], "insufficient_funds")
    equal(s.pay(ann, bob, 5000, key="dear")[0], "idempotent_replay")
    s.change(ann, status="frozen")
    equal(s.pay(ann, bob, 10, key="frozen")[0], "sender_restricted")
    s.change(ann, status="active")
    equal(s.pay(ann, bob, 10, key="frozen")[0], "accepted")     # a 403 is not an answer to keep
    s.worker.execute("SELECT prune_acceptance('2999-01-01', '2999-01-01', 1000000)")
    equal(s.pay(ann, bob, 100, NOON + 40 * DAY, key="lunch")[3:], first[3:])
    equal(s.pay(ann, bob, 200, NOON + 40 * DAY, key="lunch")[0], "idempotency_key_reused")
    equal(s.handler.execute("SELECT status, body FROM stored_answer(%s, %s, 'lunch')", [ann, L.P2P]).fetchone(), first[3:])
    equal(s.wallet(ann), (1000, 110))


@story("refusals in their order, each with its status")
def _(s):
    (me, ann), (bob, _) = s.user(funds=1000), s.user()
    frozen, waiting = s.user(status="frozen")[0], s.user(provider_account=None)[0]
    cases = [((uuid.uuid4(), bob, 1), "sender_unknown", 403), ((ann, "nobody", 1), "recipient_unknown", 404), ((ann, me, 1), "recipient_self", 422),
             ((ann, bob, 0), "amount_invalid", 422), ((ann, bob, -1), "amount_invalid", 422), ((ann, frozen, 1), "recipient_unavailable", 422),
             ((ann, waiting, 1), "recipient_not_ready", 422), ((ann, bob, 2**63 - 1), "limit_per_transfer", 422)]
    for asked, code, status in cases:
        answer = s.pay(*asked)
        equal((answer[0], answer[3], json.loads(answer[4])["errors"][0]["code"]), (code, status, code))
    equal(s.pay(ann, bob, 1, device=uuid.uuid4())[0], "device_unknown")
    equal(s.wallet(ann), (1000, 0))


# Submission ------------------------------------------------------------------------------------------------------------

@story("while a source is silent nothing is submitted, and after a day it fails and gives everything back")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user()
    late = NOON + 400 * DAY + dt.timedelta(seconds=31)
    id = s.paid(ann, bob, 100, late)
    equal((L.submit(s.worker, [id], late), s.state(id)), (["stale"], "accepted"))
    equal((L.submit(s.worker, [id], late + DAY + HOUR), s.state(id)), (["failed"], "failed"))
    equal((s.wallet(ann), s.slots(b), s.spent(ann)), ((1000, 0), 0, (0, 0)))


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
    equal(s.one("SELECT count(*) FROM provider_calls c JOIN transactions t USING (reference) WHERE t.sender_id = %s", ann), (0,))


@story("a beneficiary that is gone at submission: switched to the wallet once, slot back")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user()
    id = s.paid(ann, bob, 100)
    equal(s.slots(b), 1)
    s.worker.execute("UPDATE beneficiaries SET deleted_at = now() WHERE user_id = %s", [b])
    equal(L.submit(s.worker, [id, id], NOON), ["send", "query"])
    equal(s.one("SELECT route, destination, slot_month FROM transactions WHERE id = %s", id), ("internal", f"{bob}-account", None))
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
    may = s.sent(ann, bob, 10)
    s.paid(ann, bob, 10, NOON + 30 * DAY)
    s.settle(may, "failed", now=NOON + 30 * DAY)
    equal((s.slots(b), s.spent(ann)), (1, (10, 10)))


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
    equal(s.one("SELECT count(*), min(kind) FROM breaks WHERE transaction_id = %s", id), (1, "provider_says_completed"))
    early = s.paid(ann, bob, 10)
    equal(s.settle(early, "completed", "unknown", "open"), ["break", "ignored", "ignored"])


@story("unknown ends by evidence or by two operators, and keeps the money held until then")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    id = s.sent(ann, bob, 300)
    s.settle(id, "unknown")
    equal((L.submit(s.worker, [id], NOON + 30 * DAY), s.wallet(ann)), (["query"], (1000, 300)))
    for first, second, reason in (("eve", "eve", "sure"), ("eve", "", "sure"), ("eve", "mallory", "")):
        try:
            s.one("SELECT resolve_unknown(%s, 'failed', %s, %s, %s, %s)", id, first, second, reason, L.v7())
            raise AssertionError("resolved without two people and a reason")
        except L.psycopg.errors.CheckViolation: pass
    try:
        s.one("SELECT * FROM settle_payments(ARRAY[%s::uuid], ARRAY['failed'], ARRAY['x'], ARRAY[''], ARRAY[NULL::text], ARRAY[%s::uuid],"
              " ARRAY[NULL::uuid], 'test')", id, L.v7())
        raise AssertionError("failed without evidence")
    except L.psycopg.errors.CheckViolation: pass
    equal(s.one("SELECT resolve_unknown(%s, 'failed', 'eve', 'mallory', 'seen on the statement', %s)", id, L.v7()), ("failed",))
    equal(s.wallet(ann), (1000, 0))


@story("a reversal of money already spent becomes a receivable and stops the wallet")
def _(s):
    (_, ann), (bob, b), (carl, _) = s.user(funds=1000), s.user(bank=False), s.user()
    id = s.sent(ann, bob, 300)
    s.settle(id, "completed")
    s.paid(b, carl, 200)
    s.settle(id, "reversed")
    equal((s.wallet(ann), s.wallet(b)), ((1000, 0), (200, 200)))
    equal(s.one("SELECT sum(amount) FROM entries WHERE transaction_id = %s AND leg = 'receivable'", id), (-200,))
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
    got = s.one("SELECT transaction_id, result FROM credit_inbound(ARRAY[%s::text], ARRAY[%s::text], ARRAY[50], ARRAY[%s::text], ARRAY[%s::uuid],"
                " ARRAY['seen'], ARRAY[NULL::uuid])", f"p-{id}", f"{bob}-account", f"trf-{id}", L.v7())
    equal((got, s.wallet(b)), ((id, "matched"), (0, 0)))


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
    writes = ["UPDATE entries SET amount = 1", "DELETE FROM entries", "TRUNCATE entries", "UPDATE transaction_events SET state = 'failed'",
              "DELETE FROM transaction_events", "DELETE FROM transactions", "TRUNCATE transaction_events"]
    more = ["UPDATE balances SET posted = posted + 1", "INSERT INTO entries VALUES (1000, 99, 1, 1, 'amount', gen_random_uuid(), now())",
            "UPDATE transactions SET state = 'completed'", "UPDATE holds SET amount = 1", "DELETE FROM approval_nonces",
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
    tables = ("users", "balances", "entries", "holds", "transactions", "transaction_events", "beneficiaries", "spending_counters",
              "receiving_counters", "ledger_accounts", "wallets", "idempotency_keys")
    with L.connect(s.database, "handler") as c:
        for table in tables: equal((table, c.execute(f"SELECT count(*) FROM {table}").fetchone()[0]), (table, 0))
        def seen(user, table):
            c.execute("SELECT set_config('transfa.user_id', %s, true)", [str(user)])
            return c.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        equal([seen(ann, t) for t in tables], [1, 1, 2, 2, 3, 5, 1, 1, 1, 1, 1, 2])
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
        got = together(s.database, [lambda c: L.accept(c, [L.request(ann, bob, 4000) for _ in range(4)], NOON) for _ in range(6)], connections=2)
        answers = [a for batch in got for a in batch]
        equal(sorted(a[0] for a in answers), ["accepted"] * 7 + ["limit_per_day"] * 17)
        equal((s.slots(b), [a[2] for a in answers].count("external")), (1, 1))


@story("payers of different replicas and one recipient near the maximum balance: never above it")
def _(s):
    for _ in range(5):
        bob, b = s.user(tier=0, bank=False)                     # ceiling 6,000
        payers = [s.user(funds=10000)[1] for _ in range(4)]
        got = together(s.database, [lambda c, p=p: L.accept(c, [L.request(p, bob, 1000)], NOON)[0][0] for p in payers * 4], connections=4)
        equal(sorted(got), ["accepted"] * 6 + ["recipient_limit"] * 10)


@story("the same key a hundred times at once: one payment, one answer")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user()
    got = together(s.database, [lambda c: L.accept(c, [L.request(ann, bob, 10, key="once")])[0] for _ in range(100)], connections=10)
    equal(sorted(g[0] for g in got), ["accepted"] + ["idempotent_replay"] * 99)
    equal((len({g[3:] for g in got}), s.wallet(ann)), (1, (1000, 10)))


@story("two hundred payments at once from a wallet that covers fifty: exactly fifty")
def _(s):
    (_, ann), (bob, _) = s.user(funds=5049), s.user(plan=True)
    got = together(s.database, [lambda c: L.accept(c, [L.request(ann, bob, 100)])[0] for _ in range(200)], connections=20)
    equal(sorted(g[0] for g in got), ["accepted"] * 50 + ["insufficient_funds"] * 150)
    equal(s.wallet(ann), (5049, 5000))


@story("A pays B while B pays A, two thousand times: the sum is constant at every look")
def _(s):
    (a, ann), (b, bob) = s.user(funds=10000, bank=False), s.user(funds=10000, bank=False)

    def storm(c, sender, to):
        accepted = [x[1] for x in L.accept(c, [L.request(sender, to, 7) for _ in range(10)], NOON) if x[0] == "accepted"]
        with L.connect(s.database, "worker", True) as w:
            L.submit(w, accepted, NOON)
            L.settle(w, [(i, "completed") for i in accepted], NOON)
            return w.execute("SELECT sum(posted), min(posted - held) FROM wallets WHERE user_id IN (%s, %s)", [ann, bob]).fetchone()
    looks = together(s.database, [lambda c, x=x: storm(c, *x) for x in [(ann, b), (bob, a)] * 100], connections=8)
    equal({x[0] for x in looks}, {20000})
    assert min(x[1] for x in looks) >= 0
    equal(s.one("SELECT count(*) FROM transactions WHERE sender_id IN (%s, %s) AND state = 'completed'", ann, bob), (2000,))


if __name__ == "__main__":
    tell_stories("scenarios")
