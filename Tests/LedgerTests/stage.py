"""How money stories are told: one database for all stories of a file, people of their own for each, the books and what was
published checked after each. A file of stories exits non-zero at the first that ends wrong, naming it.
"""
import datetime as dt, itertools, sys, threading, time

import ledger as L
from contracts import Contracts

STORIES = []
NOON = dt.datetime(2026, 5, 15, 11, tzinfo=L.UTC)
HOUR, DAY = dt.timedelta(hours=1), dt.timedelta(days=1)


def story(sentence):
    def add(f):
        STORIES.append((sentence, f))
        return f
    return add


class Stage:
    """The shared database, with one connection per role."""

    def __init__(self):
        self.database, self.names = L.create("scenarios"), itertools.count()
        self.owner, self.handler, self.worker = (L.connect(self.database, r, True) for r in ("owner", "handler", "worker"))
        L.beat(self.worker, NOON + 400 * DAY)

    def user(self, **more):
        name = f"person{next(self.names)}"
        return name, L.add_user(self.worker, name, **more)

    def pay(self, sender, to, amount, now=NOON, **more):
        return L.place(self.handler, [L.request(sender, to, amount, **more)], now)[0]

    def paid(self, sender, to, amount, now=NOON, **more):
        answer = self.pay(sender, to, amount, now, **more)
        assert answer[0] == "accepted", answer
        return answer[1]

    def sent(self, sender, to, amount, now=NOON, **more):
        id = self.paid(sender, to, amount, now, **more)
        assert L.submit(self.worker, [id], now) == ["send"]
        return id

    def settle(self, id, *outcomes, now=NOON):
        return [L.settle(self.worker, [(id, o)], now)[0] for o in outcomes]

    def stands(self, id, answer="completed", now=NOON):
        """The provider was asked about a payment, and this is what it said."""
        self.worker.execute(
            "INSERT INTO provider_answers (transfer_id, answer, first_seen_at, last_seen_at) VALUES (%s, %s, %s, %s)"
            " ON CONFLICT (transfer_id, answer) DO UPDATE SET last_seen_at = excluded.last_seen_at", [id, answer, now, now])

    def one(self, sql, *values):
        return self.worker.execute(sql, values).fetchone()

    def state(self, id): return self.one("SELECT state FROM transfers WHERE id = %s", id)[0]

    def wallet(self, user): return L.wallet(self.worker, user)

    def slots(self, user): return self.one("SELECT slots_used FROM receiving_counters WHERE user_id = %s", user)[0]

    def spent(self, user): return self.one("SELECT day_total, month_total FROM spending_counters WHERE user_id = %s", user)

    def change(self, user, **columns):
        self.worker.execute(f"UPDATE users SET {', '.join(f'{k} = %s' for k in columns)} WHERE id = %s", [*columns.values(), user])


def together(database, jobs, role="handler", connections=8):
    """Runs jobs (functions of a connection) on several connections at once. Returns their results in order."""
    results, waiting, guard, errors = [None] * len(jobs), list(enumerate(jobs)), threading.Lock(), []

    def work():
        try:
            with L.connect(database, role, True) as c:
                start.wait()
                while True:
                    with guard:
                        if not waiting or errors: return
                        at, job = waiting.pop(0)
                    results[at] = job(c)
        except Exception as e:
            errors.append(e)

    start = threading.Barrier(connections)
    threads = [threading.Thread(target=work) for _ in range(connections)]
    for t in threads: t.start()
    for t in threads: t.join()
    if errors: raise errors[0]
    return results


def equal(got, want):
    assert got == want, f"got {got}, wanted {want}"


def tell_stories(title):
    stage, contracts = Stage(), Contracts()

    def check():
        broken = L.broken_invariants(stage.worker)
        assert not broken, f"the books are broken: {broken[:3]}"
        strange = contracts.broken(stage.owner)
        assert not strange, f"events break their contract: {strange[:3]}"
    tell_each(title, stage, check, ", books whole after each")


def tell_each(title, stage, check=lambda: None, promise=""):
    """Tells the stories that the command line names, or all; after each something is checked."""
    started = time.monotonic()
    chosen = [(n, f) for n, f in STORIES if not sys.argv[1:] or any(w in n for w in sys.argv[1:])]
    for name, tell in chosen:
        try:
            tell(stage)
            check()
        except Exception as wrong:
            sys.exit(f"FAILED: {name}: {type(wrong).__name__}: {str(wrong)[:600]}")
        print(f"ok  {name}", flush=True)
    print(f"{title}: {len(chosen)} stories in {time.monotonic() - started:.1f} s{promise}")
