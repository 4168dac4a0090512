"""Payments that are made once and kept, and the same requests again, with what each took of the processors."""
import dataclasses
import pathlib
import statistics
import time

from measuring import RUN, Load, Processors, refused

# As many as keep two cores busy; more would only wait.
CONNECTIONS = 32
# What answers a payment: the service and its servers.
COUNTED = ("transaction", "postgres", "redis")
# Nobody sends what was kept for longer than this: a run is over long before.
LONGEST = 3600


class Cost:
    """Seconds of one core that each of the counted processes takes, from construction on."""

    def __init__(self):
        self.before = Processors.now()

    def seconds(self):
        now = Processors.now()
        for name in COUNTED:
            # One that was started again has lost what it took before.
            if now.get(name, 0.0) < self.before.get(name, 0.0) or not now.get(name):
                raise SystemExit(f"{name} ended while its processor time was measured")
        return {name: now[name] - self.before.get(name, 0.0) for name in COUNTED}


@dataclasses.dataclass(frozen=True)
class Figures:
    """What a run of requests has shown."""

    rate: float
    # Milliseconds of one core per request: of the service, Postgres and Redis together.
    core: float
    p50: float
    p99: float

    @staticmethod
    def of(result, cost):
        answered = sum(result["statuses"].values())
        core = 1000 * sum(cost.values()) / answered
        return Figures(answered / result["seconds"], core, result["p50_ms"], result["p99_ms"])

    @staticmethod
    def medians(runs):
        fields = (field.name for field in dataclasses.fields(Figures))
        return Figures(*(statistics.median(getattr(run, field) for run in runs) for field in fields))


@dataclasses.dataclass(frozen=True)
class Kept:
    """The file of payments that were accepted, and when they were signed."""

    file: pathlib.Path
    count: int
    signed: float

    def age(self):
        return time.time() - self.signed


def pay(count, name, connections=CONNECTIONS):
    """Makes payments, each once; returns what can be sent again, and the load's result."""
    file = RUN / "people" / name
    signed = time.time()
    result = Load(
        "--seconds", LONGEST, "--connections", connections, "--prepare", count, "--keep", file
    ).result()
    if result["accepted"] != count or result["replayed"] or result["connection_errors"]:
        raise SystemExit(f"not every payment was accepted once: {result}")
    return Kept(file, count, signed), result


def pay_again(kept, seconds=None):
    """The same requests as fast as they are answered: each once, or around and around for a while."""
    most = kept.count if seconds is None else int(seconds * 50_000)
    load = Load(
        "--seconds", seconds or LONGEST, "--connections", CONNECTIONS, "--prepare", most, "--again", kept.file
    )
    cost = Cost()
    result = load.result()
    figures = Figures.of(result, cost.seconds())
    if seconds is not None and result["exhausted"]:
        raise SystemExit(f"there were too few requests: {result}")
    if lost(result):
        raise SystemExit(f"not every repetition was answered as one: {result}")
    return figures, result


def lost(result):
    """Requests that were not answered, or not as what had come before."""
    return refused(result) + result["dropped"] + result["connection_errors"] + result["accepted"] - result["replayed"]
