"""Runs steps side by side, as far as the machine bears, and counts what they say."""

import contextlib
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import time

import reports

COUNTS = re.compile(r"^(\d+) passed, (\d+) failed$")
FAILURES = re.compile(r"error:|✘|Fatal error|Crash|FAILED|failed:")
# How many lines of what failed stand in the report.
SHOWN = 12
# Steps may ask for a little more than there is: hardly one takes all that it asks for all the time.
ROOM = 1.15
# How much of a step's time a few of its tests may take, at most: what they stand on has to be started again.
SHARE_OF_SOME_TESTS = 0.5
# The folder with a record of each step that runs, beside the logs: a run that is killed leaves them.
SESSIONS = "sessions"


@dataclasses.dataclass
class Outcome:
    """What came of a step."""

    step: object
    seconds: float
    core_seconds: float
    passed: int
    failed: int
    # Why it could not do anything, if so.
    obstacle: str = ""
    words: tuple = ()
    # What it failed with before it passed, run a second time: it is unstable.
    unstable: tuple = ()


class Running:
    """A step under way, in a session of its own, by which whatever it leaves behind is found."""

    def __init__(self, step, log, environment):
        self.step, self.log, self.began = step, log, time.monotonic()
        self.record = log.parent.parent / SESSIONS / step.slug
        for folder in (log.parent, self.record.parent):
            folder.mkdir(parents=True, exist_ok=True)
        if step.report:
            # Of an earlier turn: when this one crashes, it must not be taken for its own.
            step.report.unlink(missing_ok=True)
        with log.open("w") as output:
            self.process = subprocess.Popen(step.command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                            start_new_session=True, env=environment | dict(step.environment))
        self.record.write_text(f"{self.process.pid} {start_time(self.process.pid)}")

    @property
    def seconds(self):
        return time.monotonic() - self.began

    def ended(self):
        """Its exit code and the processor time of it and what it waited for; None while it runs."""
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if pid == 0:
            return None
        self.process.returncode = os.waitstatus_to_exitcode(status)
        end_session(self.process.pid)
        self.record.unlink(missing_ok=True)
        return self.process.returncode, usage.ru_utime + usage.ru_stime

    def stop(self, grace):
        """Asks for its end, so that it can stop what it started, and then insists."""
        os.kill(self.process.pid, signal.SIGTERM)
        deadline = time.monotonic() + grace
        while self.ended() is None:
            if time.monotonic() > deadline:
                end_session(self.process.pid)
                deadline = time.monotonic() + 5
            time.sleep(0.1)


def newest_line(log):
    """The newest line of a log, for those who wait."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 400))
        lines = [line for line in file.read().decode(errors="replace").replace("\r", "\n").splitlines() if line.strip()]
    return lines[-1].strip()[:90] if lines else ""


def end_session(session, patience=30):
    """Kills all that belongs to a session, and returns when none of it is left: a signal takes a moment to arrive."""
    deadline = time.monotonic() + patience
    while left := members(session):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            say(f"error: processes cannot be ended: {left}")
            return
        time.sleep(0.02)


def members(session):
    """The processes of a session that live."""
    numbers = (int(entry) for entry in os.listdir("/proc") if entry.isdigit())
    return [pid for pid in numbers if (fields := stat_of(pid)) and fields[3] == str(session)]


def start_time(pid):
    """When the kernel started a process, in its ticks; None when there is none that lives."""
    fields = stat_of(pid)
    return fields[19] if fields else None


def stat_of(pid):
    """What the kernel says of a process, from field 3 on; None when there is none, or nobody has collected it."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else fields


def end_left_sessions(work, grace):
    """Ends the steps of a run that was killed: asks, so that each can stop what it started, and then insists."""
    for record in (work / SESSIONS).glob("*"):
        pid, started = record.read_text().split()
        if start_time(pid) == started:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGTERM)
            deadline = time.monotonic() + grace
            while start_time(pid) == started and time.monotonic() < deadline:
                time.sleep(0.1)
        # Its number is nobody else's as long as one of the session lives; another leader means that none does.
        if start_time(pid) in (started, None):
            end_session(pid)
        record.unlink()


class Runner:
    """Runs a plan to its end."""

    # Seconds that a step has to stop what it started, and one that runs containers.
    GRACE, GRACE_OF_CONTAINERS = 20, 90

    def __init__(self, logs, environment, cores, every, by_hand):
        self.logs, self.environment, self.cores = logs, environment, cores
        # Seconds between two lines that say what runs.
        self.every = every
        # Whether a person has asked for steps that this machine may not be able to do.
        self.by_hand = by_hand
        self.running, self.outcomes, self.began = [], [], time.monotonic()

    def run(self, steps, suffix=""):
        waiting, titles = list(steps), {step.title for step in steps}
        stand_ins = {step.instead: step.title for step in steps if step.instead}
        spoke = time.monotonic()
        while waiting or self.running:
            for step in self.startable(waiting, titles, stand_ins):
                waiting.remove(step)
                self.running.append(Running(step, self.logs / f"{step.slug}{suffix}.log", self.environment))
            time.sleep(0.1)
            for running in list(self.running):
                self.look_at(running)
            waiting = [step for step in waiting if not self.is_needless(step, stand_ins)]
            if self.running and time.monotonic() - spoke > self.every:
                spoke = time.monotonic()
                self.say_what_runs()

    def try_again(self, until):
        """Runs what failed once more, each with the machine to itself; what passes then counts, and is told as unstable.

        Where a report names each test that failed, those alone are run. What would not be over by `until`, in seconds
        since the beginning, is left as it is.
        """
        for first in [outcome for outcome in self.outcomes if outcome.failed and not outcome.obstacle]:
            tests = failed_tests(first)
            share = SHARE_OF_SOME_TESTS if tests else 1
            if time.monotonic() - self.began + first.seconds * share > until:
                say(f"no time for a second try of {first.step.title}")
                continue
            say(f"==> a second try of {first.step.title}{f': {len(tests)} tests' if tests else ''}")
            self.outcomes.remove(first)
            self.run([first.step.narrowed(tests) if tests else first.step], "-again")
            second = self.outcomes[-1]
            if tests:
                second.passed = first.passed + max(first.failed - second.failed, 0)
            if not second.failed:
                second.unstable = first.words

    def done(self):
        return {outcome.step.title: outcome for outcome in self.outcomes}

    def is_needless(self, step, stand_ins):
        """A stand-in whose step could do its work."""
        outcome = self.done().get(stand_ins.get(step.title))
        return outcome is not None and not outcome.obstacle

    def startable(self, waiting, titles, stand_ins):
        """Those for which there is room, the first of the plan first; what needs the machine alone comes last."""
        done, ready = self.done(), []
        for step in waiting:
            before = {*step.after, *step.needs} & titles | ({stand_ins[step.title]} if step.title in stand_ins else set())
            if before <= done.keys():
                ready.append(step)
        begun = [running.step for running in self.running]
        chosen = []
        for step in sorted(ready, key=lambda step: step.alone):
            others = begun + chosen
            used = sum(other.cores for other in others)
            has_room = step.alone or not others or used + step.cores <= self.cores * ROOM
            if has_room and all(step.bears(other) for other in others):
                chosen.append(step)
        return chosen

    def look_at(self, running):
        step = running.step
        ended = running.ended()
        if ended is None:
            if running.seconds < step.minutes * 60:
                return
            running.stop(self.grace(step))
            self.finish(running, 1, 0.0, (f"stopped after {step.minutes} minutes",))
        else:
            self.finish(running, *ended)

    def finish(self, running, code, core_seconds, words=()):
        step = running.step
        self.running.remove(running)
        lines = running.log.read_text(errors="replace").splitlines()
        obstacle = ""
        if step.hindered and code == step.hindered:
            obstacle = next((line.removeprefix("no containers: ") for line in reversed(lines) if line.strip()), "no reason")
        passed, failed = self.counts(step, code, lines, obstacle)
        if obstacle and self.by_hand:
            passed, failed, words = 0, 1, (f"it was asked for and cannot be done here: {obstacle}",)
        elif failed:
            words = (*words, *failing_lines(lines))
        self.outcomes.append(Outcome(step, running.seconds, core_seconds, passed, failed, obstacle, words))
        self.say_outcome(self.outcomes[-1], running.log)

    def counts(self, step, code, lines, obstacle):
        if obstacle:
            return 0, 0
        if step.reports:
            passed, failed = reports.counts(step.report)
        else:
            found = COUNTS.match(lines[-1]) if lines else None
            passed, failed = (int(found[1]), int(found[2])) if found else (int(code == 0), int(code != 0))
        if step.forbidden and any(step.forbidden in line for line in lines):
            failed += 1
        # A crash after the last report is a failure too, and so is a step that ran nothing.
        return passed, failed or int(code != 0 or passed == 0)

    # What it says

    def say_outcome(self, outcome, log):
        text = f"{outcome.passed} passed, {outcome.failed} failed"
        if outcome.obstacle:
            text = f"left out: {outcome.obstacle}"
            if outcome.step.instead:
                text += f"; {outcome.step.instead} instead"
        say(f"{clock(time.monotonic() - self.began):>6}  {outcome.step.title}: {text}, {clock(outcome.seconds)}")
        if outcome.failed:
            for line in outcome.words[:60]:
                say(f"        {line[:300]}")
            say(f"        the whole output is in {log}")

    def say_what_runs(self):
        for running in self.running:
            newest = newest_line(running.log)
            say(f"    ... {running.step.title}, {clock(running.seconds)} so far{': ' if newest else ''}{newest}")

    def began_any(self, is_meant):
        """Whether a step was begun that is meant."""
        return any(is_meant(one.step) for one in (*self.running, *self.outcomes))

    def stop(self):
        for running in self.running:
            running.stop(self.grace(running.step))
        self.running = []

    def grace(self, step):
        return self.GRACE_OF_CONTAINERS if step.hindered else self.GRACE

    def totals(self):
        return sum(outcome.passed for outcome in self.outcomes), sum(outcome.failed for outcome in self.outcomes)


def failed_tests(outcome):
    """The Swift tests that a step failed with, (suite, name); nothing when something else failed in it too."""
    found = [(suite, name) for suite, name, end in reports.cases(outcome.step.report) if end == "failed"] \
        if outcome.step.report else []
    return found if len(found) == outcome.failed else []


def failing_lines(lines):
    """Those that say what failed, the first first; of a log that has none its end, which is all that a report shows."""
    return tuple(line for line in lines if FAILURES.search(line))[:60] or tuple(lines[-SHOWN:])


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def say(line):
    print(line, flush=True)
