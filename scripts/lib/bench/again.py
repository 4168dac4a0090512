"""Part g: what a repetition of a payment costs: answered from Redis, from Postgres, and while Redis fails over.

Next to pgbench's simple update, and to the same payments when they came for the first time.
"""
import os
import re
import subprocess
import time

from measuring import REPEATS, Backlog, Load, admin_url, measured, progress, psql, settings
from repetition.part import answers_of, changed, settings_of
from repetition.payments import COUNTED, Cost, Figures, lost, pay, pay_again
from repetition.redis_pair import RedisPair
from repetition.relay import Relay

SECONDS = int(os.environ["BENCH_SECONDS"])
PAYMENTS = int(os.environ["BENCH_AGAIN_PAYMENTS"])
YARDSTICK = "transfa_yardstick"
# How long an approval is good (ApprovalVerifier.tolerance), and when a round must have begun to end before that.
APPROVAL_SECONDS = 120
FRESH_SECONDS = 90
# Of a failover: what is sent before anything is measured, what is measured, and when in it Redis goes and comes back.
WARM_UP = 3
WINDOW = 10
GONE_AFTER = 4
BACK_AFTER = 6


def yardstick():
    """Transactions per second of pgbench's simple update."""
    command = ["pgbench", "-n", "-N", "-M", "prepared", "-c16", "-j2", "-T", str(max(SECONDS // 2, 2)), admin_url(YARDSTICK)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(re.search(r"tps = ([\d.]+)", output)[1])


def make_yardstick():
    psql("postgres", f"DROP DATABASE IF EXISTS {YARDSTICK}")
    psql("postgres", f"CREATE DATABASE {YARDSTICK}")
    subprocess.run(["pgbench", "-i", "-q", "-s", "10", admin_url(YARDSTICK)], check=True, capture_output=True)


def transfers():
    return int(psql("transfa_transaction", "SELECT count(*) FROM transfers"))


def note(name, figures, repeat):
    measured("g", f"{name} rate", figures.rate, "requests/s", repeat)
    measured("g", f"{name} core", figures.core, "ms", repeat)
    measured("g", f"{name} p50", figures.p50, "ms", repeat)
    measured("g", f"{name} p99", figures.p99, "ms", repeat)
    progress(
        f"repeat {repeat}: {name}: {figures.rate:.0f}/s, {figures.core:.2f} ms of a core each, p50 {figures.p50} ms,"
        f" p99 {figures.p99} ms"
    )


class Knowing:
    """Who has answered, from construction on: in parts of all, by outcome."""

    def __init__(self):
        self.before = answers_of("transaction")

    def shares(self):
        now = answers_of("transaction")
        counted = {outcome: number - self.before.get(outcome, 0) for outcome, number in now.items()}
        # Counted besides: the request has another outcome, too.
        unknown = counted.pop("redis_unknown", 0)
        total = max(sum(counted.values()), 1)
        return {outcome: number / total for outcome, number in counted.items()} | {"redis_unknown": unknown / total}

    def insist(self, outcome):
        shares = self.shares()
        if shares.get(outcome, 0) < 0.99:
            raise SystemExit(f"these should have been {outcome}, and were {shares}")


def first_time(backlog, repeat):
    """The payments that come again later. What one takes is counted until it has ended: so is its own work then."""
    backlog.drain()
    cost = Cost()
    kept, result = pay(PAYMENTS, "kept")
    backlog.drain()
    note("first time", Figures.of(result, cost.seconds()), repeat)
    return kept


def from_postgres(kept, name, repeat, until):
    """Redis is emptied before each round, in which every request comes once: it is asked, does not know, and learns."""
    rounds = []
    begin = time.monotonic()
    knowing = Knowing()
    while not rounds or time.monotonic() - begin < SECONDS and kept.age() < until:
        subprocess.run(["redis-cli", "-u", settings("servers/servers.env")["TRANSFA_TEST_REDIS_URL"], "FLUSHALL"],
                       check=True, capture_output=True)
        rounds.append(pay_again(kept)[0])
    if until < kept.age() - (APPROVAL_SECONDS - FRESH_SECONDS):
        raise SystemExit(f"the approvals expired during a round, after {kept.age():.0f} s: take fewer payments")
    knowing.insist("repeat_postgres")
    figures = Figures.medians(rounds)
    note(name, figures, repeat)
    measured("g", f"{name} rounds", len(rounds), f"of {kept.count}", repeat)
    return figures


def from_redis(kept, repeat):
    pay_again(kept)
    knowing = Knowing()
    figures, _ = pay_again(kept, SECONDS)
    knowing.insist("repeat_redis")
    note("redis", figures, repeat)


def in_failover(backlog, repeat, rate):
    """The service reaches Redis through a relay, which is left alone first; then Redis fails over.

    Returns how many requests were lost both times.
    """
    with RedisPair() as pair, Relay(pair.ports[0]) as relay:
        redirected = settings_of("transaction") | {"REDIS_URL": f"redis://127.0.0.1:{relay.port}/0"}
        with changed("transaction", {"settings": redirected}):
            kept, _ = pay(PAYMENTS, "kept-in-failover")
            backlog.drain()
            pair.await_copy()
            measured("g", "failover offered", rate, "requests/s", repeat)
            calm = at_rate(kept, rate, "calm", repeat, lambda begin: None)
            return calm, at_rate(kept, rate, "failover", repeat, lambda begin: fail_over(pair, relay, begin))


def fail_over(pair, relay, begin):
    """In the middle of what is measured: the first server is killed, and a while later the second promoted."""
    time.sleep(max(0.0, begin + WARM_UP + GONE_AFTER - time.monotonic()))
    relay.lead_to(None)
    pair.kill_first()
    time.sleep(max(0.0, begin + WARM_UP + BACK_AFTER - time.monotonic()))
    pair.promote_second()
    relay.lead_to(pair.ports[1])


def at_rate(kept, rate, name, repeat, meanwhile):
    """Returns how many requests were lost."""
    knowing = Knowing()
    load = Load("--seconds", WINDOW, "--warm-up", WARM_UP, "--connections", 512, "--rate", rate, "--again", kept.file)
    meanwhile(time.monotonic())
    result = load.result()
    shares = knowing.shares()
    for percentile in ("p50", "p99", "max"):
        measured("g", f"{name} {percentile}", result[f"{percentile}_ms"], "ms", repeat)
    for outcome in ("repeat_redis", "repeat_postgres", "redis_unknown"):
        measured("g", f"{name} {outcome}", 100 * shares.get(outcome, 0), "%", repeat)
    progress(
        f"repeat {repeat}: {name} at {rate:.0f}/s: p50 {result['p50_ms']} ms, p99 {result['p99_ms']} ms,"
        f" at most {result['max_ms']} ms, {lost(result)} lost, {100 * shares.get('repeat_redis', 0):.0f} % from Redis"
    )
    return lost(result)


def measure(backlog, repeat):
    """Returns how many requests were lost at a rate that is no load, without a failover and with it."""
    tps = yardstick()
    measured("g", "pgbench", tps, "transactions/s", repeat)
    progress(f"repeat {repeat}: pgbench made {tps:.0f} simple updates/s")
    kept = first_time(backlog, repeat)
    if kept.age() > FRESH_SECONDS:
        raise SystemExit(f"the payments have ended after {kept.age():.0f} s, when their approvals expire: take fewer")
    fresh = from_postgres(kept, "postgres", repeat, FRESH_SECONDS)
    from_redis(kept, repeat)
    missing = in_failover(backlog, repeat, fresh.rate / 4)
    time.sleep(max(0.0, APPROVAL_SECONDS + 1 - kept.age()))
    # The service was started again and knows nothing yet.
    pay_again(kept)
    from_postgres(kept, "postgres, approval expired", repeat, float("inf"))
    return missing


def main():
    make_yardstick()
    backlog = Backlog()
    progress(f"{PAYMENTS} payments, and what they take of {', '.join(COUNTED)}")
    before = transfers()
    missing = [measure(backlog, repeat) for repeat in range(1, REPEATS + 1)]
    made, expected = transfers() - before, 2 * PAYMENTS * REPEATS
    if made != expected:
        raise SystemExit(f"{expected} payments were made, and the ledger has {made} more: a repetition took effect")
    # Of all repeats: in a median it would not be seen.
    measured("g", "lost without a failover", sum(calm for calm, _ in missing), "requests", 1)
    measured("g", "lost in failovers", sum(failed for _, failed in missing), "requests", 1)
    backlog.close()


if __name__ == "__main__":
    main()
