"""Asks more than once for everything that has a key, and counts what became of it: see README.md.

usage: main.py <folder of the prepared suite> storm|faults|redelivered [options]
"""

import argparse
import asyncio
import pathlib
import sys
import time

# The client of the contract tests: what transfactl tells of a suite, keys and approvals.
sys.path.append(str(pathlib.Path(__file__).parents[1] / "Contract"))

import faults
import redelivered
import storm
import ways
from results import Results
from world import World


def options():
    parser = argparse.ArgumentParser(prog="Tests/Idempotency/run")
    parser.add_argument("run", help=argparse.SUPPRESS)
    kinds = parser.add_subparsers(dest="kind", required=True)
    for name, help_ in (("storm", "all operations with a key, at two processes of each service"),
                        ("faults", "while Redis goes, forgets, fails over, or a service stands still"),
                        ("redelivered", "events that come again")):
        kind = kinds.add_parser(name, help=help_)
        kind.add_argument("--seed", type=int, default=1)
        kind.add_argument("--workers", type=int, default=24)
        if name == "storm":
            kind.add_argument("--requests", type=int, default=3000)
            kind.add_argument("--only", type=lambda text: text.split(","), help="these operations alone, with commas between")
        elif name == "faults":
            kind.add_argument("--races", type=int, default=200)
            kind.add_argument("--injections", type=int, default=4)
            kind.add_argument("names", nargs="*", choices=[[], *faults.KINDS], metavar="NAME", help=", ".join(faults.KINDS))
        else:
            kind.add_argument("--events", type=int, default=3000)
    return parser.parse_args()


async def act(world, chosen, results):
    kinds = {"storm": storm.run, "faults": faults.run, "redelivered": redelivered.run}
    await kinds[chosen.kind](world, chosen, results)
    world.client.close()


def main():
    chosen, began, results = options(), time.monotonic(), Results()
    # What leads services to another Redis, or cuts them off, stands between them.
    way = ways.chosen("plain" if chosen.kind == "storm" else "relay")
    world = World(chosen.run, way)
    try:
        world.start()
        print(f"{chosen.kind}, seed {chosen.seed}, Redis by the way {way}; started in {time.monotonic() - began:.0f} s", flush=True)
        asyncio.run(act(world, chosen, results))
    finally:
        world.stop()
    print(f"{time.monotonic() - began:.0f} s")
    return results.end()


if __name__ == "__main__":
    sys.exit(main())
