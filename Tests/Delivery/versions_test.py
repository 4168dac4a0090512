"""The versions of packages: the list is kept to, and what differs from it is noticed. On repositories of its own."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from results import Results

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESOLVE = ROOT / "deploy/docker/resolve.sh"


def git(folder, *arguments):
    names = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a",
             "GIT_COMMITTER_EMAIL": "a@example.org"}
    done = subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, text=True,
                          env=os.environ | names)
    return done.stdout.strip()


def package(folder, name):
    """A repository whose version 1.0.0 is a plain tag and whose version 1.1.0 has an author."""
    place = folder / name
    place.mkdir()
    git(place, "init", "-q")
    commits = {}
    for version, options in (("1.0.0", ()), ("1.1.0", ("-a", "-m", "a"))):
        git(place, "commit", "-q", "--allow-empty", "-m", version)
        git(place, "tag", *options, version)
        commits[version] = git(place, "rev-parse", "HEAD")
    return place, commits


def resolve(folder, *lines):
    (folder / "list.txt").write_text("".join(f"{line}\n" for line in lines))
    return subprocess.run([RESOLVE, folder / "list.txt"], capture_output=True, text=True)


def resolving(results, folder):
    one, commits = package(folder, "one")
    two, others = package(folder, "two")
    done = resolve(folder, "# Whose, in which version, from where.", f"one 1.0.0 {one}", f"two 1.1.0 {two}")
    pins = {pin["identity"]: pin for pin in json.loads(done.stdout)["pins"]}
    results.check("a plain tag", pins["one"]["state"] == {"revision": commits["1.0.0"], "version": "1.0.0"}, pins)
    results.check("a tag with an author is its commit", pins["two"]["state"]["revision"] == others["1.1.0"], pins)
    results.check("from where", pins["two"]["location"] == str(two), pins)
    for case, line, wanted in (("a version that is nowhere", f"one 1.2.0 {one}", "has no version 1.2.0"),
                               ("a repository that is nowhere", f"one 1.0.0 {folder}/three", "three")):
        done = resolve(folder, f"two 1.0.0 {two}", line)
        results.check(f"{case} is refused", done.returncode == 1 and wanted in done.stderr and not done.stdout, done.stderr)
    kept_to(results, folder, two)


def kept_to(results, folder, dependency):
    """The package manager itself takes what is listed, though the manifest allows more."""
    (dependency / "Package.swift").write_text(
        "// swift-tools-version:6.2\nimport PackageDescription\n"
        'let package = Package(name: "two", products: [.library(name: "Two", targets: ["Two"])], targets: [.target(name: "Two")])\n'
    )
    (dependency / "Sources/Two").mkdir(parents=True)
    (dependency / "Sources/Two/Two.swift").write_text("public let two = 2\n")
    git(dependency, "add", "-A")
    for version in ("1.2.0", "1.3.0"):
        git(dependency, "commit", "-q", "--allow-empty", "-m", version)
        git(dependency, "tag", version)
    user = folder / "user"
    user.mkdir()
    (user / "Package.swift").write_text(
        "// swift-tools-version:6.2\nimport PackageDescription\n"
        f'let package = Package(name: "user", dependencies: [.package(url: "file://{dependency}", from: "1.0.0")], '
        'targets: [.target(name: "User", dependencies: [.product(name: "Two", package: "two")])])\n'
    )
    (user / "Sources/User").mkdir(parents=True)
    (user / "Sources/User/User.swift").write_text("public let user = 1\n")
    (user / "Package.resolved").write_text(resolve(folder, f"two 1.2.0 file://{dependency}").stdout)
    subprocess.run(["swift", "package", "--package-path", user, "--disable-sandbox", "resolve"], check=True, capture_output=True)
    state = json.loads((user / ".build/workspace-state.json").read_text())["object"]["dependencies"]
    versions = [dependency["state"]["checkoutState"]["version"] for dependency in state]
    results.check("the package manager takes the listed version, not the newest", versions == ["1.2.0"], versions)


def checking(results, folder):
    """The check on a copy of what it reads, with one thing changed at a time."""
    state = json.loads((ROOT / ".build/workspace-state.json").read_text())
    lists = ("deploy/docker/swift-versions.txt", "Tests/Python/versions.txt")
    for path in lists:
        (folder / path).parent.mkdir(parents=True)
        shutil.copy(ROOT / path, folder / path)
    (folder / ".build").mkdir()
    (folder / ".build/workspace-state.json").write_text(json.dumps(state))
    (folder / ".test").mkdir()
    (folder / ".test/venv").symlink_to(ROOT / ".test/venv")

    def failures():
        command = ["python3", "-B", ROOT / "scripts/lib/versions.py", "check", folder]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, [line for line in done.stdout.splitlines() if line.startswith("FAILED")]

    results.check("all is as listed", failures() == (0, []), failures())
    for path in lists:
        text = (folder / path).read_text()
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        for case, changed, wanted in (
            ("what is not listed", text.replace(lines[0] + "\n", ""), "not listed"),
            ("what is listed and not there", text + lines[0].replace(lines[0][0], "zz", 1) + "\n", "not there"),
            ("another version", text.replace(lines[0], lines[0].replace(".", ".9", 1)), "and is"),
        ):
            (folder / path).write_text(changed)
            code, found = failures()
            results.check(f"{path}: {case} fails", code == 1 and len(found) == 1 and wanted in found[0], found)
        (folder / path).write_text(text)


def debian(results, folder):
    """A newer package of Debian is told and fails nothing."""
    packages = [{"SPDXID": f"SPDXRef-Package-{kind}", "name": name, "versionInfo": version}
                for kind, name, version in (("Debian-libssl3", "libssl3", "3.0.16-1"), ("Debian-bash", "bash", "5.2"),
                                            ("Swift-swift-log", "swift-log", "1.0"))]
    (folder / "auth.spdx.json").write_text(json.dumps({"packages": packages}))
    (folder / "debian.txt").write_text("# Debian's\nbash 5.2\nlibssl3 3.0.15-1\n")
    command = ["python3", "-B", ROOT / "scripts/lib/versions.py", "debian", folder / "auth.spdx.json", folder / "debian.txt"]
    done = subprocess.run(command, capture_output=True, text=True)
    told = done.stdout.strip()
    results.check("Debian's newer version is told", told == "auth: libssl3 is listed as 3.0.15-1 and is 3.0.16-1", told)
    results.check("and fails nothing", done.returncode == 0, done.stderr)


def main():
    results = Results()
    for part in (resolving, checking, debian):
        with tempfile.TemporaryDirectory() as folder:
            part(results, pathlib.Path(folder).resolve())
    sys.exit(results.end())


main()
