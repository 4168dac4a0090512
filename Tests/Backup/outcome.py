"""Counts what holds and what does not."""


class Results:
    def __init__(self):
        self.passed, self.failed = 0, 0

    def check(self, title, good, shown=""):
        if good:
            self.passed += 1
        else:
            self.failed += 1
        # What was found is of interest when it is not what was wanted.
        print(f"passed  {title}" if good else f"FAILED  {title}: {shown}", flush=True)

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0
