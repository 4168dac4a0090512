#!/usr/bin/env python3
"""Compares the ledger in Postgres with a small model of its rules, answer by answer and row by row.

  sequential  one connection per role: random batches, submissions, settlements, money from outside, clocks that jump (also
              backwards) and a read model that changes in between
  concurrent  several connections at once; afterwards the model replays every transaction in commit order and must come to
              the same answers and rows. Needs track_commit_timestamp = on; without it this part says so and is left out

usage: differential_test.py [--seconds N] [--seed N] [--users N] [--connections N] [--only sequential|concurrent]
"""
import argparse, datetime as dt, json, random, sys, threading, time, uuid

sys.dont_write_bytecode = True

import ledger as L
from contracts import Contracts
from model import FIRST, Model

FEES = dict(external=[(0, 10, 0), (1000, 25, 50)], internal=[(0, 0, 0), (4000, 3, 0)])
LIMITS = {0: (500, 4000, 9000, 6000), 1: (5000, 30000, 200000, 400000), 2: (10**9, 10**12, 10**12, 90000),
          3: (10**12, 10**12, 10**12, None)}
FAR = dt.datetime(2999, 1, 1, tzinfo=L.UTC)
# The least that banks take: it falls after a day of traffic, and is out of reach one day.
MINIMUMS = [(dt.datetime(2000, 1, 1, tzinfo=L.UTC), 101), (dt.datetime(2026, 1, 29, 12, tzinfo=L.UTC), 10), (FAR, 10**9)]
# The least that takes a slot; the steps in which room is told, and after how many refusals a day nothing fits.
SLOT_MINIMUM, ROOM = 100, (300, 2)
OUTCOMES = ["completed"] * 8 + ["failed"] * 4 + ["reversed"] * 2 + ["unknown"] * 2 + ["open"]
GENTLE = [o for o in OUTCOMES if o != "reversed"]


class World:
    """Random people and requests over few values, so that keys, nonces, senders and recipients collide often."""

    def __init__(self, rng, users):
        self.rng, self.now = rng, dt.datetime(2026, 1, 28, 20, tzinfo=L.UTC)
        self.users = [self.user(i) for i in range(users)]
        for u in self.users[:3]:                                # the popular ones
            u.update(status="active", credits_blocked=False, account=u["username"] + "-account", preference="external",
                     kyc="approved", active_until=None, tier=3, bank=u["bank"] or self.bank())
            u["bank"].update(verified=True, deleted=False)
        for u in self.users: remember_bank(u)

    def id(self): return uuid.UUID(int=self.rng.getrandbits(128))

    def v7(self): return L.v7(self.now, self.rng.getrandbits(74))

    def bank(self):
        return dict(id=self.id(), counterparty="cp-" + str(self.id()), verified=self.rng.random() > .05, deleted=False)

    def user(self, i):
        r = self.rng
        return dict(banks={}, id=self.id(), username=f"user{i}", status=r.choices(["active", "frozen"], [15, 1])[0],
                    sending_allowed=r.random() > .05, debits_blocked=r.random() < .03, credits_blocked=r.random() < .05,
                    preference=r.choices(["external", "wallet"], [12, 1])[0], kyc=r.choices(["approved", "pending"], [15, 1])[0],
                    tier=r.choice([0, 1, 1, 2, 2, 3]), account=f"user{i}-account" if r.random() > .04 else None,
                    active_until=r.choice([None, None, self.now + dt.timedelta(days=r.randrange(400))]),
                    bank=self.bank() if r.random() > .2 else None,
                    limits={k: r.choice([None, 400, 20000]) for k in ("transfer", "day", "month")} if r.random() < .15 else {},
                    devices={self.id(): dict(activated=self.now - dt.timedelta(hours=r.choice([-400, -30, -3, 10, 500])),
                                             revoked=r.random() < .15) for _ in range(r.choice([0, 1, 2]))},
                    funds=r.choice([0, 300, 5000, 50000, 200000]))

    def tick(self):
        r = self.rng
        self.now += dt.timedelta(seconds=int(r.choices([1, 3600, 7 * 3600, 40 * 3600], [60, 20, 10, 3])[0] * r.random()))
        return self.now - dt.timedelta(seconds=int(3600 * r.choice([0, 0, 0, 0, 1, 5]) * r.random()))

    def request(self, recent):
        r = self.rng
        q = dict(id=self.v7(), created=self.v7(), rerouted=self.v7(), slot=self.v7(), correlation=self.id(), traceparent=None, type="p2p", target=None, details=None,
                 description=r.choice([None, 's1."x" \\']), route=L.P2P)
        if recent and r.random() < .12:                         # a retry, sometimes with a changed body or another key
            old = r.choice(recent[-40:])
            q |= {k: old[k] for k in ("sender", "recipient", "amount", "key", "hash", "nonce", "device")}
            if r.random() < .3: q |= dict(hash=r.randbytes(32))
            if r.random() < .4: q |= dict(nonce=self.id())      # approved anew
            if r.random() < .2: q |= dict(key="again" + str(r.randrange(10**6)))
            return q
        sender = r.choice(self.users)
        q["sender"] = self.id() if r.random() < .01 else sender["id"]
        q["recipient"] = "nobody" if r.random() < .02 else r.choice(self.users[:3] if r.random() < .3 else self.users)["username"]
        q["amount"] = r.choice([0, -5, 2**63 - 1]) if r.random() < .02 else r.choice([1, 10, 100, 100, 400, 501, 1000, 4000, 9000])
        q["device"] = r.choice([None, *sender["devices"]]) if r.random() > .01 else self.id()
        q["key"] = "k" + str(r.randrange(10**6 if r.random() < .95 else 30))
        q["hash"] = f"{q['recipient']}/{q['amount']}".encode()
        q["nonce"] = uuid.UUID(int=r.randrange(40)) if r.random() < .04 else self.id()
        return q


def remember_bank(u):
    if u["bank"]: u["banks"][u["bank"]["id"]] = u["bank"]


COLUMNS = dict(preference="receive_preference", kyc="kyc_status", account="provider_account")


def write_user(c, u):
    names = ("username", "status", "sending_allowed", "debits_blocked", "credits_blocked", "preference", "kyc", "tier", "account",
             "active_until")
    c.execute("UPDATE users SET " + ", ".join(f"{COLUMNS.get(n, n)} = %s" for n in names) + " WHERE id = %s",
              [*(u[n] for n in names), u["id"]])
    c.execute("UPDATE beneficiaries SET is_default = false WHERE user_id = %s", [u["id"]])
    if u["bank"]:
        b = u["bank"]
        c.execute("INSERT INTO beneficiaries (id, user_id, counterparty_id, verified, is_default, deleted_at)"
                  " VALUES (%s, %s, %s, %s, true, %s) ON CONFLICT (id) DO UPDATE SET verified = excluded.verified,"
                  " is_default = true, deleted_at = excluded.deleted_at",
                  [b["id"], u["id"], b["counterparty"], b["verified"], FIRST if b["deleted"] else None])
    for id, d in u["devices"].items():
        c.execute("INSERT INTO devices (id, user_id, public_key, activated_at, revoked_at) VALUES (%s, %s, '', %s, %s)"
                  " ON CONFLICT (id) DO UPDATE SET revoked_at = excluded.revoked_at",
                  [id, u["id"], d["activated"], FIRST if d["revoked"] else None])
    if u["limits"]:
        c.execute("INSERT INTO user_limits (user_id, per_transfer, per_day, per_month) VALUES (%s, %s, %s, %s)"
                  " ON CONFLICT (user_id) DO NOTHING", [u["id"], *(u["limits"][k] for k in ("transfer", "day", "month"))])


def load(world):
    database = L.create("differential")
    with L.connect(database, "owner") as c:
        c.execute("UPDATE device_caps SET cap = 20000")
        c.execute("DELETE FROM fee_schedule")
        for route, bands in FEES.items():
            for start, fee, duty in bands:
                c.execute("INSERT INTO fee_schedule VALUES ('p2p', %s, '-infinity', %s, %s, %s),"
                          " ('p2p', %s, '2999-01-01', %s, 7, 7)", [route, start, fee, duty, route, start])
        c.execute("DELETE FROM bank_minimums")
        for version in MINIMUMS: c.execute("INSERT INTO bank_minimums VALUES (%s, %s)", version)
        c.execute("DELETE FROM slot_minimums")
        c.execute("INSERT INTO slot_minimums VALUES ('-infinity', %s), (%s, 10000000)", [SLOT_MINIMUM, FAR])
        c.execute("DELETE FROM room_steps")
        c.execute("INSERT INTO room_steps VALUES ('-infinity', %s, %s), (%s, 1, 1)", [*ROOM, FAR])
        c.execute("INSERT INTO tier_limits SELECT tier, '2999-01-01', 1, 1, 1, 1 FROM tier_limits")
    with L.connect(database, "worker") as c:
        L.beat(c, FAR)
        c.execute("SELECT ensure_users(%s)", [[u["id"] for u in world.users]])
        for u in world.users:
            write_user(c, u | dict(status="active", credits_blocked=False, tier=3, account=u["account"] or "later-" + u["username"]))
            if u["funds"]: L.fund(c, u["account"] or "later-" + u["username"], u["funds"])
            write_user(c, u)
        m = Model(world.users, LIMITS, FEES, MINIMUMS, SLOT_MINIMUM, ROOM)
        wallets = dict(c.execute("SELECT id, wallet_id FROM users").fetchall())
        for u in world.users: u["wallet"] = wallets[u["id"]]
        m.balances = {a: list(rest) for a, *rest in c.execute("SELECT account_id, posted, held, sequence, debits_blocked, owed FROM balances")}
        m.entries = c.execute("SELECT account_id, sequence, amount, balance_after, leg, transfer_id FROM entries").fetchall()
        m.outbox = [(t, s, n, i, {k: v for k, v in json.loads(d).items() if k != "timestamp"}) for t, s, n, i, d in
                    c.execute("SELECT type, subject, sequence, id, data FROM outbox")]
        m.payments = dict(c.execute("SELECT provider_payment_id, transfer_id FROM inbound_payments").fetchall())
    return database, m


def check_answers(batch, got, want, seed):
    assert len(got) == len(want)
    for q, g, w in zip(batch, got, want):
        assert g == w, f"seed {seed}: {q}\n database {g}\n model    {w}"


def check_receipts(c, batch, got, m):
    """As handler: what was answered before is found under its key, as it was then."""
    for q, g in zip(batch, got):
        if g.outcome == "idempotent_replay" and g.code == "accepted":
            found, t = L.stored(c, q["sender"], q["route"], q["key"]), m.transfers[g.id]
            names = ("code", "transfer_id", "amount", "recipient_username", "placed_at", "route", "fee", "duty")
            assert [found[n] for n in names] == ["accepted", g.id, t["amount"], q["recipient"], t["created"], *t["first"]], found


def compare_rows(c, m):
    """As owner: every row of every table that the model knows."""
    def rows(sql): return c.execute(sql).fetchall()
    def same(name, got, want):
        if got != want:
            if isinstance(got, dict):
                got, want = ({k: v for k, v in a.items() if b.get(k) != v} for a, b in ((got, want), (want, got)))
            else:
                got, want = [x for x in got if x not in want], [x for x in want if x not in got]
            raise AssertionError(f"{name}\n database {str(got)[:1500]}\n model    {str(want)[:1500]}")
    same("balances", {a: x for a, *x in rows("SELECT account_id, posted, held, sequence, debits_blocked, owed FROM balances")}, m.balances)
    same("spending", {u: x for u, *x in rows("SELECT user_id, day, day_total, month, month_total FROM spending_counters")}, m.spending)
    same("receiving", {u: x for u, *x in rows(
        "SELECT user_id, month, slots_used, event_sequence, incoming FROM receiving_counters")}, m.receiving)
    same("first day", dict(rows("SELECT id, first_day_total FROM devices")), m.first_day)
    same("full wallets", {(s, r): x for s, r, *x in rows("SELECT sender_id, recipient_id, day, refusals FROM room_refusals")}, m.full)
    same("refusals", {(u, r, k): (bytes(h), code, nonce) for u, r, k, h, code, nonce in rows(
        "SELECT user_id, route, key, request_hash, code, nonce FROM refused_orders")},
        {k: v[:3] for k, v in m.keys.items() if v[1] != "accepted"})
    same("nonces", set(rows("SELECT user_id, nonce FROM approval_nonces")), m.nonces)
    same("entries", sorted(rows("SELECT account_id, sequence, amount, balance_after, leg, transfer_id FROM entries")), sorted(m.entries))
    same("breaks", set(rows("SELECT transfer_id, kind FROM breaks")), m.breaks)
    names = ("state", "sender", "recipient", "debit", "credit", "amount", "fee", "duty", "route", "reason", "bank", "destination",
             "slot", "counted", "day", "month", "device", "capped", "created", "failure", "sequence", "hold", "history")
    same("transfers", {r[0]: dict(zip(names, r[1:])) for r in rows(
        "SELECT t.id, t.state, sender_id, recipient_id, debit_account, credit_account, t.amount, fee, duty, route, route_reason,"
        " beneficiary_id, destination, slot_month, incoming_counted, spent_day, spent_month, device_id, capped_device_id, created_at,"
        " failure_reason, t.sequence, h.state, (SELECT array_agg(e.state ORDER BY step) FROM transfer_steps e"
        " WHERE e.transfer_id = t.id) FROM transfers t JOIN holds h ON h.transfer_id = t.id")},
        {i: {n: t[n] for n in names} for i, t in m.transfers.items()})
    told = {(t, s, n): (i, json.loads(d)) for t, s, n, i, d in rows("SELECT type, subject, sequence, id, data FROM outbox")}
    assert len(told) == len(m.outbox), (len(told), len(m.outbox))
    for type, subject, sequence, event, data in m.outbox:
        id, got = told[type, subject, sequence]
        got.pop("timestamp", None)
        assert event in (None, id) and got == data, f"{type}\n database {got}\n model    {data}"


def check_books(c):
    """As owner: the books are whole, and every event is as its contract says."""
    broken = L.broken_invariants(c) + Contracts().broken(c)
    assert not broken, broken[:5]


def change_read_model(c, world, m):
    """What events of other services would do between batches."""
    r, u = world.rng, world.rng.choice(world.users)
    fresh = world.user(int(u["username"][4:]))
    for k in r.sample(["status", "sending_allowed", "debits_blocked", "credits_blocked", "preference", "kyc", "tier",
                       "active_until"], 2):
        u[k] = fresh[k]
    if u["bank"] and r.random() < .3: u["bank"]["deleted"] = True
    elif r.random() < .3: u["bank"] = world.bank()              # the old one is no longer the default, but it is not gone
    remember_bank(u)
    for d in u["devices"].values():
        if r.random() < .1: d["revoked"] = not d["revoked"]
    if not u["account"] and r.random() < .3: u["account"] = u["username"] + "-account"
    write_user(c, u)
    m.accounts = {x["account"]: x for x in world.users if x["account"]}


def pick(rng, world, m, states, most):
    ids = [i for i, t in m.transfers.items() if t["state"] in states]
    ids = rng.sample(ids, min(len(ids), rng.randrange(most)))
    return ids + rng.choices(list(m.transfers), k=2) + rng.sample(ids, min(len(ids), 3)) + [world.id()]


def money_from_outside(c, world, m, now):
    u, r = world.rng.choice(world.users), world.rng
    payment = r.choice(list(m.payments)) if r.random() < .2 else str(world.id())
    account, amount, id = u["account"] or "nowhere", r.choice([1000, 20000, 150000]), world.v7()
    got = c.execute("SELECT transfer_id, user_id, result FROM credit_inbound(%s, %s, %s, ARRAY[NULL::text], %s::uuid[],"
                    " ARRAY['seen'], ARRAY[NULL::uuid], %s)", [[payment], [account], [amount], [id], now]).fetchone()
    want = m.inbound(payment, account, amount, id)
    assert got == want, (got, want)


def sequential(seconds, users, seed):
    rng = random.Random(seed)
    world = World(rng, users)
    database, m = load(world)
    recent, requests, counts, end = [], 0, {}, time.monotonic() + seconds
    with L.connect(database, "handler", True) as handler, L.connect(database, "worker", True) as worker, \
            L.connect(database, "owner", True) as owner:
        while time.monotonic() < end:
            now = world.tick()
            if rng.random() < .4 and m.transfers:
                ids = pick(rng, world, m, ["accepted"], 60)
                got, want = L.submit(worker, ids, now), m.submit(ids, now)
                assert got == want, f"seed {seed}: submission\n{[x for x in zip(ids, got, want) if x[1] != x[2]][:3]}"
            if rng.random() < .4 and m.transfers:
                ids = pick(rng, world, m, ["submitted", "unknown"], 80)
                if rng.random() < .2: ids += pick(rng, world, m, ["completed"], 4)
                items = [(i, rng.choice(OUTCOMES), world.v7()) for i in ids]
                got, want = L.settle(worker, items, now), m.settle(items)
                assert got == want, f"seed {seed}: settlement\n{[x for x in zip(items, got, want) if x[1] != x[2]][:3]}"
            if rng.random() < .15: change_read_model(worker, world, m)
            if rng.random() < .5: money_from_outside(worker, world, m, now)
            batch = []
            for _ in range(rng.choice([0, 1, 2, 5, 16, 64])):
                batch.append(world.request(recent))
                recent.append(batch[-1])
            got, want = L.place(handler, batch, now), m.place(batch, now)
            check_answers(batch, got, want, seed)
            check_receipts(handler, batch, got, m)
            for w in want: counts[w[0]] = counts.get(w[0], 0) + 1
            requests += len(batch)
            if rng.random() < .01: compare_rows(owner, m)
        compare_rows(owner, m)
        check_books(owner)
    reasons = {}
    for t in m.transfers.values(): reasons[t["reason"]] = reasons.get(t["reason"], 0) + 1
    print(f"sequential: {requests} requests, {len(m.entries)} entries, {len(m.outbox)} events: all answers and rows equal;"
          f" {dict(sorted(counts.items()))} {reasons}", flush=True)


def concurrent(seconds, users, connections, seed):
    """Rounds of one month each. A recipient without a ceiling whose slots are gone is read without a lock, so beside the
    first batch of a month, or beside a transfer that gives its slot back, "gone" may still be seen: right in some order, but
    not in commit order. So months change between rounds, and transfers with a slot only complete; a reversal could block a
    sender whose transfers hold slots, so there are none here."""
    rng = random.Random(seed)
    world = World(rng, users)
    for u in world.users: u.update(funds=u["funds"] * 20, account=u["username"] + "-account")
    database, m = load(world)
    log, guard, errors, shared, opened = [], threading.Lock(), [], [], []
    end = time.monotonic() + seconds

    def work(n, round, until):
        own = World.__new__(World)
        own.users, own.rng = world.users, random.Random((seed * 1000 + round) * 1000 + n)
        r, middle = own.rng, dt.datetime(2026 + round // 12, round % 12 + 1, 15, tzinfo=L.UTC)
        try:
            with L.connect(database, "owner") as c:             # the owner's functions; roles are the scenarios' matter
                while time.monotonic() < until and not errors:
                    now = own.now = middle + dt.timedelta(seconds=r.randrange(-40000, 40000))
                    xid = c.execute("SELECT pg_current_xact_id()::xid").fetchone()[0]
                    if opened and r.random() < .5:
                        picked = r.sample(opened[-150:], min(len(opened[-150:]), r.randrange(1, 60)))
                        if r.random() < .5:
                            ids = [i for i, _ in picked]
                            entry = ("submit", ids, now, L.submit(c, ids, now))
                        else:
                            items = [(i, "completed" if slot else r.choice(GENTLE), own.v7()) for i, slot in picked]
                            entry = ("settle", items, now, L.settle(c, items, now))
                        fresh = []
                    else:
                        batch = [own.request(shared) for _ in range(r.choice([1, 4, 16, 64]))]
                        shared.extend(batch)
                        got = L.place(c, batch, now)
                        entry, fresh = ("accept", batch, now, got), [(g[1], g[2] == "external") for g in got if g[0] == "accepted"]
                    c.commit()
                    opened.extend(fresh)
                    with guard: log.append((xid, entry))
        except Exception as e:                                  # a deadlock or a unique violation fails the test
            errors.append(e)

    rounds = 6
    for round in range(rounds):
        opened.clear()                                          # a month later they would only expire
        until = time.monotonic() + (end - time.monotonic()) / (rounds - round)
        threads = [threading.Thread(target=work, args=(n, round, until)) for n in range(connections)]
        for t in threads: t.start()
        for t in threads: t.join()
    if errors: raise errors[0]
    requests = 0
    with L.connect(database, "owner") as c:
        stamps = dict(c.execute("SELECT x, pg_xact_commit_timestamp(x::text::xid) FROM unnest(%s::text[]) x", [[x for x, _ in log]]).fetchall())
        for xid, (kind, items, now, got) in sorted(log, key=lambda e: (stamps[e[0]], int(e[0]))):
            if kind == "accept":
                check_answers(items, got, m.place(items, now), seed)
                requests += len(items)
            else:
                want = m.submit(items, now) if kind == "submit" else m.settle(items)
                assert got == want, f"seed {seed}: {kind} {[x for x in zip(items, got, want) if x[1] != x[2]][:3]}"
        compare_rows(c, m)
        check_books(c)
        deadlocks = c.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = %s", [database]).fetchone()[0]
    assert deadlocks == 0, f"{deadlocks} deadlocks"
    print(f"concurrent: {connections} connections, {len(log)} transactions, {requests} requests, {len(m.entries)} entries: equal to the"
          f" model in commit order, no deadlock", flush=True)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--seconds", type=float, default=50)
    a.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    a.add_argument("--users", type=int, default=12)
    a.add_argument("--connections", type=int, default=6)
    a.add_argument("--only", choices=["sequential", "concurrent"])
    o = a.parse_args()
    with L.admin() as c:
        ordered = c.execute("SHOW track_commit_timestamp").fetchone()[0] == "on"
    each = o.seconds if o.only else o.seconds / 2
    print(f"seed {o.seed}", flush=True)
    try:
        if o.only != "concurrent": sequential(each, o.users, o.seed)
        if o.only != "sequential":
            if ordered: concurrent(each, o.users * 3, o.connections, o.seed)
            else: print("concurrent: left out, the server runs without track_commit_timestamp")
    except (AssertionError, L.psycopg.Error) as difference:  # what the model takes, the database must not refuse either
        sys.exit(f"DIFFERENT (seed {o.seed}): {type(difference).__name__}: {difference}")


if __name__ == "__main__":
    main()
