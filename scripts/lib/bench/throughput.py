"""Part b: the highest rate of payments whose backlog does not grow, with everything running."""
import os
import time

from measuring import REPEATS, ArchiveLag, Backlog, Processors, closed_load, measured, open_load, progress, refused

SECONDS = int(os.environ["BENCH_LONG_SECONDS"])
PROBE_SECONDS = 20
PROBES = 5
# A transfer is looked at again after twenty seconds, so load is only steady after that.
WARM_UP = 22
# In parts of the rate: the backlog may grow by so much, which is what sampling makes of a level line.
TOLERANCE = 0.01
PROBE_TOLERANCE = 0.04


def slope(samples):
    """Growth per second of a backlog, by least squares."""
    mean_time = sum(at for at, _ in samples) / len(samples)
    mean = sum(value for _, value in samples) / len(samples)
    spread = sum((at - mean_time) ** 2 for at, _ in samples)
    return sum((at - mean_time) * (value - mean) for at, value in samples) / spread


def attempt(backlog, archive, rate, seconds, tolerance):
    """Whether the suite keeps up with a rate, with the load's result, what was completed per second, and the most by which
    the archive was behind."""
    backlog.drain()
    load = open_load(seconds, WARM_UP, rate)
    begin = time.monotonic()
    samples, lags = [], []
    while (at := time.monotonic() - begin) < WARM_UP + seconds:
        if at >= WARM_UP:
            samples.append((at, backlog.total()))
            lags.append(archive.seconds())
        time.sleep(1)
    result = load.result()
    growth = slope(samples)
    holds = growth <= tolerance * rate and result["dropped"] == 0 and refused(result) == 0
    completed = result["accepted_per_second"] - max(growth, 0)
    progress(
        f"{rate:.0f} payments/s for {seconds} s: backlog {samples[0][1]} to {samples[-1][1]}, {growth:+.1f}/s,"
        f" p99 {result['p99_ms']} ms, archive up to {max(lags):.1f} s behind: {'keeps up' if holds else 'does not keep up'}"
    )
    return holds, completed, result, max(lags)


def search(backlog, archive):
    """By halves between nothing and what is completed while nothing is accepted."""
    backlog.drain()
    flood = closed_load(8, 0, 120_000).result()
    ceiling = backlog.drain()
    progress(f"{flood['accepted']} payments accepted at once, then completed at {ceiling:.0f}/s")
    low, high = 0.0, ceiling
    rate = 0.6 * ceiling
    for _ in range(PROBES):
        holds, *_ = attempt(backlog, archive, rate, PROBE_SECONDS, PROBE_TOLERANCE)
        low, high = (rate, high) if holds else (low, rate)
        rate = (low + high) / 2
    return low if low > 0 else rate


def confirm(backlog, archive, rate):
    """All repeats must keep up; a rate that does not is lowered."""
    for _ in range(8):
        outcomes = []
        for repeat in range(1, REPEATS + 1):
            processors = Processors()
            outcomes.append(attempt(backlog, archive, rate, SECONDS, TOLERANCE))
            if not outcomes[-1][0]:
                break
            processors.report("b", repeat)
        if all(outcome[0] for outcome in outcomes):
            return rate, outcomes
        rate *= 0.93
    raise SystemExit(f"no rate found whose backlog stays level; the last was {rate:.0f} payments/s")


def main():
    backlog, archive = Backlog(), ArchiveLag()
    rate, outcomes = confirm(backlog, archive, search(backlog, archive))
    for repeat, (_, completed, result, lag) in enumerate(outcomes, 1):
        measured("b", "rate", rate, "payments/s", repeat)
        measured("b", "completed", completed, "payments/s", repeat)
        measured("b", "p99", result["p99_ms"], "ms", repeat)
        measured("b", "archive lag", lag, "s", repeat)
        measured("b", "cpu load generator", result["generator_cpu_percent"], "% of a core", repeat)
    backlog.drain()
    backlog.close()
    archive.close()


if __name__ == "__main__":
    main()
