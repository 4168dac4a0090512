"""Part h: first-time payments accepted by two builds of the transaction service in turn, on the same servers and tables.

usage: pair.py FOLDER    (the executables of the build that ours is compared with)
"""
import os
import pathlib
import sys

from measuring import REPEATS, Backlog, measured, open_load, progress, psql, refused
from repetition.part import changed
from repetition.payments import Cost, pay

SECONDS = int(os.environ["BENCH_SECONDS"])
RATE = float(os.environ["BENCH_PAIR_RATE"])
# So many come first, to a service that was just started and has nothing at hand.
WARM_UP_PAYMENTS = 300
# A drift of the machine is the same for both.
ORDER = ("ours", "theirs", "theirs", "ours")


def run(backlog, name, program, repeat):
    """One turn of one build; what it takes is counted until the payments have ended."""
    with changed("transaction", {"program": program}):
        pay(WARM_UP_PAYMENTS, "kept-of-warm-up")
        backlog.drain()
        psql("transfa_transaction", "CHECKPOINT")
        cost = Cost()
        result = open_load(SECONDS, 0, RATE).result()
        if refused(result) or result["connection_errors"] > result["dropped"]:
            raise SystemExit(f"not every payment of {name} was accepted: {result}")
        backlog.drain()
        seconds = cost.seconds()
    answered = sum(result["statuses"].values())
    measured("h", f"{name} core", 1000 * sum(seconds.values()) / answered, "ms", repeat)
    measured("h", f"{name} core of the service", 1000 * seconds["transaction"] / answered, "ms", repeat)
    measured("h", f"{name} p50", result["p50_ms"], "ms", repeat)
    measured("h", f"{name} p99", result["p99_ms"], "ms", repeat)
    measured("h", f"{name} dropped", result["dropped"], "requests", repeat)
    progress(
        f"round {repeat}: {name}: {1000 * sum(seconds.values()) / answered:.2f} ms of a core each,"
        f" p50 {result['p50_ms']} ms, p99 {result['p99_ms']} ms, {result['dropped']} dropped"
    )


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    programs = {
        "ours": os.path.join(os.environ["BENCH_BINARIES"], "transaction"),
        "theirs": str(pathlib.Path(sys.argv[1]).resolve() / "transaction"),
    }
    backlog = Backlog()
    measured("h", "rate", RATE, "payments/s", 1)
    for repeat in range(1, REPEATS + 1):
        for name in ORDER:
            backlog.drain()
            run(backlog, name, programs[name], repeat)
    backlog.close()


if __name__ == "__main__":
    main()
