#!/usr/bin/env python3
"""Stories of caps: each is used in part, read, refused exactly when `remaining` says so, and gone or fresh at `until`.

usage: caps_test.py [part of a name ...]
"""
import datetime as dt, sys, uuid

sys.dont_write_bytecode = True

import ledger as L
from drops import MINUTE, claim, created
from stage import DAY, HOUR, NOON, equal, story, tell_stories

MOMENT = dt.timedelta(milliseconds=1)


def caps(s, user, code, now=NOON):
    """(unit, most, used, remaining, until, of what) of each cap with a code."""
    rows = s.handler.execute("SELECT unit, most, used, remaining, until, coalesce(device_id::text, beneficiary_id::text, payer_username,"
                             " drop_id::text) FROM caps_of(%s, %s) WHERE code = %s", [user, now, code])
    return rows.fetchall()


def ask(s, owner, payer=None, now=NOON, expires=None, how=None):
    """A request; how it is ended at once, by its owner or by its payer. What asking was answered."""
    id = uuid.uuid4()
    answer = s.handler.execute("SELECT create_payment_request(%s, %s, %s, 100, NULL, 'https://x/r/1', %s, NULL, NULL, %s)",
                               [id, owner, payer, expires or now + 20 * DAY, now]).fetchone()[0]
    if how and answer == "created":
        by = owner if how == "cancelled" else s.one("SELECT id FROM users WHERE username = %s", payer)[0]
        equal(s.handler.execute("SELECT end_payment_request(%s, %s, %s, NULL, %s)", [id, by, how, now]).fetchone(), (how,))
    return answer


def withdraw(s, user, bank, amount, now=NOON):
    return L.place(s.handler, [L.request(user, None, amount, id=L.v7(now), route="withdraw", type="self_transfer", target=bank)], now)[0][0]


@story("one transfer, a day and a month: of the level or the user's own, the lower, until Lagos has another day and month")
def _(s):
    (_, ann), (bob, _) = s.user(funds=300_000, tier=1), s.user(bank=False)
    s.worker.execute("INSERT INTO user_limits (user_id, per_day, per_month) VALUES (%s, 6000, 8000)", [ann])
    midnight = dt.datetime(2026, 5, 15, 23, tzinfo=L.UTC)       # of the day of NOON in Lagos
    s.paid(ann, bob, 4000)
    equal(caps(s, ann, "limit_per_transfer"), [("kobo", 5000, 0, 5000, None, None)])
    equal(caps(s, ann, "limit_per_day"), [("kobo", 6000, 4000, 2000, midnight, None)])
    equal([s.pay(ann, bob, a)[0] for a in (5001, 2001, 2000, 1)], ["limit_per_transfer", "limit_per_day", "accepted", "limit_per_day"])
    equal(s.pay(ann, bob, 1, midnight - MOMENT)[0], "limit_per_day")
    equal(caps(s, ann, "limit_per_day", midnight), [("kobo", 6000, 0, 6000, midnight + DAY, None)])
    june = dt.datetime(2026, 5, 31, 23, tzinfo=L.UTC)
    equal(caps(s, ann, "limit_per_month", midnight), [("kobo", 8000, 6000, 2000, june, None)])
    equal([s.pay(ann, bob, a, midnight)[0] for a in (2001, 2000)], ["limit_per_month", "accepted"])
    equal([s.pay(ann, bob, 1, now)[0] for now in (june - MOMENT, june)], ["limit_per_month", "accepted"])
    equal(caps(s, ann, "limit_per_month", june), [("kobo", 8000, 1, 7999, june + 30 * DAY, None)])


@story("a new device, and a PIN that was reset: each has its own cap, and the newest has that of PINs")
def _(s):
    (_, ann), (bob, _), phone, old, reset = s.user(funds=10**8), s.user(plan=True), *(uuid.uuid4() for _ in range(3))
    def known(device, key, since): s.worker.execute("SELECT note_device(%s, %s, %s, %s, 1, %s)", [device, ann, key, since, since])
    known(old, b"key", NOON - DAY)
    known(phone, b"key", NOON - HOUR)
    def cap(used, now=NOON): return [("kobo", 2_000_000, used, 2_000_000 - used, NOON + 23 * HOUR, str(phone))]
    s.paid(ann, bob, 500_000, device=phone)
    gone = s.sent(ann, bob, 100_000)                            # by PIN
    equal(caps(s, ann, "limit_new_device"), cap(600_000))
    s.settle(gone, "failed")
    equal(caps(s, ann, "limit_new_device"), cap(500_000))
    equal([s.pay(ann, bob, a, device=phone)[0] for a in (1_500_001, 1_500_000)], ["limit_new_device", "accepted"])
    equal([s.pay(ann, bob, 1, d, device=phone)[0] for d in (NOON + 23 * HOUR - MOMENT, NOON + 23 * HOUR)], ["limit_new_device", "accepted"])
    equal((caps(s, ann, "limit_new_device", NOON + 23 * HOUR), s.pay(ann, bob, 3_000_000, device=old)[0]), ([], "accepted"))
    known(reset, b"", NOON + 2 * HOUR)
    now = NOON + 3 * HOUR
    equal(s.pay(ann, bob, 300_000, now)[0], "accepted")
    equal(caps(s, ann, "limit_new_device", now)[:1] + [c[2] for c in caps(s, ann, "limit_new_device", now)[1:]],
          [*cap(2_000_000, now), 300_000])                      # of the device, and of PINs
    equal(caps(s, ann, "limit_new_device", now)[1][4:], (NOON + 26 * HOUR, None))
    known(uuid.uuid4(), b"key", now + MOMENT)                   # newer than the reset: PINs count for this one
    equal([(c[2], c[5] is None) for c in caps(s, ann, "limit_new_device", now + MOMENT)],
          [(2_000_000, False), (0, False)])
    s.worker.execute("UPDATE devices SET revoked_at = %s WHERE id = %s", [now, phone])
    equal(len(caps(s, ann, "limit_new_device", now)), 1)


@story("new bank accounts: together one cap, each until it is a day old")
def _(s):
    _, ann = s.user(funds=90_000_000, plan=True)
    first, second = s.one("SELECT id FROM beneficiaries WHERE user_id = %s", ann)[0], uuid.uuid4()
    s.worker.execute("UPDATE beneficiaries SET added_at = %s WHERE id = %s", [NOON - HOUR, first])
    s.worker.execute("INSERT INTO beneficiaries (id, user_id, counterparty_id, verified, added_at) VALUES (%s, %s, 'second', true, %s)",
                     [second, ann, NOON])
    equal(withdraw(s, ann, first, 1_200_000), "accepted")
    used = ("kobo", 2_000_000, 1_200_000, 800_000)
    equal(sorted(caps(s, ann, "limit_new_beneficiary")),
          [(*used, NOON + 23 * HOUR, str(first)), (*used, NOON + DAY, str(second))])
    equal([withdraw(s, ann, second, a) for a in (800_001, 800_000)], ["limit_new_beneficiary", "accepted"])
    later = NOON + 23 * HOUR
    equal([withdraw(s, ann, first, 1, now) for now in (later - MOMENT, later)], ["limit_new_beneficiary", "accepted"])
    equal(caps(s, ann, "limit_new_beneficiary", later), [("kobo", 2_000_000, 800_000, 1_200_000, NOON + DAY, str(second))])
    s.worker.execute("UPDATE beneficiaries SET deleted_at = %s WHERE id = %s", [later, second])
    equal(caps(s, ann, "limit_new_beneficiary", later), [])


@story("what a wallet may hold, with what is on its way; none without a ceiling")
def _(s):
    (_, ann), (bob, b) = s.user(funds=20_000), s.user(tier=0, bank=False)
    equal(caps(s, ann, "recipient_limit"), [])
    s.settle(s.sent(ann, bob, 1000), "completed")
    s.paid(ann, bob, 2000)
    equal(caps(s, b, "recipient_limit"), [("kobo", 6000, 3000, 3000, None, None)])
    equal([s.pay(ann, bob, a)[0] for a in (3001, 3000)], ["recipient_limit", "accepted"])
    equal(caps(s, b, "recipient_limit"), [("kobo", 6000, 6000, 0, None, None)])
    drop, _ = created(s, ann, 1, 1)
    equal(claim(s.handler, b, drop), ("recipient_limit", None))


@story("how often people may be asked: all in an hour, one in a day, and one who declines")
def _(s):
    (_, ann), payers = s.user(), [s.user()[0] for _ in range(4)]
    start = NOON - HOUR
    equal(caps(s, ann, "asked_too_often"), [("requests", 60, 0, 60, None, None)])
    equal([ask(s, ann, payers[0], start, how="cancelled") for _ in range(19)], ["created"] * 19)
    equal(caps(s, ann, "asked_too_often", start), [("requests", 60, 19, 41, NOON, None), ("requests", 20, 19, 1, start + DAY, payers[0])])
    equal([ask(s, ann, payers[0], start, how="cancelled") for _ in range(2)], ["created", "asked_too_often"])
    for payer in payers[1:3]:
        for _ in range(20): equal(ask(s, ann, payer, start, how="cancelled"), "created")
    equal(caps(s, ann, "asked_too_often", start)[0], ("requests", 60, 60, 0, NOON, None))
    equal([ask(s, ann, payers[3], now, how="declined") for now in (NOON - MOMENT, NOON)], ["asked_too_often", "created"])
    equal(ask(s, ann, payers[3], NOON, how="declined"), "created")
    equal([c for c in caps(s, ann, "asked_too_often") if c[5] == payers[3]],
          [("requests", 20, 2, 18, NOON + DAY, payers[3]), ("declined_requests", 3, 2, 1, NOON + DAY, payers[3])])
    equal([ask(s, ann, payers[3], now, how="declined") for now in (NOON, NOON, NOON + DAY - MOMENT, NOON + DAY)],
          ["created", "asked_too_often", "asked_too_often", "created"])
    equal([ask(s, ann, payers[0], now, how="cancelled") for now in (start + DAY - MOMENT, start + DAY)], ["asked_too_often", "created"])


@story("how many requests may be open: all, and to one payer, until the first of them expires")
def _(s):
    (_, ann), (bob, _) = s.user(), s.user()
    equal(caps(s, ann, "too_many_requests_open"), [("requests", 200, 0, 200, None, None)])
    for n in range(9): equal(ask(s, ann, bob, expires=NOON + DAY + n * HOUR), "created")
    equal(caps(s, ann, "too_many_requests_open"),
          [("requests", 200, 9, 191, NOON + DAY, None), ("requests", 10, 9, 1, NOON + DAY, bob)])
    equal([ask(s, ann, bob) for _ in range(2)], ["created", "too_many_requests_open"])
    for _ in range(189): equal(ask(s, ann), "created")
    equal(caps(s, ann, "too_many_requests_open")[0], ("requests", 200, 199, 1, NOON + DAY, None))
    equal([ask(s, ann) for _ in range(2)], ["created", "too_many_requests_open"])
    equal([ask(s, ann, now=now) for now in (NOON + DAY - MOMENT, NOON + DAY)], ["too_many_requests_open", "created"])
    equal(ask(s, ann, bob, now=NOON + DAY + HOUR), "created")


@story("wrong passwords of a drop: so many, until a while after the last")
def _(s):
    (_, ann), (_, bob) = s.user(funds=1000), s.user()
    drop, _ = created(s, ann, 10, 1, password="right")
    def wrong(now): s.handler.execute("SELECT try_drop_password(%s, %s, %s)", [drop, bob, now])
    def wait(now): return s.handler.execute("SELECT wait_seconds FROM drop_password(%s, %s, %s)", [drop, bob, now]).fetchone()[0]
    def cap(used, since): return [("passwords", 5, used, 5 - used, since + 15 * MINUTE, str(drop))]
    equal(caps(s, bob, "too_many_wrong_passwords"), [])
    for n in range(4): wrong(NOON + n * MINUTE)
    now = NOON + 4 * MINUTE
    equal((caps(s, bob, "too_many_wrong_passwords", now), wait(now)), (cap(4, NOON + 3 * MINUTE), 0))
    wrong(now)
    equal((caps(s, bob, "too_many_wrong_passwords", now), wait(now), wait(now + 15 * MINUTE - MOMENT)), (cap(5, now), 900, 1))
    later = now + 15 * MINUTE
    equal((caps(s, bob, "too_many_wrong_passwords", later), wait(later), caps(s, ann, "too_many_wrong_passwords", now)), ([], 0, []))
    wrong(later)
    equal(caps(s, bob, "too_many_wrong_passwords", later), cap(1, later))


@story("a stranger has no caps, and of very many payers those are named of whom the least is left")
def _(s):
    equal(s.handler.execute("SELECT * FROM caps_of(%s, %s)", [uuid.uuid4(), NOON]).fetchall(), [])
    (_, ann), close = s.user(), s.user()[0]
    for n in range(101): ask(s, ann, s.user(bank=False)[0], NOON + n * 2 * MINUTE, how="cancelled")
    now = NOON + 4 * HOUR
    for _ in range(2): ask(s, ann, close, now, how="cancelled")
    named = [c for c in caps(s, ann, "asked_too_often", now) if c[5]]
    equal((len(named), named[0][1:]), (100, (20, 2, 18, now + DAY, close)))


if __name__ == "__main__":
    tell_stories("caps")
