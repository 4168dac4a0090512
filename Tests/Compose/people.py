#!/usr/bin/env python3
"""people.py <settings> <file> <how many>: people who can pay each other, made through the gateway."""

import concurrent.futures
import json
import sys

from composed import Composed

FUNDS = 10_000_000


def main():
    environment, file, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    suite = Composed(environment)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        people = list(pool.map(lambda _: suite.join(FUNDS), range(count)))
    for payer, payee in zip(people, people[1:] + people[:1]):
        suite.pay(payer, payee, 100)
    with open(file, "w") as target:
        json.dump(people, target)
    print(f"{count} people with {FUNDS} kobo each")


if __name__ == "__main__":
    main()
