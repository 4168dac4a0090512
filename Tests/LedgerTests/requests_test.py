#!/usr/bin/env python3
"""Stories of payment requests and withdrawals: paid once, fulfilled by what arrived, open again when it came back; money to a
bank account goes to one's own.

usage: requests_test.py [part of a name ...]
"""
import datetime as dt, itertools, json, sys, uuid

sys.dont_write_bytecode = True

import ledger as L
from stage import DAY, HOUR, NOON, equal, story, tell_stories, together


def ask(s, owner, amount=100, payer=None, expires=NOON + DAY, now=NOON):
    id = uuid.uuid4()
    outcome = s.handler.execute("SELECT create_payment_request(%s, %s, %s, %s, NULL, 'https://x/r/1', %s, NULL, NULL, %s)",
                                [id, owner, payer, amount, expires, now]).fetchone()[0]
    return id if outcome == "created" else outcome


def ask_many(s, owner, **more):
    """A request that many may pay; made so in the transaction that makes it."""
    with s.handler.transaction():
        id = ask(s, owner, **more)
        s.handler.execute("SELECT let_many_pay(%s, %s)", [id, owner])
    return id


def counted(s, request): return s.one("SELECT state, paid_count, paid_total FROM payment_requests WHERE id = %s", request)


def pay(s, payer, request, to, amount=100, now=NOON, **more):
    return L.place(s.handler, [L.request(payer, to, amount, target=request, **more)], now)[0]


def finish(c, request, user, how, now=NOON):
    return c.execute("SELECT end_payment_request(%s, %s, %s, NULL, %s)", [request, user, how, now]).fetchone()[0]


def state(s, request): return s.one("SELECT state FROM payment_requests WHERE id = %s", request)[0]


def told(s, request):
    return [r[0].split(".")[1] for r in
            s.owner.execute("SELECT type FROM outbox WHERE subject = %s ORDER BY sequence", [str(request)]).fetchall()]


def later(c): c.execute("SELECT pg_sleep(random() * .01)")


def settled(s, id, *outcomes, now=NOON):
    equal(L.submit(s.worker, [id], now), ["send"])
    s.settle(id, *outcomes, now=now)


@story("a request is fulfilled by what arrived, not by what was ordered")
def _(s):
    (bob, b), (_, ann) = s.user(bank=False), s.user(funds=1000)
    q = ask(s, b)
    outcome, id, *_ = pay(s, ann, q, bob)
    equal((outcome, state(s, q)), ("accepted", "processing"))
    settled(s, id, "unknown", "open")
    equal(state(s, q), "processing")
    s.settle(id, "completed")
    equal((state(s, q), s.wallet(b), told(s, q)), ("fulfilled", (100, 0), ["created", "fulfilled"]))
    equal(pay(s, ann, q, bob)[0], "request_paid")


@story("a request that many may pay stays open, counts what has arrived, and takes nothing after its end")
def _(s):
    (bob, b), payers = s.user(bank=False), [s.user(funds=1000)[1] for _ in range(3)]
    q = ask_many(s, b)
    batch = [L.request(p, bob, 100, target=q) for p in payers + payers[:1]]
    answers = L.place(s.handler, batch, NOON)
    equal([a[0] for a in answers], ["accepted"] * 4)
    equal((counted(s, q), pay(s, payers[0], q, bob, 99)[0]), (("open", 0, 0), "request_amount"))
    first, second, third, fourth = [a[1] for a in answers]
    settled(s, first, "completed")
    settled(s, second, "completed", "reversed")
    settled(s, third, "failed")
    equal((counted(s, q), s.wallet(b), told(s, q)), (("open", 1, 100), (100, 0), ["created"]))
    equal([finish(s.handler, q, b, "cancelled") for _ in range(2)], ["cancelled", "request_unknown"])
    settled(s, fourth, "completed")                                             # on its way when the request ended
    equal((counted(s, q), pay(s, payers[0], q, bob)[0]), (("cancelled", 2, 200), "request_unknown"))
    late = ask_many(s, b)
    equal(pay(s, payers[0], late, bob, now=NOON + DAY)[0], "request_expired")


@story("forty people who pay one open request at once all do, and a request of one payment cannot be made one of many later")
def _(s):
    (bob, b), payers = s.user(bank=False), [s.user(funds=100)[1] for _ in range(40)]
    q = ask_many(s, b, amount=None)
    got = together(s.database, [lambda c, p=p: L.place(c, [L.request(p, bob, 70, target=q)], NOON)[0] for p in payers])
    equal([g[0] for g in got], ["accepted"] * 40)
    ids = [g[1] for g in got]
    equal(L.submit(s.worker, ids, NOON), ["send"] * 40)
    together(s.database, [lambda c, i=i: L.settle(c, [(i, "completed")], NOON) for i in ids], role="worker")
    equal((counted(s, q), s.wallet(b)), (("open", 40, 2800), (2800, 0)))
    single = ask(s, b)
    s.handler.execute("SELECT let_many_pay(%s, %s)", [single, b])
    equal(s.one("SELECT multiple FROM payment_requests WHERE id = %s", single), (False,))


@story("a payment that fails or is taken back opens the request again, unless its time is over")
def _(s):
    (bob, b), (_, ann) = s.user(bank=False), s.user(funds=1000)
    for outcomes in (["failed"], ["completed", "reversed"], ["reversed"]):
        q = ask(s, b)
        settled(s, pay(s, ann, q, bob)[1], *outcomes)
        equal((state(s, q), told(s, q)[-1]), ("open", "reopened"))
        equal(pay(s, ann, q, bob)[0], "accepted")
    q = ask(s, b)
    settled(s, pay(s, ann, q, bob)[1], "failed", now=NOON + DAY - HOUR)
    id = pay(s, ann, q, bob, now=NOON + DAY - HOUR)[1]
    L.submit(s.worker, [id], NOON + DAY - HOUR)
    s.settle(id, "failed", now=NOON + DAY)
    equal((state(s, q), told(s, q)), ("expired", ["created", "reopened", "expired"]))


@story("the recheck before sending fails the payment and opens the request")
def _(s):
    (bob, b), (_, ann) = s.user(bank=False), s.user(funds=1000)
    q = ask(s, b)
    id = pay(s, ann, q, bob)[1]
    s.change(ann, debits_blocked=True)
    equal((L.submit(s.worker, [id], NOON), state(s, q), s.wallet(ann)), (["failed"], "open", (1000, 0)))


@story("what a request asks for is what is paid: amount, owner, person, time")
def _(s):
    (bob, b), (carl, c), (_, ann) = s.user(bank=False), s.user(bank=False), s.user(funds=1000)
    q, open_amount, for_carl = ask(s, b), ask(s, b, None), ask(s, b, 100, carl)
    for asked, code in (((uuid.uuid4(), bob), "request_unknown"), ((for_carl, bob), "request_unknown"),
                                ((q, carl), "request_mismatch"), ((q, bob, 99), "request_amount"),
                                ((q, bob, 100, NOON + DAY), "request_expired")):
        equal(pay(s, ann, *asked).outcome, code)
    equal(state(s, q), "open")
    equal(pay(s, ann, open_amount, bob, 7)[0], "accepted")
    equal(pay(s, ann, q, bob, nonce=(nonce := uuid.uuid4()))[0], "accepted")
    equal(pay(s, ann, ask(s, b), bob, nonce=nonce)[0], "approval_used")
    equal(pay(s, b, ask(s, b), bob)[0], "recipient_self")


@story("a request is created by who may receive, for a person who exists, within bounds")
def _(s):
    (bob, b), (carl, c) = s.user(), s.user()
    equal(ask(s, b, payer="nobody"), "payer_unknown")
    equal(ask(s, b, payer=bob), "payer_self")
    equal([ask(s, b, expires=e) for e in (NOON, NOON + 93 * DAY)], ["expiry_invalid"] * 2)
    for change, back in ((dict(status="frozen"), dict(status="active")), (dict(credits_blocked=True), dict(credits_blocked=False))):
        s.change(b, **change)
        equal(ask(s, b), "owner_restricted")
        s.change(b, **back)
    equal(ask(s, uuid.uuid4()), "owner_not_ready")
    equal([type(ask(s, b, payer=carl)).__name__ for _ in range(10)] + [ask(s, b, payer=carl)], ["UUID"] * 10 + ["too_many_requests_open"])


@story("who may ask is as the person has chosen: everyone, whom they paid or were paid by, nobody; a link asks nobody")
def _(s):
    (bob, b), (carl, c), (dora, d) = s.user(funds=1000, bank=False), s.user(funds=1000, bank=False), s.user(bank=False)
    s.change(c, request_policy="contacts")
    equal(ask(s, b, payer=carl), "requests_not_accepted")
    id = s.sent(c, bob, 100)
    equal(ask(s, b, payer=carl), "requests_not_accepted")                       # on its way is not yet paid
    s.settle(id, "completed")
    equal(state(s, ask(s, b, payer=carl)), "open")
    equal(ask(s, d, payer=carl), "requests_not_accepted")
    s.settle(s.sent(b, carl, 100), "failed")
    s.settle(s.sent(c, dora, 100), "completed")
    equal(state(s, ask(s, d, payer=carl)), "open")                              # who was paid
    s.settle(id, "reversed")
    equal(ask(s, b, payer=carl), "requests_not_accepted")
    s.settle(s.sent(b, carl, 100), "completed")
    equal(state(s, ask(s, b, payer=carl)), "open")                              # who has paid
    s.change(c, request_policy="nobody")
    equal([ask(s, x, payer=carl) for x in (b, d)], ["requests_not_accepted"] * 2)
    equal((ask(s, c, payer=carl), ask(s, b, payer="nobody")), ("payer_self", "payer_unknown"))
    equal(pay(s, c, ask(s, b), bob)[0], "accepted")


def announce(s, request, user, key):
    return s.handler.execute("SELECT announce_request_image(%s, %s, %s, 'image/png', %s)", [request, user, key, NOON]).fetchone()[0]


def show(s, request, user, key, now=NOON):
    return s.handler.execute("SELECT outcome, replaced FROM show_request_image(%s, %s, %s, %s)", [request, user, key, now]).fetchone()


def fate(s, key, now=NOON):
    return s.worker.execute("SELECT request_image_fate(%s, %s)", [key, now]).fetchone()[0]


@story("an image is shown by the request's owner while it is open; what is not shown is discarded, once its upload is over")
def _(s):
    (bob, b), (_, ann) = s.user(bank=False), s.user(funds=1000)
    q, other = ask(s, b), ask(s, b)
    key, second, third = (uuid.uuid4().hex for _ in range(3))
    equal([announce(s, q, ann, key), announce(s, uuid.uuid4(), b, key)], ["request_unknown"] * 2)
    equal([announce(s, q, b, k) for k in (key, second, third)], ["announced"] * 3)
    equal((fate(s, key), fate(s, key, NOON + HOUR)), ("wait", "discard"))
    equal([show(s, q, ann, key), show(s, other, b, key), show(s, q, b, "unknown")], [("request_unknown", None)] * 3)
    equal((show(s, q, b, key), fate(s, key, NOON + HOUR)), (("shown", None), "keep"))
    equal((show(s, q, b, second), fate(s, key), fate(s, second)), (("shown", key), "discard", "keep"))
    equal((show(s, q, b, None), fate(s, second)), (("shown", second), "discard"))
    show(s, q, b, third)
    id = pay(s, ann, q, bob)[1]
    equal((show(s, q, b, None), announce(s, q, b, "4")), (("request_in_payment", None), "request_in_payment"))
    settled(s, id, "completed")
    equal((show(s, q, b, None)[0], fate(s, third, NOON + DAY)), ("request_paid", "keep"))
    equal(show(s, other, b, None, NOON + DAY)[0], "request_expired")
    announce(s, other, b, "5" * 43)
    show(s, other, b, "5" * 43)
    finish(s.handler, other, b, "cancelled")
    equal((fate(s, "5" * 43), show(s, other, b, None)[0]), ("discard", "request_unknown"))
    hidden = {r[0] for r in s.worker.execute("SELECT hide_request_images(%s)", [b]).fetchall()}
    equal((hidden, fate(s, third)), ({key, second, third, "5" * 43}, "discard"))


@story("who is blocked neither asks nor pays, the other way round all stays as it was, and a block can be taken back")
def _(s):
    (bob, b), (ann_name, ann) = s.user(bank=False, funds=100), s.user(bank=False, funds=100)
    block = "INSERT INTO blocks VALUES (%s, %s, %s, 1) ON CONFLICT (user_id, blocked_id) DO UPDATE SET is_active = excluded.is_active"
    link = ask(s, b)
    s.worker.execute(block, [b, ann, True])
    equal((ask(s, ann, payer=bob), s.pay(ann, bob, 10)[0]), ("requests_not_accepted", "recipient_unavailable"))
    equal(pay(s, ann, link, bob)[0], "recipient_unavailable")
    equal((type(ask(s, b, payer=ann_name)).__name__, s.pay(b, ann_name, 10)[0]), ("UUID", "accepted"))
    s.worker.execute(block, [b, ann, False])
    equal((type(ask(s, ann, payer=bob)).__name__, s.pay(ann, bob, 10)[0]), ("UUID", "accepted"))


@story("who asks people too often has to wait; a link asks nobody")
def _(s):
    (_, b), (carl, c), others = s.user(), s.user(), [s.user()[0] for _ in range(3)]
    def asks(n, *payer, now=NOON):
        for _ in range(n): equal(finish(s.handler, ask(s, b, 100, *payer, now=now), b, "cancelled", now), "cancelled")
    asks(20, carl)
    equal(ask(s, b, payer=carl), "asked_too_often")
    for other in others[:2]: asks(20, other)
    equal(ask(s, b, payer=others[2]), "asked_too_often")                        # sixty within an hour
    equal((state(s, ask(s, b)), state(s, ask(s, c, payer=others[2]))), ("open", "open"))
    later, (third,) = NOON + HOUR, s.one("SELECT id FROM users WHERE username = %s", others[2])
    for _ in range(3):
        equal(finish(s.handler, ask(s, b, 100, others[2], now=later), third, "declined", later), "declined")
    equal(ask(s, b, payer=others[2], now=later), "asked_too_often")             # declined three times
    equal([state(s, ask(s, b, payer=p, now=NOON + DAY + HOUR, expires=NOON + 2 * DAY)) for p in (carl, others[2])], ["open"] * 2)


@story("forty requests of one person at once are counted one after the other")
def _(s):
    (_, b), (carl, _) = s.user(), s.user()
    asks = "SELECT create_payment_request(%s, %s, %s, 100, NULL, 'https://x/r/1', %s, NULL, NULL, %s)"
    for _ in range(18): finish(s.handler, ask(s, b, payer=carl), b, "cancelled")
    got = together(s.database, [lambda c: c.execute(asks, [uuid.uuid4(), b, carl, NOON + DAY, NOON]).fetchone()[0] for _ in range(40)])
    equal(sorted(got), ["asked_too_often"] * 38 + ["created"] * 2)


@story("cancelled by its owner, declined by who was asked, expired by the clock: each once, and never while being paid")
def _(s):
    (bob, b), (carl, c), (_, ann) = s.user(bank=False), s.user(funds=1000), s.user(funds=1000)
    q = ask(s, b, payer=carl)
    equal([finish(s.handler, q, u, how) for u, how in ((ann, "cancelled"), (c, "cancelled"), (b, "declined"), (ann, "declined"))],
          ["request_unknown"] * 4)
    equal([finish(s.handler, q, c, "declined") for _ in range(2)], ["declined", "request_declined"])
    equal(pay(s, c, q, bob)[0], "request_declined")
    q = ask(s, b)
    equal([finish(s.handler, q, b, "cancelled"), pay(s, ann, q, bob)[0], finish(s.handler, q, b, "cancelled")],
          ["cancelled", "request_unknown", "request_unknown"])
    q = ask(s, b)
    id = pay(s, ann, q, bob)[1]
    equal([finish(s.handler, q, b, "cancelled"), s.one("SELECT expire_payment_requests(1000, %s)", NOON + 2 * DAY) and state(s, q)],
          ["request_in_payment", "processing"])
    settled(s, id, "completed")
    equal(finish(s.handler, q, b, "cancelled"), "request_paid")
    q = ask(s, b)
    s.one("SELECT expire_payment_requests(1000, %s)", NOON + DAY - HOUR)
    equal((state(s, q), finish(s.handler, q, b, "cancelled", NOON + DAY)), ("open", "request_expired"))
    for _ in range(2): s.one("SELECT expire_payment_requests(1000, %s)", NOON + DAY)
    equal((state(s, q), told(s, q)), ("expired", ["created", "expired"]))


@story("two payers in one batch, or the same one twice: the first pays")
def _(s):
    (bob, b), (_, ann), (_, carl) = s.user(bank=False), s.user(funds=1000), s.user(funds=1000)
    q = ask(s, b)
    got = L.place(s.handler, [L.request(p, bob, 100, target=q) for p in (ann, carl, ann)], NOON)
    equal([g[0] for g in got], ["accepted", "request_in_payment", "request_in_payment"])
    equal((s.wallet(ann), s.wallet(carl)), ((1000, 100), (1000, 0)))


@story("thirty payers and its owner's cancellation at once: one of them wins")
def _(s):
    winners = set()
    for turn in range(60):                                      # until each has won, however busy the machine is
        if len(winners) == 2: break
        bob, b = s.user(bank=False)
        payers = [s.user(funds=1000)[1] for _ in range(30)]
        q = ask(s, b)
        jobs = [lambda c, p=p: later(c) or L.place(c, [L.request(p, bob, 100, target=q)], NOON)[0][0] for p in payers]
        got = together(s.database, [lambda c: later(c) or finish(c, q, b, "cancelled")] + jobs, connections=12)
        if "cancelled" in got: equal(sorted(got), ["cancelled"] + ["request_unknown"] * 30)
        else: equal(sorted(got), ["accepted"] + ["request_in_payment"] * 30)
        winners.add("cancelled" in got)
        equal(s.one("SELECT count(*) FROM transfers WHERE payment_request_id = %s", q), (1 - ("cancelled" in got),))
    assert winners == {True, False}, "no race was a race"


@story("a request shows to its owner and the person asked, and neither login role writes it")
def _(s):
    (_, b), (carl, c), (_, ann) = s.user(), s.user(), s.user()
    q = ask(s, b, payer=carl)
    for user, want in ((b, 1), (c, 1), (ann, 0)):
        with L.connect(s.database, "handler") as h:
            h.execute("SELECT set_config('transfa.user_id', %s, true)", [str(user)])
            equal(h.execute("SELECT count(*) FROM payment_requests WHERE id = %s", [q]).fetchone(), (want,))
    for connection in (s.worker, s.handler):
        for statement in ("UPDATE payment_requests SET state = 'fulfilled'", "DELETE FROM payment_requests"):
            try: connection.execute(statement)
            except L.psycopg.errors.InsufficientPrivilege: continue
            raise AssertionError(f"went through: {statement}")


# Withdrawals -----------------------------------------------------------------------------------------------------------

def withdraw(s, user, bank, amount, now=NOON, **more):
    return L.place(s.handler, [L.request(user, None, amount, route="POST /transactions/self-transfer", type="self_transfer",
                                          target=bank, **more)], now)[0]


def bank_of(s, user): return s.one("SELECT id FROM beneficiaries WHERE user_id = %s", user)[0]


@story("new bank accounts together take little on their first day, in a batch too, and what failed does not count; then they take all")
def _(s):
    _, ann = s.user(funds=90_000_000)
    bank, old = bank_of(s, ann), uuid.uuid4()
    s.worker.execute("UPDATE beneficiaries SET added_at = %s WHERE id = %s", [NOON, bank])
    s.worker.execute("INSERT INTO beneficiaries (id, user_id, counterparty_id, verified, added_at) VALUES (%s, %s, 'old', true, %s)",
                     [old, ann, NOON - DAY])
    s.change(ann, active_until=NOON + 9 * DAY)
    def draw(amount, to=bank, now=NOON): return withdraw(s, ann, to, amount, now, id=L.v7(now))[:2]
    equal((draw(2_000_001)[0], draw(2_000_001, old)[0]), ("limit_new_beneficiary", "accepted"))
    outcome, first = draw(1_500_000)
    equal((outcome, draw(500_001)[0]), ("accepted", "limit_new_beneficiary"))
    equal(L.submit(s.worker, [first], NOON), ["send"])
    s.settle(first, "failed")
    order = lambda amount: L.request(ann, None, amount, route="POST /transactions/self-transfer", type="self_transfer", target=bank,
                                     id=L.v7(NOON))
    equal([a[0] for a in L.place(s.handler, [order(1_200_000), order(800_001), order(800_000)], NOON)],
          ["accepted", "limit_new_beneficiary", "accepted"])
    # Removed and added again it is as new as before, and takes no more.
    again = uuid.uuid4()
    s.worker.execute("UPDATE beneficiaries SET deleted_at = %s WHERE id = %s", [NOON, bank])
    s.worker.execute("INSERT INTO beneficiaries (id, user_id, counterparty_id, verified, added_at) VALUES (%s, %s, 'new', true, %s)",
                     [again, ann, NOON])
    equal((draw(1, again)[0], draw(2_000_001, old)[0]), ("limit_new_beneficiary", "accepted"))
    equal(draw(2_000_001, again, NOON + DAY)[0], "accepted")


@story("a withdrawal goes to a verified account of one's own, takes no slot, and counts in the limits")
def _(s):
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    equal([withdraw(s, ann, b, 10)[0] for b in (uuid.uuid4(), bank_of(s, bob))], ["beneficiary_unknown"] * 2)
    bank = bank_of(s, ann)
    s.worker.execute("UPDATE beneficiaries SET verified = false WHERE id = %s", [bank])
    equal(withdraw(s, ann, bank, 10)[0], "beneficiary_not_verified")
    s.worker.execute("UPDATE beneficiaries SET verified = true WHERE id = %s", [bank])
    outcome, id, route, *_ = withdraw(s, ann, bank, 300)
    equal((outcome, route, s.one("SELECT beneficiary_id FROM transfers WHERE id = %s", id)), ("accepted", "external", (bank,)))
    equal(s.one("SELECT kind, destination FROM begin_submission(ARRAY[%s::uuid], 'test', '10 seconds', %s)", id, NOON),
          ("NIPTransfer", s.one("SELECT counterparty_id FROM beneficiaries WHERE id = %s", bank)[0]))
    s.settle(id, "completed")
    equal((s.wallet(ann), s.slots(ann), s.spent(ann)), ((700, 0), 0, (300, 300)))
    settled(s, withdraw(s, ann, bank, 100)[1], "failed")
    equal((s.wallet(ann), s.spent(ann)), ((700, 0), (300, 300)))


@story("who only receives withdraws to an account of their own, pays nobody, and what restricts others restricts them")
def _(s):
    (_, shop), (bob, b) = s.user(funds=1000, sending_allowed=False), s.user()
    equal((s.pay(shop, bob, 10)[0], withdraw(s, shop, bank_of(s, b), 10)[0]), ("receive_only", "beneficiary_unknown"))
    id = withdraw(s, shop, bank_of(s, shop), 300)[1]
    settled(s, id, "completed")
    equal(s.wallet(shop), (700, 0))
    for change, back in ((dict(debits_blocked=True), dict(debits_blocked=False)), (dict(status="frozen"), dict(status="active"))):
        id = withdraw(s, shop, bank_of(s, shop), 100)[1]
        s.change(shop, **change)
        equal((withdraw(s, shop, bank_of(s, shop), 100)[0], L.submit(s.worker, [id], NOON)), ("sender_restricted", ["failed"]))
        s.change(shop, **back)
    s.change(b, sending_allowed=False)                          # chosen while a payment is on its way
    L.fund(s.worker, f"{bob}-account", 500)
    id = withdraw(s, b, bank_of(s, b), 100)[1]
    equal(L.submit(s.worker, [id], NOON), ["send"])


@story("a closed profile's requests end, those that ask it too; one that is being paid ends with its payment")
def _(s):
    (bob, b), (ann_name, ann), (_, carl) = s.user(bank=False), s.user(funds=1000), s.user(bank=False)
    mine, paying, old, asks_me = ask(s, b), ask(s, b), ask(s, b, expires=NOON + HOUR), ask(s, carl, payer=bob)
    id = pay(s, ann, paying, bob)[1]

    def close(now=NOON + 2 * HOUR): return s.one("SELECT close_products(%s, %s)", b, now)[0]
    equal((close(), state(s, mine)), (0, "open"))               # not closed yet
    s.change(b, status="closed")
    equal((close(), close()), (1, 1))
    equal([state(s, q) for q in (mine, paying, old, asks_me)], ["cancelled", "processing", "expired", "declined"])
    equal((told(s, mine), told(s, asks_me)), (["created", "cancelled"], ["created", "declined"]))
    L.submit(s.worker, [id], NOON)                              # refused: the recipient is closed
    equal((state(s, paying), s.one("SELECT may_be_erased(%s)", b)), ("open", (False,)))
    equal((close(), state(s, paying), s.one("SELECT may_be_erased(%s)", b)), (0, "cancelled", (True,)))


@story("an account removed after the order is found out before the money leaves")
def _(s):
    _, ann = s.user(funds=1000)
    id = withdraw(s, ann, bank_of(s, ann), 300)[1]
    s.worker.execute("UPDATE beneficiaries SET deleted_at = now() WHERE user_id = %s", [ann])
    equal((L.submit(s.worker, [id], NOON), s.wallet(ann)), (["failed"], (1000, 0)))
    equal(s.one("SELECT failure_reason FROM transfers WHERE id = %s", id), ("beneficiary_gone",))
    equal(withdraw(s, ann, bank_of(s, ann), 1)[0], "beneficiary_not_verified")


@story("people lower their own limits and lift them again, each time with an approval of its own")
def _(s):
    (_, ann), (bob, _) = s.user(funds=1000), s.user(bank=False)

    def limit(user, nonce, *limits):
        return s.handler.execute("SELECT set_own_limits(%s, %s, %s, %s, %s, %s)", [user, *limits, nonce, NOON]).fetchone()[0]
    nonce = uuid.uuid4()
    equal([limit(ann, nonce, 100, 150, None), limit(ann, nonce, None, None, None), limit(uuid.uuid4(), nonce, 1, 1, 1)],
          ["set", "approval_used", "sender_unknown"])
    equal([s.pay(ann, bob, a)[0] for a in (101, 100, 51, 50)], ["limit_per_transfer", "accepted", "limit_per_day", "accepted"])
    equal(s.pay(ann, bob, 1, nonce=nonce)[0], "approval_used")
    equal([limit(ann, uuid.uuid4(), None, None, None), s.pay(ann, bob, 101)[0]], ["set", "accepted"])


@story("each kind of order has its own fees, as legs of their own")
def _(s):
    later = NOON + 3 * DAY
    s.owner.execute("INSERT INTO fee_schedule VALUES ('self_transfer', 'external', %s, 0, 10, 5), ('money_drop', 'internal', %s, 0, 3, 0)",
                    [later] * 2)
    try:
        _, ann = s.user(funds=1000)
        id = withdraw(s, ann, bank_of(s, ann), 100, later)[1]
        settled(s, id, "completed", now=later)
        equal(s.wallet(ann), (885, 0))
        legs = s.worker.execute("SELECT leg, sum(amount) FROM entries WHERE transfer_id = %s AND amount > 0 GROUP BY 1 ORDER BY 1",
                                [id]).fetchall()
        equal(legs, [("amount", 100), ("duty", 5), ("fee", 10)])
        equal(withdraw(s, ann, bank_of(s, ann), 871, later)[0], "insufficient_funds")
    finally:
        s.owner.execute("DELETE FROM fee_schedule WHERE valid_from = %s", [later])


if __name__ == "__main__":
    tell_stories("requests, withdrawals, limits")
