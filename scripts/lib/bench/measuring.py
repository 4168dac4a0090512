"""What the measuring programs share: measurements as JSON lines, progress, processor time, backlogs, load."""
import base64
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.parse
import urllib.request

RUN = pathlib.Path(os.environ["BENCH_RUN"])
REPEATS = int(os.environ["BENCH_REPEATS"])
CONNECTIONS = 128


def measured(part, name, value, unit, repeat):
    print(json.dumps({"part": part, "name": name, "value": round(value, 3), "unit": unit, "repeat": repeat}), flush=True)


def progress(text):
    print(f"    {text}", file=sys.stderr, flush=True)


def settings(path):
    """The variables of a file with NAME='value' lines."""
    lines = (RUN / path).read_text().splitlines()
    return {name: value.strip("'") for name, _, value in (line.partition("=") for line in lines)}


def admin_url(database):
    url = urllib.parse.urlsplit(settings("servers/servers.env")["TRANSFA_TEST_POSTGRES_URL"])
    return urllib.parse.urlunsplit(url._replace(path=f"/{database}"))


def psql(database, sql):
    command = ["psql", admin_url(database), "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", sql]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


# Processor time ------------------------------------------------------------------------------------------------------


def cpu_of(pid):
    """Seconds of one process and of its children that have ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def cpu_of_family(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    try:
        family = [int(child) for child in children.read_text().split()]
    except OSError:
        family = []
    return cpu_of(pid) + sum(cpu_of_family(child) for child in family)


class Processors:
    """How much of one core each part of the suite takes, from construction to report."""

    def __init__(self):
        self.begin = time.monotonic()
        self.before = self.now()

    @staticmethod
    def now():
        files = [*RUN.glob("pids/*"), *RUN.glob("servers/pids/*")]
        pids = {file.name: int((file.read_text().split() or ["0"])[0]) for file in files}
        return {name: cpu_of_family(pid) for name, pid in pids.items()}

    def report(self, part, repeat):
        seconds = time.monotonic() - self.begin
        for name, value in sorted(self.now().items()):
            percent = 100 * (value - self.before.get(name, 0)) / seconds
            if percent >= 0.5:
                measured(part, f"cpu {name}", percent, "% of a core", repeat)


# Load ----------------------------------------------------------------------------------------------------------------


class Load:
    """The load generator, running."""

    def __init__(self, *arguments):
        port = (RUN / "ports/transaction").read_text().strip()
        command = [RUN / "bin/load", "--people", RUN / "people/people.tsv", "--port", port, *map(str, arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # It says so when the payments are signed and the clock starts.
        self.first = self.process.stderr.readline()

    def result(self):
        output, complaints = self.process.communicate()
        if self.process.returncode != 0:
            raise SystemExit(f"the load generator ended with {self.process.returncode}: {self.first}{complaints}")
        if complaints:
            progress(complaints.strip().splitlines()[-1][:300])
        return json.loads(output)


def closed_load(seconds, warm_up, prepared):
    return Load("--seconds", seconds, "--warm-up", warm_up, "--connections", CONNECTIONS, "--prepare", prepared)


def open_load(seconds, warm_up, rate):
    return Load("--seconds", seconds, "--warm-up", warm_up, "--connections", 512, "--rate", rate)


def refused(result):
    return sum(count for status, count in result["statuses"].items() if status != "202")


# Backlog -------------------------------------------------------------------------------------------------------------


class Session:
    """One psql that stays, asked the same thing again and again."""

    def __init__(self, database, sql):
        self.sql = sql
        command = ["psql", admin_url(database), "-XAtq", "-F", " "]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self):
        self.process.stdin.write(self.sql + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().split()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class ArchiveLag:
    """How old the newest event of the archive is, in seconds: while payments run, how far it is behind."""

    SQL = "SELECT coalesce(extract(epoch FROM clock_timestamp() - newest_time), 1e9) FROM archive_progress;"

    def __init__(self):
        self.session = Session("transfa_console", self.SQL)

    def seconds(self):
        return max(0.0, float(self.session.ask()[0]))

    def close(self):
        self.session.close()


class Backlog:
    """What was accepted and is not done: open transfers, events not yet published, messages not yet consumed."""

    # Every payment of the load is of 100 kobo without fee, and what is open is held: no table has to be counted.
    SQL = "SELECT (SELECT coalesce(sum(held), 0) / 100 FROM balances), (SELECT count(*) FROM outbox WHERE sent_at IS NULL);"

    def __init__(self):
        self.session = Session("transfa_transaction", self.SQL)
        url = urllib.parse.urlsplit(settings("servers/servers.env")["TRANSFA_TEST_RABBITMQ_MANAGEMENT_URL"])
        login = base64.b64encode(f"{url.username}:{url.password}".encode()).decode()
        self.queues = urllib.request.Request(
            f"http://{url.hostname}:{url.port}/api/queues?columns=name,type,messages",
            headers={"authorization": f"Basic {login}"},
        )

    def parts(self):
        held, unsent = self.session.ask()
        with urllib.request.urlopen(self.queues, timeout=10) as answer:
            queues = json.load(answer)
        # The stream keeps what it has.
        waiting = sum(queue.get("messages") or 0 for queue in queues if queue.get("type") != "stream")
        return int(float(held)), int(unsent), waiting

    def total(self):
        return sum(self.parts())

    def close(self):
        self.session.close()

    def drain(self, limit=900):
        """Waits until nothing is left; returns how many were done per second."""
        begin, first, told = time.monotonic(), self.total(), time.monotonic()
        while (left := self.total()) > 50:
            now = time.monotonic()
            if now - begin > limit:
                raise SystemExit(f"the backlog of {first} is still {left} after {limit} s: {self.parts()}")
            if now - told > 15:
                progress(f"... waiting for the backlog: {left} left")
                told = now
            time.sleep(0.5)
        return first / max(time.monotonic() - begin, 0.001)
