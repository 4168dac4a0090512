"""Destroys the suite and restores it, or breaks backups on purpose. Run: scripts/backup-test."""

import argparse
import pathlib
import sys

# The client of the contract tests, and the load and the checks of the failover tests.
for folder in ("Contract", "Failover"):
    sys.path.append(str(pathlib.Path(__file__).parents[1] / folder))

from breaking import Breaking
from recovering import Recovering
from results import Results
from suite_with_backup import SuiteWithBackup


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("run")
    parser.add_argument("--only", choices=("fresh", "old"))
    parser.add_argument("--back", type=int, default=600)
    parser.add_argument("--break", dest="broken", action="store_true")
    options = parser.parse_args()
    results = Results()
    suite = SuiteWithBackup(options.run)
    if options.broken:
        Breaking(suite, results).run()
    else:
        recovering = Recovering(suite, results)
        if options.only != "old":
            recovering.fresh()
        if options.only != "fresh":
            recovering.old(options.back)
    return results.end()


if __name__ == "__main__":
    sys.exit(main())
