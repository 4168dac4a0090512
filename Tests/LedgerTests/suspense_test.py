#!/usr/bin/env python3
"""Stories of money in suspense: it leaves by two people, to whom it belongs, and who follows it hears where it is; nothing
stays in a closed wallet.

usage: suspense_test.py [part of a name ...]
"""
import datetime as dt, sys, uuid

sys.dont_write_bytecode = True

import ledger as L
from drops import arrive, claim, created, end, refunds, slots, told
from stage import DAY, HOUR, NOON, equal, story, tell_stories, together


def expected(s, name, user):
    """(expected, leaving) of a person's account at the provider."""
    return s.one("SELECT expected, leaving FROM expected_at_provider(%s, %s)", f"{name}-account", user)


def asked(s, owner, payer=None, amount=300, many=False, expires=NOON + HOUR):
    id = uuid.uuid4()
    with s.handler.transaction():
        equal(s.handler.execute("SELECT create_payment_request(%s, %s, %s, %s, NULL, 'https://x/r/1', %s, %s, NULL, %s)",
                                [id, owner, payer, amount, expires, uuid.uuid4(), NOON]).fetchone(), ("created",))
        if many: s.handler.execute("SELECT let_many_pay(%s, %s)", [id, owner])
    return id


def request(s, id): return s.one("SELECT state, paid_count, paid_total FROM payment_requests WHERE id = %s", id)


def suspended(s, payer, name, payee, amount=300, now=NOON, **more):
    """A payment whose payee is frozen before it arrives."""
    id = s.sent(payer, name, amount, now, **more)
    s.change(payee, status="frozen")
    equal(s.settle(id, "completed", now=now), ["completed"])
    equal(where(s, id), ("completed", "suspense"))
    return id


def where(s, id): return s.one("SELECT state, route_reason FROM transfers WHERE id = %s", id)


def proposed(s, id, disposition, by="grace", beneficiary=None, now=NOON):
    release = L.v7()
    return release, s.one("SELECT result FROM propose_release(%s, %s, %s, 'checked', %s, %s, p_beneficiary => %s)",
                          release, id, disposition, by, now, beneficiary)[0]


def decided(s, release, by="linus", approve=True, now=NOON):
    return s.one("SELECT result FROM decide_release(%s, %s, %s, %s)", release, by, approve, now)[0]


def released(s, id, disposition, beneficiary=None, now=NOON):
    """A release that two people want, of a payment that stands at the provider."""
    release, word = proposed(s, id, disposition, beneficiary=beneficiary, now=now)
    equal((word, decided(s, release, now=now)), ("proposed", "approved"))
    s.stands(id, now=now)
    return release


def bank(s, user, verified=True):
    id = uuid.uuid4()
    s.worker.execute("INSERT INTO beneficiaries (id, user_id, counterparty_id, verified) VALUES (%s, %s, %s, %s)",
                     [id, user, f"bank-{id}", verified])
    return id


def step(s, id):
    """What the provider is asked to do."""
    return s.one("SELECT verdict, kind, reference, source_account, destination, amount FROM begin_submission(ARRAY[%s::uuid], 'test',"
                 " '10 seconds', %s)", id, NOON)


def refused(s, *command):
    try: s.one(*command)
    except L.psycopg.errors.CheckViolation: return True
    return False


# Who decides -----------------------------------------------------------------------------------------------------------

@story("one person with two spellings is not two people")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    id = suspended(s, ann, bob, b)
    for name in ("Grace", "grace ", "grace\u00a0", "gr\u0430ce", ""):
        equal((name, refused(s, "SELECT propose_release(%s, %s, 'credit', 'checked', %s, %s)", L.v7(), id, name, NOON)), (name, True))
    s.change(b, status="active")
    release, word = proposed(s, id, "credit")
    equal((word, decided(s, release, "grace")), ("proposed", "same_operator"))
    equal(refused(s, "SELECT decide_release(%s, 'Grace', true, %s)", release, NOON), True)
    unknown = s.sent(ann, s.user()[0], 10)
    s.settle(unknown, "unknown")
    outcome = L.v7()
    propose = "SELECT propose_outcome(%s, %s, 'failed', 'no trace', %s, interval '1 day', %s)"
    equal(refused(s, propose, outcome, unknown, "Grace", NOON), True)
    s.one(propose, outcome, unknown, "grace", NOON)
    equal(refused(s, "SELECT approve_outcome(%s, 'Grace', %s, %s)", outcome, L.v7(), NOON + HOUR), True)
    equal((s.state(unknown), decided(s, release)), ("unknown", "approved"))


# Back to who sent it ---------------------------------------------------------------------------------------------------

@story("what one person has paid another is returned by an order to the provider, and all that it took is given back")
def _(s):
    s.owner.execute("INSERT INTO fee_schedule VALUES ('p2p', 'internal', '2026-07-01', 0, 7, 3)")
    now = NOON + 60 * DAY
    (anna, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    id = suspended(s, ann, bob, b, 300, now)
    equal((s.wallet(ann), s.spent(ann)), ((690, 0), (300, 300)))
    release = released(s, id, "return", now=now)
    # Nothing has moved yet, and nobody proposes it again.
    equal((s.wallet(ann), where(s, id), proposed(s, id, "credit", now=now)[1]), ((690, 0), ("completed", "suspense"), "already_proposed"))
    equal(s.one("SELECT verdict, kind, reference, source_account, destination, amount FROM begin_submission(ARRAY[%s::uuid], 'test',"
                " '10 seconds', %s)", release, now),
          ("send", "BookTransfer", f"trf-{release}", f"{bob}-account", f"{anna}-account", 300))
    equal((expected(s, bob, b), s.settle(release, "completed", now=now)), ((300, 300), ["completed"]))
    came = s.one("SELECT result FROM credit_inbound(ARRAY[%s::text], ARRAY[%s::text], ARRAY[300], ARRAY[%s::text], ARRAY[%s::uuid],"
                 " ARRAY['seen'], ARRAY[NULL::uuid], %s)", f"p-{release}", f"{anna}-account", f"trf-{release}", L.v7(), now)
    equal(came, ("matched",))                                                           # the other end of our own order
    equal((s.wallet(ann), s.wallet(b), s.spent(ann), where(s, id)), ((1000, 0), (0, 0), (0, 0), ("reversed", "returned")))
    equal((expected(s, anna, ann), expected(s, bob, b)), ((1000, 0), (0, 0)))
    events = s.owner.execute("SELECT type FROM outbox WHERE subject IN (%s, %s) ORDER BY sequence", [str(id), str(release)]).fetchall()
    equal([e[0] for e in events], ["transaction.created", "transaction.completed", "transaction.reversed"])
    equal(s.settle(release, "completed", now=now), ["ignored"])
    s.owner.execute("DELETE FROM fee_schedule WHERE fee = 7")


@story("what is being returned, or was, is not taken back a second time when the provider reverses the payment: people look at it")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    breaks = "SELECT count(*) FROM breaks WHERE transfer_id = %s AND kind = 'provider_says_reversed'"
    id = suspended(s, ann, bob, b)
    release = released(s, id, "return")
    equal(L.submit(s.worker, [release], NOON), ["send"])
    equal((s.settle(id, "reversed"), s.wallet(ann), s.one(breaks, id)), (["break"], (700, 0), (1,)))
    s.settle(release, "completed")
    equal((s.settle(id, "reversed", "reversed"), s.wallet(ann), s.one(breaks, id)), (["break", "break"], (1000, 0), (1,)))
    equal((s.settle(release, "reversed"), s.one(breaks, release)), (["break"], (1,)))
    outcome = L.v7()
    propose = "SELECT result FROM propose_outcome(%s, %s, 'reversed', 'seen', 'grace', interval '1 day', %s)"
    equal([s.one(propose, outcome, x, NOON)[0] for x in (id, release)], ["not_reversible"] * 2)


@story("a return and the provider's reversal of the payment race: the payer gets the money once, whoever is first")
def _(s):
    _, ann = s.user(funds=10000)
    for turn in range(6):
        bob, b = s.user(bank=False)
        id = suspended(s, ann, bob, b)
        release, _ = proposed(s, id, "return")
        s.stands(id)
        if turn % 2: equal((decided(s, release), L.submit(s.worker, [release], NOON)), ("approved", ["send"]))
        ours = ((lambda c: L.settle(c, [(release, "completed")], NOON)[0]) if turn % 2 else
                (lambda c: c.execute("SELECT result FROM decide_release(%s, 'linus', true, %s)", [release, NOON]).fetchone()[0]))
        got = together(s.database, [ours, lambda c: L.settle(c, [(id, "reversed")], NOON)[0]], "worker", 2)
        wanted = [["completed", "break"]] if turn % 2 else [["approved", "reversed"], ["not_in_suspense", "reversed"]]
        assert got in wanted, got
        if got[0] == "approved": equal((s.state(release), L.submit(s.worker, [release], NOON)), ("failed", ["ended"]))
        equal((s.wallet(ann), s.state(id)), ((10000, 0), "reversed"))


@story("an order out of suspense that was not sent fails when the provider takes the payment back: the payer gets it once")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    id = suspended(s, ann, bob, b)
    back = released(s, id, "return")
    equal((s.settle(id, "reversed"), s.state(back), where(s, id)), (["reversed"], "failed", ("reversed", "suspense")))
    equal((s.wallet(ann), s.wallet(b), L.submit(s.worker, [back], NOON)), ((1000, 0), (0, 0), ["ended"]))
    equal(s.one("SELECT failure_reason FROM transfers WHERE id = %s", back), ("payment_reversed",))
    equal(s.one("SELECT count(*) FROM breaks WHERE transfer_id = %s", id), (0,))
    bob, b = s.user(bank=False)
    paid = suspended(s, ann, bob, b)
    s.change(b, status="closed")
    out = released(s, paid, "payout", beneficiary=bank(s, b))
    equal((s.settle(paid, "reversed"), s.state(out), s.wallet(ann), s.wallet(b)), (["reversed"], "failed", (1000, 0), (0, 0)))


@story("an order out of suspense is sent only when the provider has said a moment ago that the payment stands")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    id = suspended(s, ann, bob, b)
    release, _ = proposed(s, id, "return")
    equal(decided(s, release), "approved")
    minute = dt.timedelta(minutes=1)
    equal(step(s, release)[:3], ("ask", "BookTransfer", f"trf-{id}"))
    for word, when in (("reversed", NOON), ("no_answer", NOON), ("completed", NOON - minute)):
        s.stands(id, word, when)
        equal((word, step(s, release)[0], s.state(release)), (word, "ask", "accepted"))
    s.stands(id, now=NOON)
    equal((step(s, release)[:3], s.state(release)), (("send", "BookTransfer", f"trf-{release}"), "submitted"))


@story("a payment that the provider has taken back while an order moved its money is asked about again when that fails")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    id = suspended(s, ann, bob, b)
    release = released(s, id, "return")
    equal((L.submit(s.worker, [release], NOON), s.settle(id, "reversed")), (["send"], ["break"]))
    asked = "SELECT state FROM jobs WHERE kind = 'check_transfer' AND key = %s"
    equal((s.one(asked, str(id)), s.settle(release, "failed"), s.one(asked, str(id))), (None, ["failed"], ("queued",)))
    breaks = "SELECT resolution FROM breaks WHERE transfer_id = %s"
    equal((s.one(breaks, id), s.settle(id, "reversed"), s.one(breaks, id)), ((None,), ["reversed"], ("reversed",)))
    equal((s.wallet(ann), s.wallet(b)), ((1000, 0), (0, 0)))
    quiet = suspended(s, ann, *s.user(bank=False))
    failing = released(s, quiet, "return")
    equal((L.submit(s.worker, [failing], NOON), s.settle(failing, "failed")), (["send"], ["failed"]))
    equal(s.one(asked, str(quiet)), None)


@story("operators do not book a reversal of what they are returning")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    id = suspended(s, ann, bob, b)
    outcome, propose = L.v7(), "SELECT result FROM propose_outcome(%s, %s, 'reversed', 'seen', 'grace', interval '1 day', %s)"
    equal(s.one(propose, outcome, id, NOON), ("open",))
    released(s, id, "return")
    equal(s.one("SELECT result FROM approve_outcome(%s, 'linus', %s, %s)", outcome, L.v7(), NOON), ("overtaken",))
    equal(s.one(propose, L.v7(), id, NOON), ("not_reversible",))


@story("an order out of suspense that fails, or that the provider takes back, leaves the money there, and another one may follow")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    id = suspended(s, ann, bob, b)
    for outcome in ("failed", "reversed"):
        release = released(s, id, "return")
        equal(L.submit(s.worker, [release], NOON), ["send"])
        equal((s.settle(release, "unknown", outcome), s.state(release)), (["unknown", "failed"], "failed"))
        equal((s.wallet(ann), where(s, id)), ((700, 0), ("completed", "suspense")))
    late = released(s, id, "return")
    equal((L.submit(s.worker, [late], NOON + DAY + HOUR), s.state(late)), (["failed"], "failed"))
    s.change(b, status="active")
    released(s, id, "credit")
    equal((s.wallet(ann), s.wallet(b), where(s, id)), ((700, 0), (300, 0), ("completed", "released")))


@story("neither a drop's money nor what was in a closed wallet is returned to anybody; what came from outside is, by hand")
def _(s):
    (_, ann), (_, bob), (carla, carl) = s.user(funds=1000), s.user(), s.user(funds=50, status="active")
    drop, _ = created(s, ann, 100, 1)
    claimed = claim(s.handler, bob, drop)[1]
    equal(L.submit(s.worker, [claimed], NOON), ["send"])
    s.change(bob, status="frozen")
    s.settle(claimed, "completed")
    s.change(carl, status="closed")
    s.one("SELECT close_products(%s, %s)", carl, NOON)
    swept = s.one("SELECT id FROM transfers WHERE recipient_id = %s AND route_reason = 'suspense'", carl)[0]
    came = L.fund(s.worker, f"{carla}-account", 20, now=NOON)[0]
    equal([proposed(s, id, "return")[1] for id in (claimed, swept, came)], ["not_returnable", "not_returnable", "proposed"])


# To a bank account of theirs -------------------------------------------------------------------------------------------

@story("what belongs to somebody who is gone is paid to a verified bank account of theirs, by two people and an order to the provider")
def _(s):
    (_, ann), (bob, b), (_, carl) = s.user(funds=1000), s.user(bank=False), s.user()
    id = suspended(s, ann, bob, b)
    mine, unverified = bank(s, b), bank(s, b, verified=False)
    equal(proposed(s, id, "payout", beneficiary=mine)[1], "recipient_not_closed")
    s.change(b, status="closed")
    equal([proposed(s, id, "payout", beneficiary=x)[1] for x in (None, unverified, bank(s, carl))],
          ["beneficiary_unknown", "beneficiary_not_verified", "beneficiary_unknown"])
    release, word = proposed(s, id, "payout", beneficiary=mine)
    s.worker.execute("UPDATE beneficiaries SET deleted_at = %s WHERE id = %s", [NOON, mine])
    equal((word, decided(s, release)), ("proposed", "beneficiary_not_verified"))
    s.worker.execute("UPDATE beneficiaries SET deleted_at = NULL WHERE id = %s", [mine])
    equal((decided(s, release, "grace"), decided(s, release)), ("same_operator", "approved"))
    s.stands(id)
    equal(step(s, release), ("send", "NIPTransfer", f"trf-{release}", f"{bob}-account", f"bank-{mine}", 300))
    equal((expected(s, bob, b), s.settle(release, "completed"), expected(s, bob, b)), ((300, 300), ["completed"], (0, 0)))
    equal((where(s, id), s.wallet(b), s.wallet(ann)), (("completed", "paid_out"), (0, 0), (700, 0)))
    equal(s.settle(id, "reversed"), ["break"])
    # The bank sends it back days later: it waits again.
    equal((s.settle(release, "reversed"), where(s, id), expected(s, bob, b)), (["reversed"], ("completed", "suspense"), (300, 0)))
    equal(s.one("SELECT may_be_erased(%s)", b), (False,))
    arrive(s, [released(s, id, "payout", beneficiary=mine)])
    equal((where(s, id), s.one("SELECT may_be_erased(%s)", b)), (("completed", "paid_out"), (True,)))


@story("who owes something is paid nothing out")
def _(s):
    (_, ann), (bob, b), (carl, _) = s.user(funds=1000), s.user(bank=False), s.user()
    first, second = s.sent(ann, bob, 300), s.sent(ann, bob, 100)
    s.settle(first, "completed")
    s.settle(s.sent(b, carl, 200), "completed")
    s.settle(first, "reversed")
    s.change(b, status="closed")
    s.settle(second, "completed")
    equal(proposed(s, second, "payout", beneficiary=bank(s, b))[1], "recipient_owes")


@story("a bank account that is gone when the order is sent gets nothing, and the money waits on")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    id, mine = suspended(s, ann, bob, b), bank(s, b)
    s.change(b, status="closed")
    release = released(s, id, "payout", beneficiary=mine)
    s.worker.execute("UPDATE beneficiaries SET verified = false WHERE id = %s", [mine])
    equal((step(s, release)[0], s.state(release), where(s, id)), ("failed", "failed", ("completed", "suspense")))


# Closed wallets --------------------------------------------------------------------------------------------------------

@story("nothing stays in a closed wallet: what it has, and what comes back to it, waits in suspense and is paid out")
def _(s):
    (anna, ann), (bob, b), (outer, _) = s.user(funds=1000), s.user(bank=False), s.user(plan=True)
    fails, back, late = s.sent(ann, outer, 100), s.sent(ann, outer, 200), s.paid(ann, bob, 30)
    s.settle(back, "completed")
    before = expected(s, anna, ann)[0]
    s.change(ann, status="closed")
    equal(s.one("SELECT close_products(%s, %s)", ann, NOON), (1,))                      # payments are on their way
    held = "SELECT coalesce(sum(amount), 0) FROM transfers WHERE recipient_id = %s AND route_reason = 'suspense'"
    equal((s.wallet(ann), s.one(held, ann), expected(s, anna, ann)[0]), ((130, 130), (670,), before))
    s.settle(fails, "failed")
    equal((s.wallet(ann), s.one(held, ann)), ((30, 30), (770,)))
    s.settle(back, "reversed")
    equal((s.wallet(ann), s.one(held, ann)), ((30, 30), (970,)))
    equal(L.submit(s.worker, [late], NOON), ["failed"])                                 # before it is sent
    equal((s.wallet(ann), s.one(held, ann)), ((0, 0), (1000,)))
    equal((s.one("SELECT close_products(%s, %s)", ann, NOON), expected(s, anna, ann)), ((0,), (1000, 0)))
    mine = bank(s, ann)
    parts = [r[0] for r in s.worker.execute("SELECT id FROM transfers WHERE recipient_id = %s AND route_reason = 'suspense'", [ann])]
    arrive(s, [released(s, x, "payout", beneficiary=mine) for x in parts])
    equal((expected(s, anna, ann), s.one("SELECT may_be_erased(%s)", ann)), ((0, 0), (True,)))


@story("a wallet that is closed while payments fail is empty afterwards, whoever is first")
def _(s):
    outer, _ = s.user(plan=True)
    for _ in range(8):
        _, ann = s.user(funds=100)
        ids = [s.sent(ann, outer, 10) for _ in range(3)]
        def close(c):
            c.execute("UPDATE users SET status = 'closed' WHERE id = %s", [ann])
            c.execute("SELECT close_products(%s, %s)", [ann, NOON])
        together(s.database, [close] + [lambda c, id=id: L.settle(c, [(id, "failed")], NOON)[0] for id in ids], "worker", 4)
        s.one("SELECT close_products(%s, %s)", ann, NOON)
        equal(s.wallet(ann), (0, 0))
        equal(s.one("SELECT sum(amount) FROM transfers WHERE recipient_id = %s AND route_reason = 'suspense'", ann), (100,))


@story("who gives something back waits for no account out of order: a wallet that was closed since is emptied by who closes it")
def _(s):
    _, ann = s.user(funds=100)
    s.change(ann, status="closed")
    with L.connect(s.database, "owner") as other, L.connect(s.database, "owner") as c:
        other.execute("SELECT 1 FROM balances WHERE account_id = closed_suspense(%s) FOR NO KEY UPDATE", [ann])
        c.execute("SET LOCAL lock_timeout = '1s'")
        c.execute("SELECT empty_closed_wallets(ARRAY[%s], %s)", [ann, NOON])
        c.commit()
    equal(s.wallet(ann), (100, 0))
    s.one("SELECT close_products(%s, %s)", ann, NOON)
    equal(s.wallet(ann), (0, 0))


@story("what is returned to somebody who has closed meanwhile, and a refund ordered before it, wait in suspense")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    id = suspended(s, ann, bob, b)
    drop, _ = created(s, ann, 100, 2)
    equal(end(s.handler, ann, drop), "ended")
    refund = refunds(s, drop)[0][0]
    s.change(ann, status="closed")
    s.one("SELECT close_products(%s, %s)", ann, NOON)
    arrive(s, [refund])
    equal((s.wallet(ann), where(s, refund), told(s, drop)), ((0, 0), ("completed", "suspense"), ["money_drop.opened", "money_drop.ended"]))
    arrive(s, [released(s, id, "return")])
    equal((s.wallet(ann), where(s, id)), ((0, 0), ("reversed", "returned")))
    equal(s.one("SELECT sum(amount) FROM transfers WHERE recipient_id = %s AND route_reason = 'suspense'", ann), (1000,))
    arrive(s, [released(s, refund, "payout", beneficiary=bank(s, ann))])
    equal(told(s, drop)[2:], ["money_drop.refunded"])


# Who follows -----------------------------------------------------------------------------------------------------------

@story("a request waits while its payment waits in suspense: fulfilled when it is released, open again when it is returned")
def _(s):
    (_, ann), (bob, b) = s.user(funds=2000), s.user(bank=False)
    for disposition, state, events in (("credit", ("fulfilled", 1, 300), ["created", "fulfilled"]), ("return", ("open", 0, 0), ["created", "reopened"])):
        ask = asked(s, b)
        id = suspended(s, ann, bob, b, target=ask)
        equal(request(s, ask), ("processing", 0, 0))
        s.change(b, status="active")
        release = released(s, id, disposition)
        if disposition == "return": arrive(s, [release])
        equal(request(s, ask), state)
        equal(told(s, ask), [f"payment_request.{e}" for e in events])
    equal(s.pay(ann, bob, 300, target=ask)[0], "accepted")                              # it may be paid again


@story("a request whose payment is returned after its time expires")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    ask = asked(s, b)
    id = suspended(s, ann, bob, b, target=ask)
    arrive(s, [released(s, id, "return", now=NOON + 2 * HOUR)], NOON + 2 * HOUR)
    equal((request(s, ask), told(s, ask)[-1]), (("expired", 0, 0), "payment_request.expired"))


@story("a request of many counts what has arrived, not what waits in suspense, is returned from there, or is reversed there")
def _(s):
    (_, ann), (bob, b) = s.user(funds=2000), s.user(bank=False)
    ask = asked(s, b, many=True)
    ids = [s.sent(ann, bob, 300, target=ask) for _ in range(4)]
    s.settle(ids[0], "completed")
    s.change(b, status="frozen")
    for id in ids[1:]: s.settle(id, "completed")
    equal(request(s, ask), ("open", 1, 300))
    arrive(s, [released(s, ids[1], "return")])
    s.settle(ids[2], "reversed")
    equal(request(s, ask), ("open", 1, 300))
    s.change(b, status="active")
    released(s, ids[3], "credit")
    equal(request(s, ask), ("open", 2, 600))


@story("a request that was paid out to a bank is fulfilled, and waits again when the bank sends it back")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    ask, many = asked(s, b), asked(s, b, many=True)
    ids = [s.sent(ann, bob, 300, target=x) for x in (ask, many)]
    s.change(b, status="closed")
    for id in ids: s.settle(id, "completed")
    mine = bank(s, b)
    outs = [released(s, id, "payout", beneficiary=mine) for id in ids]
    arrive(s, outs)
    equal((request(s, ask)[0], request(s, many)[1:]), ("fulfilled", (1, 300)))
    for out in outs: s.settle(out, "reversed")
    equal((request(s, ask)[0], request(s, many)[1:]), ("processing", (0, 0)))


@story("a claim that waits in suspense is told when it has arrived")
def _(s):
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    drop, _ = created(s, ann, 100, 2)
    claimed = claim(s.handler, bob, drop)[1]
    equal(L.submit(s.worker, [claimed], NOON), ["send"])
    s.change(bob, status="frozen")
    s.settle(claimed, "completed")
    equal((slots(s, drop)["paid"], told(s, drop)), (1, ["money_drop.opened"]))
    s.change(bob, status="active")
    released(s, claimed, "credit")
    equal((s.wallet(bob), told(s, drop)), ((100, 0), ["money_drop.opened", "money_drop.claimed"]))


@story("what leaves suspense for its recipient says which transfer that was, and nothing else says so")
def _(s):
    (_, ann), (bob, b) = s.user(funds=1000), s.user(bank=False)
    releases = lambda x: s.owner.execute("SELECT data::json->>'type', data::json->>'releases' FROM outbox WHERE subject = %s"
                                         " AND type = 'transaction.completed'", [str(x)]).fetchall()
    back = s.sent(ann, bob, 100)
    drop, _ = created(s, ann, 100, 1)
    claimed = claim(s.handler, b, drop)[1]
    equal(L.submit(s.worker, [claimed], NOON), ["send"])
    paid = suspended(s, ann, bob, b)
    for id in (back, claimed): equal(s.settle(id, "completed"), ["completed"])
    came = L.fund(s.worker, f"{bob}-account", 20, now=NOON)[0]
    s.change(b, status="active")
    held = ((paid, "p2p"), (came, "inbound"), (claimed, "drop_claim"))
    equal([(id, releases(released(s, id, "credit"))) for id, _ in held], [(id, [(type, str(id))]) for id, type in held])
    equal([releases(id) for id, _ in held], [[(type, None)] for _, type in held])
    returned = released(s, back, "return")
    arrive(s, [returned])
    equal((releases(back), releases(returned)), ([("p2p", None)], []))


if __name__ == "__main__":
    tell_stories("suspense")
