"""Counts what holds and what does not."""


class Results:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, title, is_good, shown=""):
        if is_good:
            self.passed += 1
        else:
            self.failed += 1
        print(f"{'passed' if is_good else 'FAILED'}  {title}{f': {shown}' if shown and not is_good else ''}", flush=True)

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0
