"""The versions of what others wrote: a list for each kind, and what was resolved.

usage: versions.py check <root>                    Swift's packages of .build and Python's of .test/venv against their lists
       versions.py write <root>                    writes the lists of what was resolved; Debian's from .run/images
       versions.py debian <document> <list>        what a bill of materials has other than the list: printed, no failure
"""

import json
import pathlib
import subprocess
import sys

SWIFT = "deploy/docker/swift-versions.txt"
PYTHON = "Tests/Python/versions.txt"
DEBIAN = "deploy/docker/debian-versions.txt"
GATEWAY = "deploy/gateway/debian-versions.txt"
# What every environment of Python has by itself.
TOOLS = ("pip", "setuptools", "wheel")


def listed(path, separator=None):
    """The first two words of each line: who, and in which version."""
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return dict(line.split(separator)[:2] for line in lines if line)


def resolved_swift(root):
    """What is checked out, by identity: version and location."""
    state = json.loads((root / ".build/workspace-state.json").read_text())["object"]
    found = {}
    for dependency in state["dependencies"]:
        package, checkout = dependency["packageRef"], dependency["state"].get("checkoutState")
        if checkout:
            found[package["identity"]] = (checkout.get("version") or checkout["revision"], package["location"])
    return found


def installed_python(root):
    command = [root / ".test/venv/bin/python3", "-m", "pip", "--disable-pip-version-check", "list", "--format", "json"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {entry["name"].lower(): entry["version"] for entry in found if entry["name"].lower() not in TOOLS}


def debian(document):
    """What a bill of materials has of Debian, by name."""
    packages = json.loads(document.read_text())["packages"]
    return {entry["name"]: entry["versionInfo"] for entry in packages if entry["SPDXID"].startswith("SPDXRef-Package-Debian-")}


def differences(wanted, found):
    """A sentence for each name whose versions differ."""
    for name in sorted(wanted.keys() | found.keys()):
        if name not in found:
            yield f"{name} is listed and not there"
        elif name not in wanted:
            yield f"{name} {found[name]} is there and not listed"
        elif wanted[name] != found[name]:
            yield f"{name} is listed as {wanted[name]} and is {found[name]}"


def check(root):
    """Prints what differs, and counts."""
    swift = {identity: version for identity, (version, _) in resolved_swift(root).items()}
    passed = failed = 0
    for path, wanted, found in (
        (SWIFT, listed(root / SWIFT), swift),
        (PYTHON, listed(root / PYTHON, "=="), installed_python(root)),
    ):
        wrong = list(differences(wanted, found))
        for sentence in wrong:
            print(f"FAILED  {path}: {sentence}")
        failed += len(wrong)
        passed += len(wanted.items() & found.items())
    print(f"{passed} passed, {failed} failed")
    return failed == 0


def write(root):
    def put(path, entries):
        head = "".join(line for line in (root / path).read_text().splitlines(True) if line.startswith("#"))
        (root / path).write_text(head + "".join(f"{entry}\n" for entry in entries))
        print(f"{path}: {len(entries)}")

    put(SWIFT, [f"{name} {version} {location}" for name, (version, location) in sorted(resolved_swift(root).items())])
    put(PYTHON, [f"{name}=={version}" for name, version in sorted(installed_python(root).items())])
    images = {document.name.split(".")[0]: debian(document) for document in (root / ".run/images").glob("*.spdx.json")}
    for path, names in ((DEBIAN, images.keys() - {"gateway"}), (GATEWAY, images.keys() & {"gateway"})):
        packages = {name: version for image in sorted(names) for name, version in images[image].items()}
        if packages:
            put(path, [f"{name} {version}" for name, version in sorted(packages.items())])
        else:
            print(f"{path}: left as it is, for there is no image")


def main():
    command, *paths = sys.argv[1:]
    first, *others = map(pathlib.Path, paths)
    if command == "debian":
        for sentence in differences(listed(others[0]), debian(first)):
            print(f"    {first.name.split('.')[0]}: {sentence}")
    elif command == "write":
        write(first)
    elif not check(first):
        sys.exit(1)


if __name__ == "__main__":
    main()
