"""Part a: accepted payments per second over HTTP, against pgbench calling the same database function.

Part c: how long acceptance takes at half of what the suite completes.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

from measuring import REPEATS, RUN, Backlog, Processors, closed_load, measured, open_load, progress, psql, refused, settings

SECONDS = int(os.environ["BENCH_SECONDS"])
WARM_UP = 3
REFERENCE = "transfa_reference"


def pgbench(people, seconds):
    """Accepted payments per second: every call counts as one, and all must have been accepted."""
    url = settings("databases/transaction.env")["DATABASE_URL"].replace("/transfa_transaction", f"/{REFERENCE}")
    script = pathlib.Path(__file__).parent / "acceptance/pgbench.sql"
    before = int(psql(REFERENCE, "SELECT count(*) FROM transfers"))
    psql(REFERENCE, "CHECKPOINT")
    variables = {"people": people, "n": 0, "start": int(time.time() * 1000)}
    command = ["pgbench", "-n", "-M", "prepared", "-c16", "-j2", "-T", str(seconds), "-f", str(script)]
    for name, value in variables.items():
        command += ["-D", f"{name}={value}"]
    output = subprocess.run([*command, url], check=True, capture_output=True, text=True).stdout
    calls = int(re.search(r"actually processed: (\d+)", output)[1])
    accepted = int(psql(REFERENCE, "SELECT count(*) FROM transfers")) - before
    if accepted != calls:
        raise SystemExit(f"pgbench made {calls} calls and {accepted} were accepted")
    return float(re.search(r"tps = ([\d.]+)", output)[1])


def over_http(repeat, backlog):
    rate = closed_load(2, 0, 40_000).result()["accepted_per_second"]
    backlog.drain()
    psql("transfa_transaction", "CHECKPOINT")
    load = closed_load(SECONDS, WARM_UP, int(1.6 * rate * (SECONDS + WARM_UP)) + 20_000)
    processors = Processors()
    result = load.result()
    processors.report("a", repeat)
    measured("a", "cpu load generator", result["generator_cpu_percent"], "% of a core", repeat)
    measured("a", "p99 closed loop", result["p99_ms"], "ms", repeat)
    if result["exhausted"] or refused(result) or result["connection_errors"]:
        raise SystemExit(f"not every payment was accepted, or there were too few: {result}")
    return result["accepted_per_second"]


def throughput(people):
    backlog = Backlog()
    for repeat in range(1, REPEATS + 1):
        pgbench(people, WARM_UP)
        reference = pgbench(people, SECONDS)
        measured("a", "pgbench", reference, "payments/s", repeat)
        progress(f"repeat {repeat}: pgbench accepted {reference:.0f} payments/s")
        value = over_http(repeat, backlog)
        measured("a", "http", value, "payments/s", repeat)
        progress(f"repeat {repeat}: {value:.0f} payments/s accepted over HTTP, {value / reference:.2f} of pgbench")
        backlog.drain()
    backlog.close()


def latency(rate):
    backlog = Backlog()
    for repeat in range(1, REPEATS + 1):
        backlog.drain()
        result = open_load(SECONDS, WARM_UP, rate).result()
        measured("c", "rate", rate, "payments/s", repeat)
        for name in ("p50_ms", "p99_ms", "p999_ms", "max_ms", "generator_late_ms"):
            measured("c", name.removesuffix("_ms"), result[name], "ms", repeat)
        measured("c", "dropped", result["dropped"], "requests", repeat)
        measured("c", "refused", refused(result), "requests", repeat)
        measured("c", "cpu load generator", result["generator_cpu_percent"], "% of a core", repeat)
        progress(
            f"repeat {repeat}: p50 {result['p50_ms']} ms, p99 {result['p99_ms']} ms, {result['dropped']} dropped"
            f" at {rate:.0f} payments/s"
        )
    backlog.close()


if __name__ == "__main__":
    if sys.argv[1] == "a":
        throughput(int(sys.argv[2]))
    else:
        latency(float(sys.argv[2]))
