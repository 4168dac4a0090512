#!/usr/bin/env python3
"""Stories of subscription charges, and of bank accounts that the free plan leaves idle: paid once per person and day, whatever
is repeated or races; refused without a trace in the books.

usage: charges_test.py [part of a name ...]
"""
import itertools, json, sys, uuid

sys.dont_write_bytecode = True

import ledger as L
from stage import DAY, HOUR, NOON, equal, story, tell_stories, together

CHARGE = ("SELECT result FROM charge_subscriptions(%s::uuid[], %s::text[], %s::integer[], %s::uuid[], %s::bigint[], %s::uuid[],"
          " %s::text[], %s) ORDER BY ord")


def ref(user, day="20260515"): return f"sub-{user}-{day}"


def charge(c, items, now=NOON):
    """items: (user, attempt, amount[, day])."""
    items = [(*i, "20260515") if len(i) == 3 else i for i in items]
    n = len(items)
    rows = c.execute(CHARGE, [[L.v7(now) for _ in items], [ref(i[0], i[3]) for i in items], [i[1] for i in items],
                              [i[0] for i in items], [i[2] for i in items], [uuid.uuid4()] * n, [None] * n, now]).fetchall()
    return [r[0] for r in rows]


def told(s, user, day="20260515"):
    rows = s.owner.execute("SELECT type, data FROM outbox WHERE subject = %s ORDER BY sequence", [ref(user, day)]).fetchall()
    return [(t.split(".")[1], json.loads(d)) for t, d in rows]


def revenue(s):
    return s.one("SELECT sum(b.posted)::bigint FROM balances b JOIN ledger_accounts a ON a.id = b.account_id WHERE a.kind = 'revenue'")[0]


@story("a charge moves the price to revenue, once per person and day, and is told once per attempt")
def _(s):
    (_, ann), before = s.user(funds=1000), revenue(s)
    equal([charge(s.worker, [(ann, 1, 300)]) for _ in range(3)], [["paid"], ["known"], ["known"]])
    equal((s.wallet(ann), revenue(s) - before, len(told(s, ann))), ((700, 0), 300, 1))
    outcome, data = told(s, ann)[0]
    row = s.one("SELECT reference, type, state, sender_id, amount, route FROM transfers WHERE id = %s", data["transaction_id"])
    equal((outcome, data["attempt"], row), ("paid", 1, (ref(ann), "subscription_charge", "completed", ann, 300, "internal")))
    events = s.owner.execute("SELECT type, sequence FROM outbox WHERE subject = %s ORDER BY sequence", [data["transaction_id"]]).fetchall()
    equal(events, [("transaction.created", 1), ("transaction.completed", 2)])
    equal(charge(s.worker, [(ann, 2, 300)]), ["paid"])          # asked again: told again, nothing moves
    equal((s.wallet(ann), [o for o, _ in told(s, ann)]), ((700, 0), ["paid", "paid"]))
    equal(told(s, ann)[1][1]["transaction_id"], data["transaction_id"])
    equal(charge(s.worker, [(ann, 1, 300, "20260615")]), ["paid"])
    equal(s.wallet(ann), (400, 0))


@story("a charge that cannot be paid leaves nothing behind and may be tried again")
def _(s):
    _, ann = s.user(funds=299)
    equal(charge(s.worker, [(ann, 1, 300)]), ["refused"])
    outcome, data = told(s, ann)[0]
    equal((outcome, data["reason"], s.wallet(ann)), ("refused", "insufficient_funds", (299, 0)))
    equal(s.one("SELECT count(*) FROM transfers WHERE sender_id = %s", ann)[0], 0)
    L.fund(s.worker, s.one("SELECT provider_account FROM users WHERE id = %s", ann)[0], 1, now=NOON)
    equal(charge(s.worker, [(ann, 1, 300)]), ["known"])
    equal((charge(s.worker, [(ann, 2, 300)]), s.wallet(ann)), (["paid"], (0, 0)))


@story("held money cannot be charged, and who may not send money is not charged")
def _(s):
    (bob, _), (_, ann) = s.user(bank=False), s.user(funds=1000)
    s.paid(ann, bob, 701)
    equal((charge(s.worker, [(ann, 1, 300)]), told(s, ann)[0][1]["reason"]), (["refused"], "insufficient_funds"))
    equal(charge(s.worker, [(ann, 2, 299)]), ["paid"])
    for change, back in ((dict(status="frozen"), dict(status="active")), (dict(debits_blocked=True), dict(debits_blocked=False))):
        _, eve = s.user(funds=1000)
        s.change(eve, **change)
        equal((charge(s.worker, [(eve, 1, 300)]), told(s, eve)[0][1]["reason"]), (["refused"], "sender_restricted"))
        s.change(eve, **back)
        equal(charge(s.worker, [(eve, 2, 300)]), ["paid"])
    _, shop = s.user(funds=1000, sending_allowed=False)
    equal(charge(s.worker, [(shop, 1, 300)]), ["paid"])         # receive-only: a price of their own choosing is no payment
    equal(s.spent(shop), (0, 0))
    equal((charge(s.worker, [((ghost := uuid.uuid4()), 1, 300)]), told(s, ghost)[0][1]["reason"]), (["refused"], "sender_unknown"))


@story("a wallet that owes money is not charged")
def _(s):
    (bob, b), (_, ann) = s.user(bank=False), s.user(funds=1000)
    id = s.sent(ann, bob, 500)
    s.settle(id, "completed")
    (carl, _) = s.user(bank=False)
    s.settle(s.sent(b, carl, 400), "completed")
    s.settle(id, "reversed")
    L.fund(s.worker, f"{bob}-account", 399, now=NOON)
    equal((charge(s.worker, [(b, 1, 300)]), told(s, b)[0][1]["reason"]), (["refused"], "sender_restricted"))
    L.fund(s.worker, f"{bob}-account", 301, now=NOON)
    equal((charge(s.worker, [(b, 2, 300)]), s.wallet(b)), (["paid"], (0, 0)))


@story("nothing is charged while what is known about the person may be old")
def _(s):
    _, ann = s.user(funds=1000)
    equal(charge(s.worker, [(ann, 1, 300)], NOON + 401 * DAY), ["stale"])
    s.worker.execute("INSERT INTO parked_keys (subject, reason, parked_at) VALUES (%s, 'test', now())", [str(ann)])
    equal((charge(s.worker, [(ann, 1, 300)]), told(s, ann), s.wallet(ann)), (["stale"], [], (1000, 0)))
    s.worker.execute("DELETE FROM parked_keys WHERE subject = %s", [str(ann)])
    equal(charge(s.worker, [(ann, 1, 300)]), ["paid"])


@story("charges and payments that race spend what there is, and each charge is paid once")
def _(s):
    people = [s.user(funds=1000)[1] for _ in range(6)]
    (bob, _) = s.user(bank=False)
    jobs = []
    for user, n in itertools.product(people, range(4)):
        jobs.append(lambda c, user=user, n=n: charge(c, [(user, n + 1, 600)]))
        jobs.append(lambda c, user=user: charge(c, [(u, 1, 600, "20260616") for u in (user, people[0])]))
    results = together(s.database, jobs, "worker")
    paid = sum(r.count("paid") for r in results)
    moved = sum(1000 - s.wallet(u)[0] for u in people)
    equal((moved, s.one("SELECT count(*) FROM transfers WHERE type = 'subscription_charge' AND sender_id = ANY (%s)", people)[0]),
          (600 * len(people), len(people)))
    assert paid >= len(people), results
    payers = [s.user(funds=1000)[1] for _ in range(4)]
    orders = [lambda c, u=u: L.place(c, [L.request(u, bob, 600)], NOON)[0][0] for u in payers]
    charges = [lambda c, u=u: charge(c, [(u, 1, 600)])[0] for u in payers]
    both = [(a, b) for a, b in zip(together(s.database, orders, "handler", 4), together(s.database, charges, "worker", 4))]
    equal(both, [("accepted", "refused")] * 4)


@story("a reference belongs to its person")
def _(s):
    (_, ann), (_, eve) = s.user(funds=1000), s.user(funds=1000)
    try:
        s.worker.execute(CHARGE, [[L.v7(NOON)], [ref(ann)], [1], [eve], [300], [None], [None], NOON])
        raise AssertionError("taken")
    except L.psycopg.errors.CheckViolation:
        pass
    equal((s.wallet(ann), s.wallet(eve)), ((1000, 0), (1000, 0)))


@story("neither login role writes charges, and only the worker asks for them")
def _(s):
    _, ann = s.user(funds=1000)
    for c, sql in ((s.handler, "SELECT * FROM charge_subscriptions('{}','{}','{}','{}','{}','{}','{}')"),
                   (s.handler, "SELECT * FROM subscription_charges"), (s.worker, "DELETE FROM subscription_charges"),
                   (s.worker, "SELECT post_charge(NULL, NULL, NULL, 1, NULL, NULL, NULL)"), (s.worker, "SELECT * FROM check_charges()")):
        try:
            c.execute(sql)
            raise AssertionError(sql)
        except L.psycopg.errors.InsufficientPrivilege:
            pass


def bank(s, user, default=False):
    id = uuid.uuid4()
    s.worker.execute("INSERT INTO beneficiaries (id, user_id, counterparty_id, verified, is_default) VALUES (%s, %s, %s, true, %s)",
                     [id, user, f"bank-{id}", default])
    return id


def withdraw(s, user, to, now=NOON):
    return L.place(s.handler, [L.request(user, None, 100, type="self_transfer", target=to, route="POST /transactions/self-transfer")], now)[0]


@story("without a plan only the default bank account takes withdrawals; the others wait for a plan")
def _(s):
    _, ann = s.user(funds=1000, bank=False)
    first, second = bank(s, ann, True), bank(s, ann)
    equal(withdraw(s, ann, first)[0], "accepted")
    equal(withdraw(s, ann, second)[0], "beneficiary_not_in_plan")
    s.change(ann, active_until=NOON + HOUR)
    equal(withdraw(s, ann, second)[0], "accepted")
    equal(withdraw(s, ann, second, NOON + HOUR)[0], "beneficiary_not_in_plan")
    s.worker.execute("UPDATE beneficiaries SET is_default = (id = %s) WHERE user_id = %s", [second, ann])
    equal((withdraw(s, ann, second, NOON + HOUR)[0], withdraw(s, ann, first, NOON + HOUR)[0]), ("accepted", "beneficiary_not_in_plan"))


@story("a withdrawal leaves only for a bank account that is still verified and one's own when it is sent")
def _(s):
    for change in ("deleted_at = now()", "verified = false", f"user_id = '{uuid.uuid4()}'"):
        _, ann = s.user(funds=1000, bank=False)
        own = bank(s, ann, True)
        id = withdraw(s, ann, own)[1]
        equal(s.wallet(ann), (1000, 100))
        s.owner.execute(f"UPDATE beneficiaries SET {change} WHERE id = %s", [own])
        equal((L.submit(s.worker, [id], NOON), s.state(id), s.wallet(ann)), (["failed"], "failed", (1000, 0)))
        equal(s.one("SELECT failure_reason FROM transfers WHERE id = %s", id)[0], "beneficiary_gone")


if __name__ == "__main__":
    tell_stories("subscription charges")
