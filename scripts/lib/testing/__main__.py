"""scripts/test: builds, starts servers, runs the steps of a tier, and counts."""

import argparse
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True

import changed  # noqa: E402
import reports  # noqa: E402
import steps  # noqa: E402
from runner import SHOWN, Outcome, Runner, clock, end_left_sessions, newest_line, say  # noqa: E402

WORK = ROOT / ".test"
# Line coverage of Services/*/Domain and Services/*/Application below which the run fails, in percent.
COVERAGE_NEEDED = float(os.environ.get("COVERAGE_NEEDED", 80))
# Seconds of a run after which nothing that failed is tried again: the continuous integration ends one after 90 minutes.
LONGEST_WITH_SECOND_TRY = 80 * 60
USAGE = """scripts/test                    what tells in some minutes whether a change is right: lint, the tests of all modules,
                                       money tests and mutations, the journeys on processes, coverage
       scripts/test --suite            also contract, deployment, faults and containers: what .ci/run runs
       scripts/test --full             also the long runs, the images of a release and ThreadSanitizer
       scripts/test --changed [BASE]   lint and what the files reach that differ from BASE (HEAD if not given)
       scripts/test --only WORD        the steps of the default tier and the suite whose name has this word; with --full also
                                       its own; with --repeat those of modules
       scripts/test --repeat N         the tests of all modules N times
       scripts/test --suite --second-try   what fails runs once more, alone; if it passes, it is named as unstable, and counts
       scripts/test --list             the names of all tests, by tier and step
environment: CONTAINERS=no runs the faults on processes and not in containers; COVERAGE_NEEDED (percent, 80); CI (fewer
             progress lines, and containers that this machine cannot run are left out by name and do not fail)"""


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/test", usage=USAGE, add_help=False)
    parser.add_argument("-h", "--help", action="help")
    tier = parser.add_mutually_exclusive_group()
    tier.add_argument("--suite", dest="tier", action="store_const", const="suite", default="default")
    tier.add_argument("--full", dest="tier", action="store_const", const="full")
    tier.add_argument("--changed", nargs="?", const="HEAD")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--second-try", action="store_true")
    options = parser.parse_args()
    if options.repeat < 1:
        parser.error("--repeat takes a number of at least 1")
    if not chosen_steps(steps.Plan(ROOT, "", "", False), options):
        parser.error(f"no step has a name with {' or '.join(options.only)}; scripts/test --list names them all")
    return options


class Phase:
    """A command that everything else needs, under way."""

    def __init__(self, title, command):
        self.log, self.began = WORK / "logs" / f"{title.split(' ')[0]}.log", time.monotonic()
        with self.log.open("w") as file:
            self.process = subprocess.Popen([str(word) for word in command], stdout=file, stderr=file, cwd=ROOT)

    @property
    def seconds(self):
        return time.monotonic() - self.began

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


class Run:
    """One call of scripts/test."""

    def __init__(self, options):
        self.options, self.phases, self.began = options, [], time.monotonic()
        self.environment = os.environ | {
            # Waiting ends when what is waited for happens; only the patience grows on a slow machine.
            "TRANSFA_TEST_SLOWNESS": os.environ.get("TRANSFA_TEST_SLOWNESS", "3"),
            "TRANSFA_TEST_SCRATCH": str(WORK / "scratch"),
            "TRANSFA_TEST_PROFILES": str(WORK / "profiles"),
        }
        if options.tier == "full":
            self.environment["TRANSFA_TEST_LONG"] = "1"
        by_hand = "CI" not in os.environ
        self.runner = Runner(WORK / "logs", self.environment, os.cpu_count() or 2, 15 if by_hand else 60, by_hand)
        self.failed = 0

    # Preparation

    def prepare(self):
        stop_left_overs()
        for name in ("profiles", "results", "logs", "scratch"):
            shutil.rmtree(WORK / name, ignore_errors=True)
            (WORK / name).mkdir(parents=True)
        self.at_once({
            "build (debug, with coverage)": ["swift", "build", "--build-tests", "--enable-code-coverage"],
            "Postgres, Redis and RabbitMQ": [ROOT / "scripts/servers", "start", "--volatile", WORK / "servers"],
            "python packages": [ROOT / "scripts/python", WORK / "venv"],
            # Somebody who waits for a page gives up sooner.
            "reference of the API": ["env", "REFERENCE_RETRIES=5", ROOT / "deploy/docker/reference.sh",
                                     ROOT / "deploy/docker/reference-versions.txt", WORK / "reference"],
        })
        self.environment |= server_settings()
        self.environment["TRANSFA_TEST_PYTHON"] = str(WORK / "venv/bin/python3")
        self.environment["TRANSFA_TEST_REFERENCE"] = str(WORK / "reference")
        binaries = output(["swift", "build", "--show-bin-path"])
        self.environment["TRANSFA_BINARIES"] = binaries
        # psql itself: what Debian has in its place starts a Perl first, each of thousands of times.
        self.environment["PATH"] = f"{self.environment['POSTGRES_PROGRAMS']}:{self.environment['PATH']}"
        return pathlib.Path(binaries)

    def at_once(self, commands):
        """Runs side by side the commands that everything else needs, by title."""
        running = {}
        try:
            for title, command in commands.items():
                say(f"==> {title}")
                running[title] = Phase(title, command)
            self.await_end(running)
        finally:
            for phase in running.values():
                phase.stop()

    def await_end(self, running):
        """Takes out what ends; the first that fails ends all."""
        spoke = time.monotonic()
        while running:
            time.sleep(0.05)
            for title, phase in list(running.items()):
                code = phase.process.poll()
                if code is None:
                    continue
                del running[title]
                self.phases.append((title, phase.seconds, code))
                if code:
                    self.failed += 1
                    say(phase.log.read_text(errors="replace")[-6000:])
                    raise SystemExit(f"{title} failed; the whole output is in {phase.log}")
            if time.monotonic() - spoke > self.runner.every:
                spoke = time.monotonic()
                for title, phase in running.items():
                    newest = newest_line(phase.log)
                    say(f"    ... {title}, {clock(phase.seconds)} so far{': ' if newest else ''}{newest}")

    # The steps

    def run(self):
        self.plan = plan = steps.Plan(ROOT, self.prepare(), WORK / "venv/bin/python3", self.options.tier == "full")
        chosen = chosen_steps(plan, self.options)
        if self.options.changed:
            chosen = changed.reached(ROOT, self.options.changed, chosen, say)
        for turn in range(self.options.repeat):
            self.runner.run(chosen, f"-{turn + 1}" if turn else "")
        if self.options.second_try:
            self.runner.try_again(LONGEST_WITH_SECOND_TRY)
        if not (self.options.only or self.options.changed or self.options.repeat > 1):
            self.check("every test in one step of one tier", self.unplaced, plan)
            self.check("coverage", self.coverage)

    def check(self, title, work, *words):
        began = time.monotonic()
        try:
            problems = work(*words)
        except subprocess.CalledProcessError as error:
            problems = [f"{error.cmd[0]} ended with {error.returncode}"]
        for problem in problems:
            say(f"error: {problem}")
        step = steps.Step(title, "default", ())
        self.runner.outcomes.append(Outcome(step, time.monotonic() - began, 0, int(not problems), len(problems)))

    def unplaced(self, plan):
        """Tests that no step runs, or several."""
        placed = plan.placed(swift_tests(plan.binaries, self.environment))
        return [f"{test} is in {len(titles)} steps: {', '.join(titles) or 'it never runs'}"
                for test, titles in placed.items() if len(titles) != 1]

    def coverage(self):
        merged, profiles = WORK / "all.profdata", sorted((WORK / "profiles").glob("*.profraw"))
        subprocess.run([toolchain("llvm-profdata"), "merge", "-sparse", "--failure-mode=all", "-o", merged, *profiles],
                       check=True)
        tests = next(self.plan.binaries.glob("*PackageTests.xctest"))
        with (WORK / "coverage.json").open("w") as file:
            subprocess.run([toolchain("llvm-cov"), "export", "-summary-only", "-instr-profile", merged, tests],
                           stdout=file, check=True)
        text, percent = reports.coverage(WORK / "coverage.json")
        (WORK / "coverage.txt").write_text("\n".join(text) + "\n")
        say("\n".join(text))
        return [] if percent >= COVERAGE_NEEDED else [
            f"domain and application code is covered by {percent:.1f} %, needed are {COVERAGE_NEEDED:g} %"]

    # The end

    def report(self):
        outcomes = self.runner.outcomes
        say(f"\n{'phase':<44} {'min:sec':>8} {'core-s':>7}")
        for title, seconds, code in self.phases:
            say(f"{title:<44} {clock(seconds):>8} {'':>7}  {'FAILED' if code else 'ok'}")
        for outcome in outcomes:
            word = "FAILED" if outcome.failed else "left out" if outcome.obstacle else "ok"
            say(f"{outcome.step.title:<44} {clock(outcome.seconds):>8} {outcome.core_seconds:>7.0f}  {word}")
        say(f"{'total':<44} {clock(time.monotonic() - self.began):>8}")
        slowest = sorted((time for outcome in outcomes for time in self.times(outcome.step)), reverse=True)
        if slowest:
            say("\nthe slowest tests")
            for seconds, test in slowest[:10]:
                say(f"{seconds:>8.1f} s  {test}")
        for outcome in outcomes:
            if outcome.obstacle:
                say(f"left out: {outcome.step.title}: {outcome.obstacle}")
        for outcome in outcomes:
            if outcome.failed:
                say(f"\n{outcome.step.title} failed:")
                for line in outcome.words[:SHOWN]:
                    say(f"    {line[:300]}")
        for outcome in outcomes:
            if outcome.unstable:
                say(f"\nunstable: {outcome.step.title} passed when it was run a second time; the first failed with:")
                for line in outcome.unstable[:SHOWN]:
                    say(f"    {line[:300]}")

    @staticmethod
    def times(step):
        file = step.report.with_suffix(".events") if step.reports else None
        return reports.times(file, step.width) if file and file.exists() else ()


def chosen_steps(plan, options):
    containers = os.environ.get("CONTAINERS") != "no"
    return plan.chosen(options.tier, options.only, options.repeat > 1, containers)


def swift_tests(binaries, environment):
    runner = next(binaries.glob("*PackageTests.xctest"), None)
    if runner is None:
        raise SystemExit("the tests are not built: swift build --build-tests --enable-code-coverage")
    listed = output([str(runner), "--testing-library", "swift-testing", "--list-tests"],
                    environment | {"LLVM_PROFILE_FILE": "/dev/null"})
    return sorted(line for line in listed.splitlines() if "/" in line)


def output(command, environment=None):
    return subprocess.run(command, cwd=ROOT, env=environment, text=True, check=True, stdout=subprocess.PIPE).stdout.strip()


def toolchain(name):
    beside = pathlib.Path(shutil.which("swift")).resolve().parent / name
    return str(beside if beside.exists() else shutil.which(name))


def server_settings():
    lines = (WORK / "servers/servers.env").read_text().splitlines()
    pairs = (line.split("=", 1) for line in lines if "=" in line)
    return {name: value.strip("'") for name, value in pairs}


def stop_left_overs():
    """Of a run that was killed: what it started would disturb this one."""
    end_left_sessions(WORK, Runner.GRACE_OF_CONTAINERS)
    for pids in [WORK / "servers/pids", *(WORK / "scratch").glob("*/*/pids")]:
        # Others than servers keep the numbers of their processes in such a folder too.
        if pids.exists() and (pids.parent / "ports").exists():
            subprocess.run([ROOT / "scripts/servers", "destroy", pids.parent], check=False)


def clean_up(run):
    has_containers = run.runner.began_any(lambda step: step.hindered)
    run.runner.stop()
    stop_left_overs()
    if has_containers:
        subprocess.run([ROOT / "scripts/compose-test", "--down"], check=False)
    shutil.rmtree(WORK / "scratch", ignore_errors=True)


def take_lock():
    """One run at a time in this checkout; it goes with this process."""
    WORK.mkdir(exist_ok=True)
    lock = (WORK / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise SystemExit("scripts/test: another one runs in this checkout") from None
    return lock


def list_tests(run):
    """tier <tab> step <tab> test, of all that can be named without being run."""
    binaries = pathlib.Path(output(["swift", "build", "--show-bin-path"]))
    plan = steps.Plan(ROOT, binaries, WORK / "venv/bin/python3", True)
    for line in plan.listed(swift_tests(binaries, os.environ)):
        say("\t".join(line))


def main():
    options = arguments()
    run = Run(options)
    if options.list:
        return list_tests(run)
    lock = take_lock()  # noqa: F841
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(130))
    ended_well = False
    try:
        run.run()
        ended_well = True
    except SystemExit as end:
        if isinstance(end.code, str):
            say(f"error: {end.code}")
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        clean_up(run)
        run.report()
        passed, failed = run.runner.totals()
        failed += run.failed
        failed = failed or int(not ended_well)
        say(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
