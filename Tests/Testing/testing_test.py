#!/usr/bin/env python3
"""That scripts/test counts what fails, leaves nothing out in silence, and finds what a change can reach."""

import contextlib
import io
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib/testing"))
sys.dont_write_bytecode = True

import changed  # noqa: E402
import steps  # noqa: E402
from runner import Runner, Running, end_left_sessions, start_time  # noqa: E402

REPORT = ('<testsuites><testsuite><testcase classname="S" name="a()"/><testcase classname="S" name="b()"><skipped/></testcase>'
          '<testcase classname="S" name="c()">{}</testcase></testsuite></testsuites>')


def step(title, script, **more):
    return steps.Step(title, "default", ("bash", "-c", script), **more)


def run(*chosen, by_hand=False, cores=2, second_try=0):
    """The outcomes of a run, by title."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        runner = Runner(pathlib.Path(folder), dict(os.environ), cores, 3600, by_hand)
        runner.GRACE = 1
        runner.run(chosen)
        if second_try:
            runner.try_again(second_try)
        return {outcome.step.title: outcome for outcome in runner.outcomes}


def a_time_of_its_own():
    """Seconds to sleep that nobody else sleeps: another clone may run these tests at the same moment."""
    return f"{random.randrange(10**6, 10**9)}"


def sleepers(seconds):
    return subprocess.run(["pgrep", "-fax", f"sleep {seconds}"], capture_output=True, text=True, check=False).stdout


def counted(outcome):
    return outcome.passed, outcome.failed


def counts_of_the_last_line():
    done = run(step("good", "echo 3 passed, 0 failed"), step("bad", "echo 3 passed, 2 failed; exit 1"),
               step("liar", "echo 3 passed, 0 failed; exit 1"), step("quiet", "true"), step("silent", "false"))
    assert [counted(done[name]) for name in ("good", "bad", "liar", "quiet", "silent")] == \
        [(3, 0), (3, 2), (3, 1), (1, 0), (0, 1)], done


def reports_are_counted_and_nothing_is_no_success():
    with tempfile.TemporaryDirectory() as folder:
        def tests(title, script):
            path = f"{folder}/{title}.xml"
            return steps.Step(title, "default", ("bash", "-c", script, "bash", "--xunit-output", path), reports=True)
        pathlib.Path(f"{folder}/stale.xml").write_text(REPORT.format(""))
        write = "cat >\"$2\" <<'XML'\n{}\nXML\n"
        done = run(tests("good", write.format(REPORT.format(""))), tests("bad", write.format(REPORT.format("<failure/>"))),
                   tests("none", "true"), tests("stale", "kill -SEGV $$"), tests("crash", write.format(REPORT.format("")) + "kill -SEGV $$"),
                   tests("part", write.format("<testsuites><testsuite>") + "kill -SEGV $$"))
    assert [counted(done[name]) for name in ("good", "bad", "none", "stale", "crash", "part")] == \
        [(2, 0), (1, 1), (0, 1), (0, 1), (2, 1), (0, 1)], done


def a_step_that_hangs_is_ended_with_all_it_started():
    long_time = a_time_of_its_own()
    began = steps.Step("hangs", "default", ("bash", "-c", f"sleep {long_time} & trap '' TERM; wait; wait"), minutes=0.01)
    done = run(began)
    assert counted(done["hangs"]) == (0, 1) and "stopped after" in done["hangs"].words[0], done
    assert not sleepers(long_time), sleepers(long_time)


def steps_of_a_killed_run_are_ended():
    long_time = a_time_of_its_own()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        log = work / "logs" / "left.log"
        left = Running(step("left", f"trap '' TERM; sleep {long_time} & wait; wait"), log, dict(os.environ))
        pid, started = left.process.pid, start_time(left.process.pid)
        (work / "sessions" / "of-another").write_text("1 12345")
        end_left_sessions(work, 1)
        assert start_time(pid) != started, f"{pid} lives"
        assert not list((work / "sessions").iterdir())
        left.process.wait()
    assert not sleepers(long_time), sleepers(long_time)


def what_must_not_be_said_fails():
    done = run(step("raced", "echo WARNING: a race; echo 3 passed, 0 failed", forbidden="WARNING: a race"))
    assert counted(done["raced"]) == (3, 1), done


def a_second_try_counts_and_is_told():
    with tempfile.TemporaryDirectory() as folder:
        shaky = f"test -e {folder}/tried || {{ touch {folder}/tried; echo error: shaken; exit 1; }}"
        chosen = step("shaky", shaky), step("broken", "echo error: broken; exit 1"), step("good", "true")
        done = run(*chosen, second_try=60)
        assert [counted(done[name]) for name in ("shaky", "broken", "good")] == [(1, 0), (0, 1), (1, 0)], done
        assert [done[name].unstable for name in ("shaky", "broken", "good")] == [("error: shaken",), (), ()], done
    # Without being asked for, or when it would take too long, nothing is tried again.
    for seconds in (0, 1e-9):
        with tempfile.TemporaryDirectory() as folder:
            shaky = f"test -e {folder}/tried || {{ touch {folder}/tried; exit 1; }}"
            assert counted(run(step("shaky", shaky), second_try=seconds)["shaky"]) == (0, 1)


def only_the_tests_that_failed_are_tried_again():
    """A report of three tests; the second run finds only what its filter names, and is made to fail once or always."""
    one = '<testcase classname="S.T" name="c()">{}</testcase>'
    with tempfile.TemporaryDirectory() as folder:
        def tests(title, again):
            first, second = REPORT.format("<failure/>").replace('"S"', '"S.T"'), f"<testsuites>{one.format(again)}</testsuites>"
            script = (f"echo \"$4\" >>{folder}/{title}.filters; if test -e \"$2\".tried; then echo '{second}'; "
                      f"else touch \"$2\".tried; echo '{first}'; fi >\"$2\"; ! grep -q failure \"$2\"")
            return steps.Step(title, "default", ("bash", "-c", script, "bash", "--xunit-output", f"{folder}/{title}.xml", "--filter",
                                                 "^S"), reports=True)
        done = run(tests("shaky", ""), tests("broken", "<failure/>"), second_try=60)
        assert [counted(done[name]) for name in ("shaky", "broken")] == [(2, 0), (1, 1)], done
        asked = pathlib.Path(f"{folder}/shaky.filters").read_text().split()
    assert asked[0] == "^S" and re.search(asked[1], "S.T/c()/file.swift") and not re.search(asked[1], "S.T/a()"), asked
    # What has its report elsewhere, and says more than its tests do.
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/part.xml"
        script = (f"test \"$1\" = --tests && echo \"$PART\" >{folder}/asked && echo 2 passed, 0 failed && exit\n"
                  f"echo '{{}}' >{path}; echo {{}}; exit 1")

        def parts(title, text, last):
            file = pathlib.Path(f"{folder}/{title}")
            file.write_text("#!/bin/bash\n" + script.format(text, last))
            file.chmod(0o755)
            return steps.Step(title, "default", (str(file), "all"), apart=("--tests",), part=path, pattern="PART")
        bad = REPORT.format("<failure/>")
        assert counted(run(parts("some", bad, "7 passed, 1 failed"), second_try=60)["some"]) == (8, 0)
        assert "S/c" in pathlib.Path(f"{folder}/asked").read_text()
        assert counted(run(parts("more", bad, "7 passed, 2 failed"), second_try=60)["more"]) == (7, 2)


def the_report_shows_the_end_of_a_log_that_names_no_failure():
    done = run(step("crashed", "seq 100; exit 1"))
    assert done["crashed"].words[-1] == "100", done


def an_obstacle_is_named_and_its_stand_in_runs():
    hindered = step("containers", "echo no containers: no engine; exit 75", hindered=75, instead="processes")
    done = run(hindered, step("processes", "echo 5 passed, 0 failed"))
    assert done["containers"].obstacle == "no engine" and counted(done["containers"]) == (0, 0), done
    assert counted(done["processes"]) == (5, 0), done
    assert counted(run(hindered, step("processes", "true"), by_hand=True)["containers"]) == (0, 1)
    able = step("containers", "echo 7 passed, 0 failed", hindered=75, instead="processes")
    assert "processes" not in run(able, step("processes", "true"))


def nothing_runs_beside_what_measures_time():
    with tempfile.TemporaryDirectory() as folder:
        mark = "[ $(ls {0} | wc -l) = 0 ] || exit 1; touch {0}/{1}; sleep 0.3; rm {0}/{1}"
        alone = [step(name, mark.format(folder, name), alone=True, cores=0.1) for name in ("a", "b")]
        done = run(*alone, step("c", "sleep 0.2", cores=0.1), step("d", "sleep 0.2", cores=0.1))
    assert all(outcome.failed == 0 for outcome in done.values()), done


def what_measures_time_bears_those_it_names():
    with tempfile.TemporaryDirectory() as folder:
        # Each waits for the other: they end well only side by side.
        meet = "touch {0}/{1}; for _ in $(seq 100); do [ -e {0}/{2} ] && exit; sleep 0.1; done; exit 1"
        done = run(step("a", meet.format(folder, "a", "b"), alone=True, beside=("b",)),
                   step("b", meet.format(folder, "b", "a"), alone=True),
                   step("c", f"[ ! -e {folder}/a ] && [ ! -e {folder}/b ]", cores=0.1))
    assert all(outcome.failed == 0 for outcome in done.values()), done


def steps_wait_for_others_and_for_room():
    done = run(step("second", "true", after=("first",)), step("first", "sleep 0.3"))
    assert list(done) == ["first", "second"], done
    assert len(run(*(step(f"large{n}", "true", cores=9) for n in range(3)))) == 3


def a_change_reaches_what_depends_on_it():
    plan = steps.Plan(ROOT, "/nowhere", "/nowhere", False)

    def reached(*files):
        targets = changed.reached_targets(ROOT, files)
        return {s.title for s in plan.steps() if changed.is_reached(s, files, targets)}
    for folder in ("Migrations", "Functions"):
        money = reached(f"Services/Transaction/{folder}/settlement.sql")
        assert {"tests of Transaction", steps.MUTATIONS, "money test drops_test", "journeys on processes",
                "migrations, check", "migrations, history"} <= money, money
    assert "migrations, check" in reached("Services/Auth/Functions/tables.sql")
    assert "migrations, check" not in reached("Services/Auth/README.md")
    assert "tests of Customer" not in money and "tests of AMQP" not in money, money
    assert {"tests of Customer", "tests of Messaging"} <= reached("Shared/Postgres/Wire.swift")
    assert "tests of Redis" not in reached("Shared/Postgres/Wire.swift")
    assert {"tests of Auth", "tests of ContractGate"} <= reached("Shared/Contracts/Sources/Contracts/ServiceName.swift")
    assert reached("CHANGELOG.md") == {"lint", "tests of Tidy"}, reached("CHANGELOG.md")
    for file in ("Package.swift", "Shared/Contracts/Package.swift", "deploy/docker/swift-versions.txt",
                 "Tests/Python/versions.txt"):
        assert len(reached(file)) == len(list(plan.steps())), file
    assert "descriptions of the API" in reached("Services/Auth/openapi.yaml")


def moved_deleted_and_new_files_differ():
    with tempfile.TemporaryDirectory() as folder:
        def git(*words):
            subprocess.run(["git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@example.com", *words], check=True,
                           capture_output=True)
        root = pathlib.Path(folder)
        for name in ("moved", "deleted", "same"):
            (root / name).write_text(f"{name}\n" * 20)
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "first")
        git("mv", "moved", "elsewhere")
        (root / "deleted").unlink()
        (root / "new file").write_text("")
        assert changed.changed_files(root, "HEAD") == ["deleted", "elsewhere", "moved", "new file"]
        try:
            changed.changed_files(root, "nowhere")
        except SystemExit as end:
            assert "nowhere is no commit" in str(end)
        else:
            raise AssertionError("a commit that does not exist was taken")


def steps_are_chosen_by_tier_and_word():
    plan = steps.Plan(ROOT, "/nowhere", "/nowhere", False)

    def titles(*words, **more):
        return {step.title for step in plan.chosen(*words, **more)}
    assert titles("default") < titles("suite") < titles("full")
    assert titles("default", ["AMQP"]) == {"tests of AMQP"}
    assert titles("full", ["AMQP"]) == {"tests of AMQP", "AMQP under ThreadSanitizer", steps.SANITIZER_BUILD}
    assert titles("default", ["contract"]) == {steps.CONTRACT, "contracts of the events"}
    assert titles("default", is_repeated=True) == {step.title for step in plan.modules()}
    assert titles("suite", [steps.CONTAINERS]) == {steps.CONTAINERS, steps.IMAGES}
    assert not titles("suite", [steps.CONTAINERS], containers=False) and not titles("default", ["no such"])


def servers_start_in_any_folder_and_hold_nothing_of_their_starter():
    with tempfile.TemporaryDirectory(prefix="a folder with spaces & more ") as folder, \
            tempfile.TemporaryDirectory() as elsewhere:
        servers, lock = f"{folder}/its servers", f"{elsewhere}/lock"
        run_it = [str(ROOT / "scripts/servers")]
        try:
            # Whoever starts servers under a lock of his own has it back when they run.
            subprocess.run(["flock", lock, *run_it, "start", "--volatile", servers], check=True, capture_output=True,
                           timeout=300)
            subprocess.run(["flock", "-n", lock, "true"], check=True)
            settings = pathlib.Path(servers, "servers.env").read_text()
            assert f"?cacertfile={urllib.parse.quote(servers)}/tls/ca.pem'" in settings, settings
        finally:
            subprocess.run([*run_it, "destroy", servers], check=False, capture_output=True)


def a_test_that_no_step_runs_is_found():
    plan = steps.Plan(ROOT, "/nowhere", "/nowhere", False)
    placed = plan.placed(["SystemTests.Journeys/PaymentTests/pay()", "SystemTests.Nowhere/lost()", "AMQPTests.AdminTests/x()"])
    assert [len(titles) for titles in placed.values()] == [1, 0, 1], placed


TESTS = [counts_of_the_last_line, reports_are_counted_and_nothing_is_no_success,
         a_step_that_hangs_is_ended_with_all_it_started, steps_of_a_killed_run_are_ended, what_must_not_be_said_fails,
         an_obstacle_is_named_and_its_stand_in_runs, a_second_try_counts_and_is_told,
         only_the_tests_that_failed_are_tried_again,
         the_report_shows_the_end_of_a_log_that_names_no_failure,
         nothing_runs_beside_what_measures_time, what_measures_time_bears_those_it_names,
         steps_wait_for_others_and_for_room, a_change_reaches_what_depends_on_it,
         moved_deleted_and_new_files_differ, steps_are_chosen_by_tier_and_word,
         servers_start_in_any_folder_and_hold_nothing_of_their_starter, a_test_that_no_step_runs_is_found]


def main():
    failed = 0
    for test in TESTS:
        try:
            test()
            print(f"ok      {test.__name__.replace('_', ' ')}", flush=True)
        except Exception as problem:  # noqa: BLE001
            failed += 1
            print(f"FAILED  {test.__name__.replace('_', ' ')}: {type(problem).__name__}: {str(problem)[:600]}", flush=True)
    print(f"{len(TESTS) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
