"""Counts test results and coverage for scripts/test.

    results.py counts <xunit.xml>...        prints "<passed> <failed>" of Swift test reports, then the failed names
    results.py coverage <llvm-cov.json>     prints the line coverage of the business logic, per folder and in total
"""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree

BUSINESS_LOGIC = re.compile(r"/Services/(\w+)/(Domain|Application)/")


def counts(paths):
    passed, failed = 0, []
    for path in paths:
        if not pathlib.Path(path).exists():
            failed.append(f"{path}: the tests ended without a report")
            continue
        for case in xml.etree.ElementTree.parse(path).iter("testcase"):
            if case.find("skipped") is not None:
                continue
            if case.find("failure") is not None or case.find("error") is not None:
                failed.append(f"{case.get('classname')}.{case.get('name')}")
            else:
                passed += 1
    print(passed, len(failed))
    for name in failed:
        print(f"failed: {name}", file=sys.stderr)


def coverage(path):
    folders = {}
    for file in json.loads(pathlib.Path(path).read_text())["data"][0]["files"]:
        match = BUSINESS_LOGIC.search(file["filename"])
        if match:
            lines = file["summary"]["lines"]
            covered, count = folders.get(match.groups(), (0, 0))
            folders[match.groups()] = (covered + lines["covered"], count + lines["count"])
    for (service, folder), (covered, count) in sorted(folders.items()):
        print(f"{service + '/' + folder:<32} {100 * covered / max(count, 1):6.1f} % of {count} lines")
    total = sum(count for _, count in folders.values())
    covered = sum(covered for covered, _ in folders.values())
    print(f"{'domain and application code':<32} {100 * covered / total if total else 0:6.1f} % of {total} lines")


if __name__ == "__main__":
    if sys.argv[1:2] == ["counts"]:
        counts(sys.argv[2:])
    elif sys.argv[1:2] == ["coverage"]:
        coverage(sys.argv[2])
    else:
        sys.exit(__doc__)
