"""Something that is done again and again at random moments, by a thread of its own, and can be held."""

import threading
import time


class Repeated(threading.Thread):
    """`job` every so many seconds; `hold` returns when none is under way."""

    def __init__(self, name, job, seconds, random, problems):
        super().__init__(name=name, daemon=True)
        self.job, self.seconds, self.random, self.problems = job, seconds, random, problems
        self.held = threading.Event()
        self.held.set()
        self.rests = threading.Event()
        self.rests.set()
        self.is_over = False

    def run(self):
        due = None
        while not self.is_over:
            if self.held.is_set():
                self.rests.set()
                due = None
                time.sleep(0.1)
                continue
            self.rests.clear()
            # Held meanwhile: then it rests.
            if self.held.is_set():
                continue
            due = due or time.monotonic() + self.random.uniform(*self.seconds)
            if time.monotonic() < due:
                time.sleep(0.1)
                continue
            due = None
            try:
                self.job()
            except Exception as error:  # noqa: BLE001
                self.problems.note(self.name, error)

    def go(self):
        self.held.clear()

    def hold(self, seconds=300):
        self.held.set()
        if not self.rests.wait(seconds):
            raise TimeoutError(f"{self.name} does not come to rest")
