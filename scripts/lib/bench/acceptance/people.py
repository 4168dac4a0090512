#!/usr/bin/env python3
"""Makes people who can pay each other: accounts with money and counterparties at the sandbox, session tokens, device keys.

usage: people.py KEYS FOLDER    (KEYS: output of the program keys, one person per line)

Reads SANDBOX_URL and ANCHOR_API_KEY. Writes people.tsv for the load generator and people.csv for people.sql.
"""
import csv
import http.client
import json
import os
import sys
import threading
import time
import urllib.parse
import uuid

# The namespace of user ids, see UserID.
USERS = uuid.UUID("6f1c0e52-9a3b-4d7e-8c15-2b64d0f7a938")
BANK = "000014"
# Enough for a hundred thousand payments of one naira each, and below the ceiling of tier 2.
FUNDS = 10_000_000
TOKEN_SECONDS = 12 * 3600
THREADS = 4


class Sandbox:
    """One keep-alive connection."""

    def __init__(self):
        url = urllib.parse.urlsplit(os.environ["SANDBOX_URL"])
        self.connection = http.client.HTTPConnection(url.hostname, url.port, timeout=30)
        self.headers = {"content-type": "application/json", "x-anchor-key": os.environ["ANCHOR_API_KEY"]}

    def post(self, path, body):
        self.connection.request("POST", path, json.dumps(body), self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"people.py: {path} answered {answer.status}: {text[:300]!r}")
        return json.loads(text)


def uuid7(number):
    """A UUIDv7 of now; the number keeps those of one run apart and in order."""
    value = int(time.time() * 1000) << 80 | 7 << 76 | (number >> 20 & 0xFFF) << 64 | 2 << 62
    return uuid.UUID(int=value | (number & 0xFFFFF) << 42 | uuid.uuid4().int & (1 << 42) - 1)


def make_person(sandbox, number, run, key):
    subject = f"user_bench_{run}_{number}"
    account = sandbox.post("/sandbox/accounts", {"name": f"BENCH {number}"})["id"]
    payment = sandbox.post(f"/sandbox/accounts/{account}/fund", {"amount": FUNDS, "events": "none"})["id"]
    attributes = {"accountName": f"BENCH {number}", "accountNumber": f"{1_000_000_001 + 10 * number}", "bankCode": BANK}
    counterparty = sandbox.post(
        "/api/v1/counterparties", {"data": {"type": "CounterParty", "attributes": attributes}}
    )["data"]["id"]
    token = sandbox.post("/sandbox/clerk/tokens", {"subject": subject, "lifetime_seconds": TOKEN_SECONDS})["jwt"]
    scalar, point = key.split()
    return {
        "number": number, "id": uuid.uuid5(USERS, subject), "device": uuid.uuid4(), "scalar": scalar, "point": point,
        "username": f"bench{number}", "token": token, "account": account, "counterparty": counterparty,
        "payment": payment, "funds": FUNDS, "credit": uuid7(number),
    }


def make_people(keys):
    run = f"{int(time.time())}"
    people = [None] * len(keys)
    failures = []

    def work(first):
        try:
            sandbox = Sandbox()
            for number in range(first, len(keys), THREADS):
                people[number] = make_person(sandbox, number, run, keys[number])
        except BaseException as problem:  # the main thread says so and ends
            failures.append(problem)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return people


def write(people, folder):
    with open(f"{folder}/people.tsv", "w", encoding="ascii") as file:
        for p in people:
            print(p["id"], p["device"], p["scalar"], p["point"], p["username"], p["token"], sep="\t", file=file)
    columns = ["number", "id", "device", "point", "username", "account", "counterparty", "payment", "funds", "credit"]
    with open(f"{folder}/people.csv", "w", encoding="ascii", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(people)


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    with open(sys.argv[1], encoding="ascii") as file:
        keys = file.read().splitlines()
    os.umask(0o077)
    write(make_people(keys), sys.argv[2])


if __name__ == "__main__":
    main()
