"""Counts what holds and what does not."""


class Results:
    """With `explains_all` it says also of what holds what was found."""

    def __init__(self, explains_all=False):
        self.passed, self.failed = 0, 0
        self.explains_all = explains_all

    def check(self, title, good, shown=""):
        if good:
            self.passed += 1
        else:
            self.failed += 1
        is_explained = shown != "" and (self.explains_all or not good)
        print(f"{'passed' if good else 'FAILED'}  {title}{f': {shown}' if is_explained else ''}", flush=True)

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0
