"""Which steps a change can reach, by the graph of Package.swift and by the files that steps name."""

import functools
import json
import subprocess

# A change of these may reach everything.
EVERYTHING = ("Package.swift", "scripts/test", "scripts/lib/testing/", "scripts/servers", "scripts/lib/postgres.sh",
              "scripts/lib/redis.sh", "scripts/lib/rabbitmq.sh", "scripts/lib/processes.sh", "scripts/bootstrap",
              "scripts/lib/toolchain.sh", "scripts/python", "Shared/Contracts/Package.swift",
              "deploy/docker/swift-versions.txt", "Tests/Python/versions.txt", "Tests/Python/requirements.txt")
# What tests of modules read outside of the modules that they import.
READ_BY_TESTS = {
    "deploy/postgres/": None,
    "deploy/events/": ("ConsoleTests", "ContractsTests", "ContractGateTests", "SystemTests"),
    "deploy/gateway/": ("SystemTests",),
    "deploy/apple/": ("NotificationTests", "SandboxTests", "SystemTests"),
    "Tests/Python/": None,
}


def reached(root, base, steps, say):
    """The steps that a change since a commit can reach; says what is left out."""
    files = changed_files(root, base)
    targets = reached_targets(root, files)
    chosen = [step for step in steps if is_reached(step, files, targets)]
    say(f"{len(files)} files differ from {base}: {', '.join(files[:12])}{', ...' if len(files) > 12 else ''}")
    left = [step.title for step in steps if step not in chosen]
    say(f"runs {len(chosen)} of {len(steps)} steps; left out: {', '.join(left) or 'nothing'}")
    return chosen


def is_reached(step, files, targets):
    return step.target in targets or any(is_under(file, (*EVERYTHING, *step.files)) for file in files)


def changed_files(root, base):
    def git(*words):
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{base} is no commit of this repository")
        return [line for line in done.stdout.split("\0") if line]

    # A file that was moved differs at both places.
    differ = git("diff", "--name-only", "--no-renames", "-z", "--end-of-options", base)
    return sorted({*differ, *git("ls-files", "--others", "--exclude-standard", "-z")})


def is_under(file, places):
    return any(file == place or place == "" or place.endswith("/") and file.startswith(place) for place in places)


def reached_targets(root, files):
    """The test targets that depend on a target which owns one of the files, or that read one."""
    targets = {**described(root / "Shared/Contracts", "Shared/Contracts/"), **described(root, "")}
    owned = {name for name, (path, _) in targets.items() if any(is_under(file, (path,)) for file in files)}
    changed = True
    while changed:
        more = {name for name, (_, needs) in targets.items() if needs & owned} - owned
        owned, changed = owned | more, bool(more)
    readers = set()
    for place, tests in READ_BY_TESTS.items():
        if any(is_under(file, (place,)) for file in files):
            readers |= set(tests or [name for name in targets if name.endswith("Tests")])
    return owned | readers


@functools.cache
def described(folder, prefix):
    """name -> (its folder in the repository, what it depends on) of each target of a package."""
    dumped = subprocess.run(["swift", "package", "dump-package"], cwd=folder, capture_output=True, text=True, check=True)
    targets = {}
    for target in json.loads(dumped.stdout)["targets"]:
        needs = {next(iter(dependency.values()))[0] for dependency in target["dependencies"]}
        path = target.get("path") or f"{'Tests' if target['type'] == 'test' else 'Sources'}/{target['name']}"
        targets[target["name"]] = (f"{prefix}{path}/", needs)
    return targets
