"""What Postgres says about statements in its log: how long they took, and which pages they read."""
import json
import re
import statistics
import time
import typing

import psycopg

LINE = re.compile(r"^\d{4}-\d\d-\d\d [\d:.]+ \w+ \[\d+\] (\S*) (\S+) (\S+) (?:LOG|DETAIL|ERROR|WARNING|STATEMENT|HINT|FATAL):  (.*)$")
DURATION = re.compile(r"^duration: ([\d.]+) ms  (plan|parse|bind|execute|statement)(?: [^:]*)?:(.*)$", re.S)


class Seen:
    """One statement of a session: its milliseconds, and when plans are logged its pages."""

    def __init__(self, session, text, milliseconds, pages=None):
        self.session, self.text, self.milliseconds, self.pages = session, text, milliseconds, pages


class Measured(typing.NamedTuple):
    """What a call makes the databases do."""
    least: float
    median: float
    pages: float
    slowest: Seen | None


class PostgresLog:
    def __init__(self, path, admin_url):
        self.path = path
        self.admin = psycopg.connect(admin_url, autocommit=True)
        # Statements that services send by themselves.
        self.background = set()

    def set(self, **settings):
        for name, value in settings.items():
            self.admin.execute(f"ALTER SYSTEM SET {name.replace('__', '.')} = {value}")
        self.admin.execute("SELECT pg_reload_conf()")
        # Sessions hear of it by a signal, before their next statement.
        time.sleep(0.5)

    def log_durations(self):
        self.set(log_min_duration_statement=0, auto_explain__log_min_duration=-1)

    def log_plans(self):
        self.set(log_min_duration_statement=-1, auto_explain__log_min_duration=0)

    def log_nothing(self):
        self.set(log_min_duration_statement=-1, auto_explain__log_min_duration=-1)

    def place(self):
        return self.path.stat().st_size

    def learn_background(self, seconds):
        start = self.place()
        time.sleep(seconds)
        self.background |= {(s.session, s.text) for s in self.since(start)}

    def since(self, start):
        """The statements that were logged after a place, but for those that run by themselves."""
        with open(self.path, encoding="utf-8", errors="replace") as file:
            file.seek(start)
            text = file.read()
        entries = []
        for line in text.splitlines():
            if line.startswith("\t"):
                if entries:
                    entries[-1][1].append(line[1:])
            elif found := LINE.match(line):
                entries.append(((found[1], found[2]), [found[4]]))
            else:
                entries.append((None, []))
        seen = [self.read(session, "\n".join(lines)) for session, lines in entries if session]
        return [s for s in seen if s and (s.session, s.text) not in self.background]

    @staticmethod
    def read(session, message):
        found = DURATION.match(message)
        if not found or session[1] == "postgres":
            return None
        milliseconds, kind, rest = float(found[1]), found[2], found[3].strip()
        if kind != "plan":
            return Seen(session, " ".join(rest.split()), milliseconds)
        try:
            plan = json.loads(rest)
        except json.JSONDecodeError:
            # Still being written: not by whoever has answered already.
            return None
        top = plan["Plan"]
        pages = top.get("Shared Hit Blocks", 0) + top.get("Shared Read Blocks", 0)
        return Seen(session, " ".join(plan["Query Text"].split()), milliseconds, pages)

    def measure(self, call, repeats):
        """The least and the median of milliseconds and the least pages of what a call makes the databases do, and the slowest
        statement of the fastest run. The least of pages, because services may read something beside the call."""
        times, pages, slowest = [], [], []
        for _ in range(repeats):
            start = self.place()
            call()
            time.sleep(0.01)
            seen = self.since(start)
            times.append(sum(s.milliseconds for s in seen))
            pages.append(sum(s.pages or 0 for s in seen))
            slowest.append(max(seen, key=lambda s: s.milliseconds, default=None))
        least = min(range(repeats), key=lambda n: times[n])
        return Measured(times[least], statistics.median(times), min(pages), slowest[least])
