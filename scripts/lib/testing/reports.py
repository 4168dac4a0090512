"""Reads what test runs have written: counts, times, coverage. With a report as its argument it prints the counts."""

import bisect
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

BUSINESS_LOGIC = re.compile(r"/Services/(\w+)/(Domain|Application)/")


def cases(path):
    """(suite, test, outcome) of an xunit report; a test that was left out is not in it.

    A run that crashed may have left a part of a report: then nothing is in it.
    """
    try:
        report = xml.etree.ElementTree.parse(path)
    except (FileNotFoundError, xml.etree.ElementTree.ParseError):
        return
    for case in report.iter("testcase"):
        if case.find("skipped") is None:
            bad = case.find("failure") is not None or case.find("error") is not None
            yield case.get("classname"), case.get("name"), "failed" if bad else "passed"


def counts(path):
    outcomes = [outcome for _, _, outcome in cases(path)]
    return outcomes.count("passed"), outcomes.count("failed")


def times(path, width):
    """(seconds, test) of each test in an event stream of Swift Testing.

    All tests of a run begin at once there, and then wait for one of its places. So the wait is estimated: the places are
    given in the order in which the tests began, each when the earliest test that has one ends.
    """
    began, names, ended = {}, {}, {}
    for line in path.read_text(errors="replace").splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            # The end of a run that crashed.
            continue
        payload = record["payload"]
        if record["kind"] == "test" and payload["kind"] == "function":
            names[payload["id"]] = f"{payload['id'].split('/')[0]}: {payload.get('displayName') or payload['name']}"
        elif record["kind"] == "event" and payload.get("testID") in names:
            moments = {"testStarted": began, "testEnded": ended}.get(payload["kind"])
            if moments is not None:
                moments[payload["testID"]] = payload["instant"]["absolute"]
    places = []
    for test in sorted(ended, key=began.get):
        start = began[test] if len(places) < width else max(began[test], places.pop(0))
        bisect.insort(places, ended[test])
        yield ended[test] - start, names[test]


def coverage(path):
    """Lines "<service>/<folder>  <percent> of <lines>" of the business logic, and the percentage of all of it."""
    folders = {}
    for file in json.loads(pathlib.Path(path).read_text())["data"][0]["files"]:
        match = BUSINESS_LOGIC.search(file["filename"])
        if match:
            lines = file["summary"]["lines"]
            covered, count = folders.get(match.groups(), (0, 0))
            folders[match.groups()] = (covered + lines["covered"], count + lines["count"])
    rows = [(f"{service}/{folder}", *lines) for (service, folder), lines in sorted(folders.items())]
    total = ("domain and application code", sum(row[1] for row in rows), sum(row[2] for row in rows))
    text = [f"{name:<32} {100 * covered / max(count, 1):6.1f} % of {count} lines" for name, covered, count in (*rows, total)]
    return text, 100 * total[1] / max(total[2], 1)


if __name__ == "__main__":
    print(*counts(sys.argv[1]))
    for suite, test, outcome in cases(sys.argv[1]):
        if outcome == "failed":
            print(f"failed: {suite}.{test}", file=sys.stderr)
