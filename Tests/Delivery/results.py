"""Counts checks, and says the names of those that fail."""


class Results:
    def __init__(self):
        self.passed, self.failed = 0, 0

    def check(self, title, good, shown=""):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED  {title}{f': {shown}' if shown else ''}")

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0
