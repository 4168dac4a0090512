"""What a run of the tests consists of: every test, check and mutation stands in exactly one step, in exactly one tier."""

import dataclasses
import pathlib
import re

TIERS = ("default", "suite", "full")
# The modules of layers 0 to 4 that have tests; scripts/lib/thread-sanitizer/Package.swift builds them.
SANITIZED = ("EventLoops", "Cryptography", "Primitives", "Postgres", "AMQP", "Redis", "OutgoingHTTP", "Contracts",
             "Messaging")
# How many tests of a module run at once: more than cores, because they mostly wait for servers.
WIDTH = 8
# How much of the machine the tests of a module take, in cores of two, where it is not all of them: these mostly wait.
WAITING = {"AMQP": 0.5, "Documents": 0.5, "EventLoops": 0.5, "ObjectStorage": 0.3, "Postgres": 0.8,
           "Sandbox": 0.3, "ServiceKit": 0.8, "Messaging": 1.4, "Tidy": 0.8}
# By module: a proxy that does not answer, for what must not heed it.
PROXIED = {"OutgoingHTTP": tuple((name, "http://127.0.0.1:1") for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"))}
MUTATIONS = "mutations of money rules"
CONTRACT = "contract"
IMAGES = "images of built executables"
SANITIZER_BUILD = "build with ThreadSanitizer"
CONTAINERS = "the suite in containers"
FAULTS_ON_PROCESSES = "faults on processes"
SERVICE_FAULTS = "faults of single services"
# compose-test ends with it when no engine can be had that runs the suite.
NO_ENGINE = 75
# How a money test is named, and a mutation.
STORY = re.compile(r'^@story\("([^"]+)"', re.MULTILINE)
MUTATION = re.compile(r"^mutation: (\w+)$", re.MULTILINE)
MONEY_FILES = ("Services/Transaction/Migrations/", "Services/Transaction/Functions/", "Shared/Messaging/Migrations/",
               "Shared/Messaging/Functions/", "Tests/LedgerTests/", "deploy/events/asyncapi.json")


@dataclasses.dataclass(frozen=True)
class Step:
    """One command of a run, and how its outcome is counted."""

    title: str
    tier: str
    command: tuple
    # Of the machine; what is above the number of cores runs alone.
    cores: float = 1.0
    # Whether times are measured in it: nothing runs beside it.
    alone: bool = False
    # Titles of steps that may run beside it all the same: they mostly wait, and so does it.
    beside: tuple = ()
    # Titles of steps whose end it waits for where they run, and of those that make what it uses: they run with it.
    after: tuple = ()
    needs: tuple = ()
    # The test target of Package.swift whose modules it reaches, for --changed.
    target: str = ""
    # What else it depends on: paths, and folders that end with a slash.
    files: tuple = ()
    # Whether the command writes an xunit report to the path that follows --xunit-output.
    reports: bool = False
    # The words that follow those of a command without --filter, so that it runs the Swift tests of its part alone that the
    # variable names, as a pattern; where their report is; and how the variable is called.
    apart: tuple = ()
    part: str = ""
    pattern: str = ""
    # How many of its tests run at once.
    width: int = 1
    minutes: int = 40
    environment: tuple = ()
    # What its output must not say, whatever it counts.
    forbidden: str = ""
    # The exit code with which it says that this machine cannot do it, and the step that then runs in its place.
    hindered: int = 0
    instead: str = ""

    def bears(self, other):
        """Whether both may run at the same time, if there is room."""
        return not (self.alone or other.alone) or other.title in self.beside or self.title in other.beside

    @property
    def slug(self):
        return "".join(c if c.isalnum() else "-" for c in self.title).strip("-")

    @property
    def report(self):
        """Where the report of its Swift tests is, or None."""
        path = self.command[self.command.index("--xunit-output") + 1] if self.reports else self.part
        return pathlib.Path(path) if path else None

    def narrowed(self, tests):
        """The step that runs only these of its Swift tests, each a (suite, name) as its report has it."""
        names = (re.escape(f"{suite}/{name}").replace(r"\.", "[./]") for suite, name in tests)
        pattern = f"^({'|'.join(names)})"
        if self.reports:
            command = (*self.command[:self.command.index("--filter")], "--filter", pattern)
            return dataclasses.replace(self, command=command)
        return dataclasses.replace(self, command=(*self.command[:1], *self.apart),
                                   environment=(*self.environment, (self.pattern, pattern)))


class Plan:
    """The steps of this repository, in the order in which they are begun when there is room."""

    def __init__(self, root, binaries, python, long):
        self.root, self.binaries, self.python, self.long = pathlib.Path(root), binaries, python, long
        self.work = self.root / ".test"

    def steps(self):
        return (*self.modules(), *self.money(), *self.system(), *self.checks(), *self.containers(), *self.long_runs())

    def chosen(self, tier, words=(), is_repeated=False, containers=True):
        """The steps of a run: of a tier and those below it; with words those alone whose title has one, of the suite too."""
        highest = "suite" if words and tier == "default" else tier
        tiers = TIERS[: TIERS.index(highest) + 1]
        able = [step for step in self.steps() if step.tier in tiers and (containers or not step.hindered)]
        if is_repeated:
            modules = tuple(self.modules())
            able = [step for step in able if step in modules]
        if not words:
            return able
        named = [step for step in able if any(word in step.title for word in words)]
        needed = {title for step in named for title in step.needs}
        return [step for step in able if step in named or step.title in needed]

    def placed(self, tests):
        """The titles of the steps that run each of these Swift tests, the sanitizer left out."""
        own = [step for step in self.steps() if step.reports and "ThreadSanitizer" not in step.title]
        return {test: [step.title for step in own if runs(step, test)] for test in tests}

    def listed(self, tests):
        """(tier, step, test) of all that can be named without being run; a check by its step alone."""
        for step in self.steps():
            if step.reports:
                names = [test for test in tests if runs(step, test)]
            elif step.title == MUTATIONS:
                files = sorted(self.root.glob("Tests/Mutations/rules/*.mutations"))
                names = [name for file in files for name in MUTATION.findall(file.read_text())]
            else:
                names = STORY.findall(pathlib.Path(step.command[-1]).read_text()) if step.command[-1].endswith("_test.py") \
                    else []
            yield from ((step.tier, step.title, name) for name in names or ["-"])

    # Swift

    def swift(self, name, title, tier, filters, width=1, **more):
        parallel = ("--parallel", "--experimental-maximum-parallelization-width", str(width)) if width > 1 \
            else ("--no-parallel",)
        report = self.work / "results" / f"{name}.xml"
        environment = (("LLVM_PROFILE_FILE", f"{self.work}/profiles/{name}-%p.profraw"),)
        command = (str(self.root / "scripts/lib/built-tests"), str(self.binaries), "--xunit-output", str(report),
                   "--event-stream-version", "0", "--event-stream-output-path", str(report.with_suffix(".events")),
                   *parallel, *filters)
        return Step(title, tier, command, reports=True, width=width, environment=environment, **more)

    def modules(self):
        for folder in sorted(self.root.glob("Tests/*Tests")):
            module = folder.name.removesuffix("Tests")
            if module != "System" and any(folder.glob("*.swift")):
                step = self.swift(folder.name, f"tests of {module}", "default", ("--filter", f"^{folder.name}\\."), WIDTH,
                                  cores=WAITING.get(module, 1.8), target=folder.name,
                                  files=("",) if module == "Tidy" else ())
                yield dataclasses.replace(step, environment=(*step.environment, *PROXIED.get(module, ())))

    def system(self):
        """Services as processes. Journeys share one suite and run side by side; faults take turns."""
        yield self.suites("journeys", "journeys on processes", "default", "Journeys", 4, cores=1.1)
        yield self.suites("tools", "tools", "default", "Tools", 4)
        yield self.suites("probes", "probes of every endpoint", "suite", "Probes", cores=1.5)
        yield self.suites("faults", FAULTS_ON_PROCESSES, "suite", "Faults", alone=True)
        yield self.suites("service-faults", SERVICE_FAULTS, "suite", "(ServiceFaults|LabelledCrashes)", alone=True)

    def suites(self, name, title, tier, suite, width=1, **more):
        return self.swift(name, title, tier, ("--filter", f"^SystemTests\\.{suite}/"), width, target="SystemTests",
                          files=("Services/", "Shared/"), **more)

    # Everything else

    def program(self, title, tier, *command, **more):
        return Step(title, tier, tuple(str(word) for word in command), **more)

    def script(self, title, tier, *words, **more):
        return self.program(title, tier, self.root / "scripts" / words[0], *words[1:], **more)

    def money(self):
        tests = sorted(self.root.glob("Tests/LedgerTests/*_test.py"))
        for file in tests:
            yield self.program(f"money test {file.stem}", "default", self.python, file, files=MONEY_FILES,
                               cores=1.1 if file.stem == "differential_test" else 0.8)
        yield self.program(MUTATIONS, "default", self.python, self.root / "Tests/Mutations/run", cores=1.2, minutes=60,
                           files=(*MONEY_FILES, "Tests/Mutations/"))

    def checks(self):
        api = ("Services/", "Shared/ServiceKit/openapi.yaml", "deploy/gateway/", "scripts/lib/openapi.py",
               "scripts/lib/openapi_tools.py", "Tests/OpenAPITests/")
        deploy = ("deploy/", "scripts/lib/manifests/", "scripts/lib/observability/", "scripts/lib/delivery/", ".github/")
        yield self.program("this runner", "default", self.python, self.root / "Tests/Testing/testing_test.py", cores=0.5,
                           files=("Tests/Testing/",))
        yield self.script("lint", "default", "lint", cores=1.5, files=("",))
        yield self.script("versions of packages", "default", "versions", "check", cores=0.5)
        yield self.script("descriptions of the API", "default", "openapi", "test", cores=0.7, files=api)
        yield self.script("contracts of the events", "default", "events", "check", cores=0.7,
                          files=("Shared/Contracts/", "Shared/ContractGate/", "deploy/events/"))
        for name in ("check", "history"):
            yield self.script(f"migrations, {name}", "default", "migrations", name, cores=0.7,
                              files=(*self.schemas(), "deploy/postgres/", "scripts/lib/delivery/", "scripts/migrations"))
        yield self.script("gateway, check", "default", "gateway", "check", cores=0.7, files=(*api, "scripts/lib/gateway.py"))
        for name in ("observability", "manifests", "delivery"):
            yield self.script(f"{name}, check", "default", name, "check", cores=0.7, files=("Services/", *deploy))
            yield self.script(f"{name}, test", "suite", name, "test", cores=1.1, files=deploy)
        yield self.program("reads among 50000 transactions", "suite", self.root / "Tests/Reads/run", "--transactions", 50000,
                           files=("Services/", "Shared/", "Tests/Reads/"))
        yield self.program("clients made of the description", "suite", self.root / "Tests/Clients/run", cores=0.8, minutes=10,
                           files=("Services/", "Shared/", "deploy/gateway/", "Tests/Clients/", "Tests/Contract/suite.py"))
        yield from self.repetitions()
        yield self.script(CONTRACT, "suite", "contract", *(("--full",) if self.long else ()), cores=1.5, minutes=60,
                          files=("Services/", "Shared/", "Tests/Contract/"))

    def repetitions(self):
        """What has a key, and events, come more than once."""
        run, files = self.root / "Tests/Idempotency/run", ("Services/", "Shared/", "deploy/gateway/", "Tests/Idempotency/")
        yield self.program("what comes twice", "suite", run, "storm", "--requests", 600, cores=1.5, files=files)
        yield self.program("what comes twice, with faults", "suite", run, "faults", "--races", 100, "--injections", 2, cores=1.5,
                           files=files)
        yield self.program("events that come again", "suite", run, "redelivered", "--events", 3000, files=files)

    def schemas(self):
        """The folders of SQL that make the databases."""
        found = [*self.root.glob("S*/*/Migrations"), *self.root.glob("S*/*/Functions")]
        return [f"{folder.relative_to(self.root)}/" for folder in sorted(found)]

    # Containers: the images are made beside other steps, the suite in them has but one other step beside it

    def containers(self):
        files = ("Services/", "Shared/", "Dockerfile", "docker-compose.yml", "deploy/docker/", "deploy/gateway/", "deploy/apple/",
                 "Tests/Compose/", "scripts/compose-test", "scripts/images", "scripts/lib/compose.sh",
                 "scripts/lib/docker.sh")
        built = (("TRANSFA_BINARIES", str(self.binaries)),)
        faults = (("COMPOSE_TESTS", "^SystemTests\\.Faults/"), ("COMPOSE_RATE", "60"))
        yield self.script(IMAGES, "suite", "compose-test", "--images", environment=built, hindered=NO_ENGINE, minutes=30,
                          files=files)
        yield self.script(CONTAINERS, "suite", "compose-test", "transaction", environment=(*built, *faults), alone=True,
                          beside=(SERVICE_FAULTS,), needs=(IMAGES,), hindered=NO_ENGINE, instead=FAULTS_ON_PROCESSES, minutes=40,
                          files=files, apart=("--tests",), part=str(self.work / "compose/system.xml"),
                          pattern="COMPOSE_TESTS")

    def long_runs(self):
        yield self.script("containers of a release", "full", "compose-test", "--release",
                          environment=(("TRANSFA_BINARIES", str(self.binaries)),), alone=True, hindered=NO_ENGINE,
                          after=(CONTAINERS,), minutes=150)
        yield self.program("reads among 1000000 transactions", "full", self.root / "Tests/Reads/run", "--transactions",
                           1000000, alone=True, minutes=90)
        twice = self.root / "Tests/Idempotency/run"
        for words in (("storm", "--requests", 50_000), ("faults", "--races", 20_000, "--injections", 50),
                      ("redelivered", "--events", 200_000)):
            yield self.program(f"long run of {words[0]}, {words[2]}", "full", twice, *words, alone=True, minutes=120)
        yield self.script("long run of load and faults, 120 minutes", "full", "long-load-test",
                          environment=(("TRANSFA_BINARIES", str(self.binaries)),), alone=True, minutes=200)
        yield self.program(SANITIZER_BUILD, "full", self.root / "scripts/lib/thread-sanitizer/build", self.work, cores=2,
                           minutes=90)
        for module in SANITIZED:
            yield self.sanitized(module)

    def sanitized(self, module):
        """Everything runs several times slower: more patience, fewer tests at once, and no long fault runs."""
        options = f"halt_on_error=0 exitcode=66 suppressions={self.root}/scripts/lib/thread-sanitizer/suppressions.txt"
        tests = self.swift(f"sanitized-{module}", f"{module} under ThreadSanitizer", "full",
                           ("--filter", f"^{module}Tests\\."), 4, needs=(SANITIZER_BUILD,), cores=2, minutes=90)
        environment = (("TRANSFA_TEST_LONG", ""), ("TRANSFA_TEST_SLOWNESS", "5"), ("TSAN_OPTIONS", options),
                       *PROXIED.get(module, ()))
        command = (tests.command[0], str(self.work / "sanitized"), *tests.command[2:])
        return dataclasses.replace(tests, command=command, environment=environment, forbidden="WARNING: ThreadSanitizer")


def runs(step, test):
    words = list(zip(step.command, step.command[1:]))
    return any(name == "--filter" and re.search(word, test) for name, word in words)
