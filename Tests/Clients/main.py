"""Pays with clients that two generators make of the description that the gateway serves; see README.md.

usage: main.py <folder of the running suite>
"""

import concurrent.futures
import pathlib
import sys

# The client of the contract tests: addresses, tokens, approvals.
sys.path.append(str(pathlib.Path(__file__).parents[1] / "Contract"))

import requests

from attrs_client import AttrsClient
from people import People
from pydantic_client import PydanticClient
from story import Story
from suite import Suite

# Each pays with people of its own.
CLIENTS = ((AttrsClient, "ada", "bola"), (PydanticClient, "chidi", "dayo"))


def published(suite, folder):
    """The description as everybody gets it."""
    path = folder / "openapi.yaml"
    answer = requests.get(f"{suite.address}/openapi.yaml", timeout=30)
    answer.raise_for_status()
    path.write_bytes(answer.content)
    return path


def pay(suite, document, folder, maker, payer, friend):
    """The checks of one client: (is good, sentence)."""
    checks = []
    try:
        folder.mkdir()
        client = maker(document, folder, suite.address)
        people = People(suite, folder / "people.json")
        people.invent(payer)
        people.invent(friend)
        checks += Story(client, people, payer, friend).checks()
    except Exception as problem:
        checks.append((False, f"it came to an end: {type(problem).__name__}: {problem}"))
    return checks


def main():
    suite = Suite(sys.argv[1])
    folder = pathlib.Path(sys.argv[1]) / "made"
    folder.mkdir()
    document = published(suite, folder)
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor() as pool:
        running = [
            (maker, pool.submit(pay, suite, document, folder / maker.NAME, maker, payer, friend))
            for maker, payer, friend in CLIENTS
        ]
        for maker, future in running:
            print(f"\n{maker.GENERATOR}")
            for is_good, sentence in future.result():
                print(f"{'ok    ' if is_good else 'FAILED'}  {sentence}", flush=True)
                passed += is_good
                failed += not is_good
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
