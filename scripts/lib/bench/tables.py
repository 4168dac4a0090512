"""Prints what parts g and h have measured as tables in Markdown, medians of the repeats.

usage: tables.py FOLDER    (reads facts.jsonl and measurements.jsonl)
"""
import pathlib
import statistics
import sys

from report import medians, read

# what, prefix of the values
ROWS = [
    ("again, answered from Redis", "redis"),
    ("again, answered from Postgres", "postgres"),
    ("again, from Postgres, its approval expired", "postgres, approval expired"),
    ("for the first time, until it has ended", "first time"),
]
PAIRED = [
    ("a core, of service, Postgres and Redis", "core"),
    ("a core, of the service", "core of the service"),
    ("p50", "p50"),
    ("p99", "p99"),
]


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(head, lines):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for line in lines:
        print("| " + " | ".join(line) + " |")
    print()


def by_repeat(found, part, name):
    return found[part, name][2]


def again(found):
    def value(name):
        return found["g", name][0]

    lines = []
    for what, prefix in ROWS:
        rates, yardsticks = by_repeat(found, "g", f"{prefix} rate"), by_repeat(found, "g", "pgbench")
        # Within a repeat both ran on the same machine in the same minutes.
        ratio = statistics.median(a / b for a, b in zip(rates, yardsticks))
        core = value(f"{prefix} core")
        lines.append([
            what, f"{number(value(f'{prefix} rate'))}/s", f"{number(core)} ms", f"{number(1000 / core)}/s",
            f"{number(value(f'{prefix} p50'))} ms", f"{number(value(f'{prefix} p99'))} ms", f"{ratio:.2f}",
        ])
    for what, name in (("again, at a quarter of that of Postgres", "calm"), ("the same, while Redis fails over", "failover")):
        lines.append([
            what, f"{number(value('failover offered'))}/s", "", "",
            f"{number(value(f'{name} p50'))} ms", f"{number(value(f'{name} p99'))} ms", "",
        ])
    table(["a payment that comes", "answered", "core", "per core", "p50", "p99", "against pgbench"], lines)
    print(
        f"pgbench made {number(value('pgbench'))} simple updates a second. Of the ten seconds around a failover"
        f" {value('lost in failovers'):.0f} requests were lost in all repeats (of as many without one:"
        f" {value('lost without a failover'):.0f}), the slowest took"
        f" {number(max(by_repeat(found, 'g', 'failover max')))} ms, and Redis answered"
        f" {value('failover repeat_redis'):.0f} % of all that was sent.\n"
    )


def pair(found):
    def rounds(name):
        values = by_repeat(found, "h", name)
        # Two turns of each build make a round.
        return [statistics.mean(turns) for turns in zip(values[::2], values[1::2])]

    lines = []
    for what, name in PAIRED:
        ours, theirs = found["h", f"ours {name}"][0], found["h", f"theirs {name}"][0]
        ratios = [a / b for a, b in zip(rounds(f"ours {name}"), rounds(f"theirs {name}"))]
        lines.append([
            what, f"{number(ours)} ms", f"{number(theirs)} ms", f"{ours / theirs:.2f}",
            f"{min(ratios):.2f} to {max(ratios):.2f}",
        ])
    rate = found["h", "rate"][0]
    table([f"a first-time payment, at {number(rate)}/s", "ours", "theirs", "ratio", "in the rounds"], lines)
    turns = len(by_repeat(found, "h", "ours core"))
    dropped = [sum(by_repeat(found, "h", f"{name} dropped")) for name in ("ours", "theirs")]
    print(f"{turns} turns of each; unanswered after five seconds: ours {dropped[0]:.0f}, theirs {dropped[1]:.0f}.\n")


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    found = medians(read(folder / "measurements.jsonl"))
    if ("g", "lost in failovers") in found:
        again(found)
    if ("h", "ours core") in found:
        pair(found)
    facts = {fact["name"]: fact["value"] for fact in read(folder / "facts.jsonl")}
    wanted = ("cores", "commit", "Postgres fsync", "Postgres synchronous_commit", "Redis appendonly")
    print(", ".join(f"{name} {facts[name]}" for name in wanted if name in facts) + ".")


if __name__ == "__main__":
    main()
