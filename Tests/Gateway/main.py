"""Tries the gateway: real HAProxy, with small servers in place of the services.

Run: scripts/gateway test [<word of a case>...]. TRANSFA_GATEWAY_CONFIGURATION names another configuration: one that is
broken on purpose, to see that the cases notice.
"""

import sys
import time
import unittest

from cases import World

PARTS = ("routing", "tokens", "limits", "headers", "transport", "faults", "rolling", "logs")


class Result(unittest.TextTestResult):
    """One line per case."""

    def startTest(self, test):
        super(unittest.TextTestResult, self).startTest(test)
        self.began = time.monotonic()
        self.broken = len(self.failures) + len(self.errors)

    def stopTest(self, test):
        super().stopTest(test)
        good = self.broken == len(self.failures) + len(self.errors)
        name = test.id().split(".")[-1].removeprefix("test_").replace("_", " ")
        print(f"{'ok' if good else 'FAILED':<7} {name} ({time.monotonic() - self.began:.1f} s)", flush=True)


def main(names):
    suite = unittest.TestSuite()
    for part in PARTS:
        for case in unittest.defaultTestLoader.loadTestsFromName(part):
            for test in case:
                if not names or any(name in test.id() for name in names):
                    suite.addTest(test)
    World.start()
    try:
        result = unittest.TextTestRunner(stream=sys.stdout, resultclass=Result, verbosity=0).run(suite)
    finally:
        World.stop()
    broken = {getattr(test, "test_case", test).id() for test, _ in result.failures + result.errors}
    # Each case counts once, however many of its parts have failed.
    failed = max(len(broken), 0 if result.wasSuccessful() else 1)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    return 1 if failed or result.testsRun == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
