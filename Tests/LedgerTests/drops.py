"""Money drops for the stories: made, claimed, ended, and what they look like in the ledger."""
import datetime as dt, json, time, uuid

import ledger as L
from stage import HOUR, NOON, equal

DROP = "POST /money-drops"
POOL = "pool-account"
MINUTE = dt.timedelta(minutes=1)


def order(creator, each, slots, expires=NOON + HOUR, password=None, **more):
    details = dict(amount_per_claim=each, slots=slots, expires_at=expires.isoformat(), pool_account=POOL, link="https://x/d/1",
                   password_hash=password)
    return L.request(creator, None, each * slots, route=DROP, type="money_drop", target=uuid.uuid4(), details=json.dumps(details),
                     **more)


def created(s, creator, each, slots, now=NOON, **more):
    """A drop whose funding has arrived. (drop, funding transaction)"""
    q = order(creator, each, slots, **more)
    answer = L.place(s.handler, [q], now)[0]
    equal(answer[0], "accepted")
    equal(L.submit(s.worker, [answer[1]], now), ["send"])
    s.settle(answer[1], "completed", now=now)
    return q["target"], answer[1]


def claim(c, user, drop, now=NOON, password=None):
    """As handler. (outcome, transaction)"""
    return c.execute("SELECT outcome, transfer_id FROM claim_money_drop(%s, %s, %s, %s, %s, NULL, NULL, %s)",
                     [L.v7(), user, drop, password, L.v7(), now]).fetchone()


def end(c, user, drop, now=NOON):
    return c.execute("SELECT end_money_drop(%s, %s, NULL, %s)", [drop, user, now]).fetchone()[0]


def sweep(c, now, limit=100):
    return c.execute("SELECT sweep_money_drops(%s, %s)", [limit, now]).fetchone()[0]


def swept(s, drop, now):
    """How many refunds of a drop a sweep makes; it sweeps the drops of other stories too."""
    before = len(refunds(s, drop))
    sweep(s.worker, now)
    return len(refunds(s, drop)) - before


def arrive(s, ids, now=NOON, outcome="completed"):
    equal(L.submit(s.worker, ids, now), ["send"] * len(ids))
    equal(L.settle(s.worker, [(i, outcome) for i in ids], now), [outcome] * len(ids))


def later(c, turn):
    """Some time later; further apart each turn, until on a busy machine too neither side is always first."""
    c.execute("SELECT pg_sleep(random() * .03 * (1 + %s / 5.0))", [turn])


def until_waiting(s):
    """Until somebody waits for a lock."""
    for _ in range(1000):
        if s.owner.execute("SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
                           " WHERE NOT l.granted AND a.datname = current_database()").fetchone(): return
        time.sleep(.01)
    raise AssertionError("nobody waits")


def slots(s, drop):
    return dict(s.worker.execute("SELECT state, count(*) FROM drop_slots WHERE drop_id = %s GROUP BY 1", [drop]).fetchall())


def drop_state(s, drop): return s.one("SELECT state, end_reason FROM money_drops WHERE id = %s", drop)


def pool(s, drop):
    return s.one("SELECT b.posted FROM balances b JOIN money_drops d ON d.pool_id = b.account_id WHERE d.id = %s", drop)[0]


def refunds(s, drop):
    return s.worker.execute("SELECT id, amount, state FROM transfers WHERE parent_id = %s AND type = 'drop_refund' ORDER BY id",
                            [drop]).fetchall()


def told(s, drop):
    return [r[0] for r in s.owner.execute("SELECT type FROM outbox WHERE subject = %s ORDER BY sequence", [str(drop)]).fetchall()]
