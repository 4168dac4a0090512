#!/usr/bin/env python3
"""Stories of what the provider bills: each row of its books once, where it belongs, and out of no wallet.

usage: bills_test.py [part of a name ...]
"""
import concurrent.futures, sys, uuid

sys.dont_write_bytecode = True

import ledger as L
from drops import MINUTE, POOL, until_waiting
from recoveries import account, expected
from stage import DAY, HOUR, NOON, equal, story, tell_stories, together


def row(): return f"{uuid.uuid4().hex}-anc_txn"


def bill(s, where, *rows, now=NOON, c=None):
    """Rows of the provider: (id, kind, amount[, reference[, billed at]]). Returns how many of them were booked."""
    rows = [(*r, None, now)[:5] if len(r) == 3 else (*r, now)[:5] for r in rows]
    columns = [list(column) for column in zip(*rows)]
    return (c or s.worker).execute(
        "SELECT book_bills(%s, %s, %s, %s::bigint[], %s::text[], %s::timestamptz[], %s::uuid[], %s)",
        [where, *columns, [L.v7(now) for _ in rows], now]).fetchone()[0]


def held(s, kind):
    """What all accounts of ours of a kind hold."""
    return s.one("SELECT coalesce(sum(b.posted), 0)::bigint FROM ledger_accounts a JOIN balances b ON b.account_id = a.id"
                 " WHERE a.kind = %s", kind)[0]


KINDS = ("fees", "stamp_duty", "provider_costs")


def moved(s, act):
    """What an act changes in the accounts of ours that bills are booked to."""
    before = [held(s, kind) for kind in KINDS]
    act()
    return tuple(held(s, kind) - b for kind, b in zip(KINDS, before))


def to_bank(s, sender, recipient, amount, now=NOON, outcome="completed"):
    """A payment that reaches the recipient's bank. (id, reference)"""
    id = s.sent(sender, recipient, amount, now=now)
    equal(s.one("SELECT route FROM transfers WHERE id = %s", id)[0], "external")
    equal(s.settle(id, outcome, now=now), [outcome])
    return id, s.one("SELECT reference FROM transfers WHERE id = %s", id)[0]


def booked(s, *rows):
    """The transfer that each row is booked as."""
    return [s.one("SELECT transfer_id FROM provider_bills WHERE provider_row_id = %s", r) for r in rows]


def refused(c, statement):
    try: c.execute(statement)
    except L.psycopg.errors.InsufficientPrivilege: return True
    return False


@story("a bill is booked once, where its kind belongs; the wallet has what it had, and the account there is expected to have less")
def _(s):
    (_, ann), (bob, _) = s.user(funds=10_000), s.user()
    id, reference = to_bank(s, ann, bob, 4000)
    equal((s.wallet(ann), expected(s, ann)), ((6000, 0), 6000))
    fee, duty, identity = row(), row(), row()
    rows = [(fee, "TRANSFER_FEE", 20, reference), (duty, "STAMP_DUTY", 50, reference), (identity, "KYC_TIER_2", 7)]
    equal(moved(s, lambda: equal(bill(s, account(s, ann), *rows), 3)), (-20, -50, -7))
    equal((s.wallet(ann), expected(s, ann)), ((6000, 0), 5923))
    # Each look lists them again, some with others that are new.
    equal(moved(s, lambda: equal(bill(s, account(s, ann), *rows), 0)), (0, 0, 0))
    new = row()
    equal(moved(s, lambda: equal(bill(s, account(s, ann), *rows, (new, "STAMP_DUTY", 3), (new, "STAMP_DUTY", 3)), 1)), (0, -3, 0))
    equal((s.wallet(ann), expected(s, ann)), ((6000, 0), 5920))
    as_booked = "SELECT type, state, route_reason, amount, source_account, parent_id, sender_id, recipient_id FROM transfers WHERE id = %s"
    equal(s.one(as_booked, booked(s, duty)[0][0]), ("inbound", "completed", "bill", 50, account(s, ann), id, None, None))
    equal(s.one(as_booked, booked(s, identity)[0][0])[5], None)
    equal(s.one("SELECT kind, account, is_known, amount, reference FROM provider_bills WHERE provider_row_id = %s", duty),
          ("STAMP_DUTY", "stamp_duty", True, 50, reference))
    equal(s.one("SELECT count(*) FROM outbox WHERE subject = %s", str(booked(s, duty)[0][0]))[0], 0)


@story("the account of drops and an account that is nobody's are billed like any other, and no more is expected of others for it")
def _(s):
    (_, ann) = s.user(funds=100)
    before = expected(s, None), expected(s, ann)
    equal(bill(s, POOL, (row(), "TRANSFER_FEE", 20)), 1)
    equal(bill(s, "our-own-account", (row(), "TRANSFER_FEE", 30)), 1)
    equal((expected(s, None), expected(s, ann)), (before[0] - 20, before[1]))


@story("a kind is booked by what bill_accounts said on the day of the bill, whenever that is read")
def _(s):
    (_, ann) = s.user(funds=100)
    day = NOON + DAY
    s.owner.execute("INSERT INTO bill_accounts VALUES ('PAYMENT_COLLECTION', %s, 'fees')", [day])
    before, then = (row(), "PAYMENT_COLLECTION", 5, None, day - MINUTE), (row(), "PAYMENT_COLLECTION", 6, None, day)
    equal(moved(s, lambda: bill(s, account(s, ann), before, then, now=day + HOUR)), (-6, 0, -5))


@story("a kind that nobody foresaw is a cost, and is shown until somebody says where it belongs")
def _(s):
    (_, ann) = s.user(funds=100)
    unknown, strange = row(), f"LEVY_{uuid.uuid4().hex.upper()}"
    equal(moved(s, lambda: bill(s, account(s, ann), (unknown, strange, 9))), (0, 0, -9))
    shown = lambda: s.one("SELECT is_known FROM provider_bills WHERE provider_row_id = %s", unknown)[0]
    equal((shown(), expected(s, ann)), (False, 91))
    s.owner.execute("INSERT INTO bill_accounts VALUES (%s, %s, 'stamp_duty')", [strange, NOON + DAY])
    equal(moved(s, lambda: bill(s, account(s, ann), (row(), strange, 4), now=NOON + DAY)), (0, -4, 0))


@story("a reversal gives the payer the money, and our fee, and the provider keeps what it billed")
def _(s):
    (_, ann), (bob, _) = s.user(funds=10_000), s.user()
    id, reference = to_bank(s, ann, bob, 4000)
    rows = [(row(), "TRANSFER_FEE", 20, reference), (row(), "STAMP_DUTY", 50, reference)]
    equal(bill(s, account(s, ann), rows[0]), 1)
    equal(s.settle(id, "reversed"), ["reversed"])
    equal(bill(s, account(s, ann), *rows), 1)
    equal((s.wallet(ann), expected(s, ann), s.state(id)), ((10_000, 0), 9930, "reversed"))


@story("looks at one account at the same moment book each row once, and looks at others do not wait for each other for ever")
def _(s):
    people = [s.user(funds=1000)[1] for _ in range(3)]
    rows = {p: [(row(), kind, 1) for kind in ("TRANSFER_FEE", "STAMP_DUTY", "KYC_TIER_3") * 6] for p in people}
    jobs = [lambda c, p=p, back=back: bill(s, account(s, p), *(rows[p][::-1] if back else rows[p]), c=c)
            for p in people for back in (False, True, False)]
    equal(moved(s, lambda: equal(sum(together(s.database, jobs, "worker")), 54)), (-18, -18, -18))
    equal([expected(s, p) for p in people], [982] * 3)


@story("a second look waits for the first one to commit, and then has nothing to book")
def _(s):
    (_, ann) = s.user(funds=100)
    one = (row(), "TRANSFER_FEE", 20)
    with L.connect(s.database, "worker") as c, concurrent.futures.ThreadPoolExecutor(1) as pool:
        equal(bill(s, account(s, ann), one, c=c), 1)
        waiting = pool.submit(bill, s, account(s, ann), one)
        until_waiting(s)
        c.commit()
        equal(waiting.result(), 0)
    equal(expected(s, ann), 80)


@story("what a restored ledger has forgotten of bills is booked again, once, while the recovery is open, and then it agrees")
def _(s):
    now = NOON + 30 * DAY
    (_, ann), (bob, _) = s.user(funds=10_000), s.user()
    _, reference = to_bank(s, ann, bob, 4000, now=now - HOUR)
    recovery = s.one("SELECT begin_recovery(%s, 'restore', 'the disk is gone', %s)", now - 10 * MINUTE, now)[0]
    rows = [(row(), "TRANSFER_FEE", 20, reference, now - MINUTE), (row(), "STAMP_DUTY", 50, reference, now - MINUTE)]
    equal((bill(s, account(s, ann), *rows, now=now), bill(s, account(s, ann), *rows, now=now)), (2, 0))
    # Of a payment that is forgotten too: it is booked all the same.
    equal(bill(s, account(s, ann), (row(), "TRANSFER_FEE", 20, f"trf-{L.v7(now)}"), now=now), 1)
    equal((s.wallet(ann), expected(s, ann)), ((6000, 0), 5910))
    s.one("SELECT continue_recovery(%s, %s)", POOL, now)
    for moment in (now, now + 2 * MINUTE):
        s.worker.execute("SELECT note_absent(ARRAY(SELECT doubtful(ARRAY(SELECT id FROM transfers))), %s)", [moment])
    s.owner.execute("UPDATE recovery_accounts SET looked_at = %s, differences = 0 WHERE recovery_id = %s", [now + 3 * MINUTE, recovery])
    equal(s.one("SELECT result FROM end_recovery(%s, 'eve', 'all agrees', %s)", recovery, now + 4 * MINUTE)[0], "ended")


def asked(s, now, own=None, customers=True, most=20_000):
    """The accounts whose bills are looked for because of this."""
    s.owner.execute("UPDATE jobs SET state = 'done' WHERE kind = 'book_bills'")
    count = s.one("SELECT ask_bills(%s, %s, %s, %s)", own, customers, now, most)[0]
    found = [r[0] for r in s.owner.execute("SELECT key FROM jobs WHERE kind = 'book_bills' AND state = 'queued' ORDER BY key").fetchall()]
    equal(count, len(found))
    return found


@story("bills are looked for a quarter of an hour long, of accounts that paid a bank, however late that ended, and of nobody else")
def _(s):
    now = NOON + 60 * DAY
    (_, ann), (bob, _), (_, cal), (dan, _) = s.user(funds=10_000), s.user(), s.user(funds=500), s.user(bank=False)
    to_bank(s, ann, bob, 10, now=now - HOUR)
    equal((asked(s, now), asked(s, now, own="own")), ([], ["own"]))      # what was before the first look is not looked for
    late = s.sent(ann, bob, 20, now=now)
    inside = s.sent(cal, dan, 30, now=now)
    equal(s.settle(inside, "completed", now=now), ["completed"])
    refused_one = s.sent(cal, bob, 40, now=now)
    equal(s.settle(refused_one, "failed", now=now), ["failed"])
    equal(asked(s, now + MINUTE), [])
    later = now + 2 * DAY
    equal(s.settle(late, "completed", now=later), ["completed"])
    mine = [account(s, ann)]
    equal([asked(s, later + m * MINUTE) for m in (1, 14)], [mine, mine])
    equal(asked(s, later + 15 * MINUTE, own="own"), sorted([*mine, "own"]))
    equal([asked(s, later + m * MINUTE) for m in (16, 60)], [[], []])
    # The books of bills are in provider_clearing too, and ask for nothing.
    bill(s, account(s, ann), (row(), "TRANSFER_FEE", 20), now=later + HOUR)
    equal(asked(s, later + HOUR), [])
    # Nobody looked for an hour: nothing is missed.
    to_bank(s, ann, bob, 10, now=later + 2 * HOUR)
    equal((asked(s, later + 3 * HOUR, customers=False), asked(s, later + 3 * HOUR), asked(s, later + 3 * HOUR)), ([], mine, []))


@story("a look that is under way or waits is not asked for twice, and a backlog is worked off in parts")
def _(s):
    now = NOON + 90 * DAY
    (_, ann), (bob, _) = s.user(funds=10_000), s.user(plan=True)
    asked(s, NOON + 400 * DAY)                                       # what came in does so by the real clock
    for n in range(40): to_bank(s, ann, bob, 1, now=now)
    s.one("SELECT ask_bills(NULL, true, %s)", now)
    where = "FROM jobs WHERE kind = 'book_bills' AND key = %s"
    equal(s.one(f"SELECT count(*), min(state) {where}", account(s, ann)), (1, "queued"))
    for state in ("running", "queued"):
        s.owner.execute("UPDATE jobs SET state = %s WHERE kind = 'book_bills'", [state])
        equal(s.one("SELECT ask_bills(NULL, true, %s)", now)[0], 0)
        equal(s.one(f"SELECT state {where}", account(s, ann))[0], state)
    later = now + HOUR
    turns = sum(bool(asked(s, later, most=1)) for _ in range(60))
    assert 2 <= turns <= 40, turns
    equal(asked(s, later), [])


@story("what is booked otherwise than it was billed is seen by whoever checks the books")
def _(s):
    (_, ann) = s.user(funds=100)
    known, strange = row(), row()
    bill(s, account(s, ann), (known, "TRANSFER_FEE", 3), (strange, "ANYTHING_ELSE", 4))
    # By the owner, who may do everything but rewrite entries; nothing of it stays.
    for sql, id in [("UPDATE transfers SET amount = 2 WHERE id = %s", known), ("UPDATE transfers SET route_reason = 'gift' WHERE id = %s", known),
                    ("UPDATE transfers SET source_account = 'x' WHERE id = %s", known),
                    ("UPDATE transfers SET debit_account = system_account('fees', id) WHERE id = %s", strange),
                    ("UPDATE transfers SET credit_account = debit_account WHERE id = %s", known),
                    ("UPDATE bill_accounts SET account = 'stamp_duty' WHERE kind = 'TRANSFER_FEE' AND %s IS NOT NULL", known),
                    ("UPDATE balances SET posted = posted + 1 WHERE account_id = system_account('provider_costs', %s)", strange)]:
        with L.connect(s.database, "owner") as c:
            c.execute(sql, [booked(s, id)[0][0]])
            seen = {name for name, _ in L.broken_invariants(c) if name.startswith("I32")}
            c.rollback()
        equal((sql, len(seen)), (sql, 1))


@story("nobody rewrites a bill, and neither login role writes one or says where a kind belongs")
def _(s):
    (_, ann) = s.user(funds=100)
    bill(s, account(s, ann), (row(), "TRANSFER_FEE", 1))
    for statement in ("UPDATE provider_bills SET amount = 2", "DELETE FROM provider_bills"):
        equal([refused(c, statement) for c in (s.owner, s.worker, s.handler)], [True] * 3)
    for statement in ("INSERT INTO bill_accounts VALUES ('X', now(), 'fees')", "UPDATE bill_marks SET sequence = 0"):
        equal([refused(c, statement) for c in (s.worker, s.handler)], [True] * 2)
    for statement in ("SELECT book_bills('x', '{}', '{}', '{}', '{}', '{}', '{}')", "SELECT ask_bills(NULL, false)",
                      "SELECT * FROM provider_bills"):
        equal((statement, refused(s.handler, statement)), (statement, True))


if __name__ == "__main__":
    tell_stories("bills")
