"""Which services' inputs differ between two commits.

usage: scripts/changed-services [--json] [--tags] [--deployed] [--why] <base> [<head>]    (head is HEAD if not given)
       scripts/changed-services --tag <service> [<head>]     what the image of these inputs is called
       scripts/changed-services test                         tries all this on a repository of its own
       --json       as one line, for a matrix; with --tags: [{"service": "auth", "tag": "..."}, ...]
       --why        with what differs
       --deployed   without sandbox and transfactl
       A base of 40 zeros is no commit: every service differs.
"""

import argparse
import functools
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

NO_COMMIT = "0" * 40
# Files that go into every image of a service, and into the image of the gateway.
IMAGE = ("Dockerfile", ".dockerignore", "deploy/docker/")
GATEWAY = ("deploy/gateway/", ".dockerignore")
KUBERNETES = "deploy/kubernetes/"
# Who hears comes before who tells, so that nobody is told what he cannot read; the gateway comes last.
ORDER = ("console", "analytics", "notification", "subscription", "account", "customer", "auth", "transaction")


# What makes a target; the rest of what is known of it depends on who asks.
TARGET = ("name", "type", "path", "sources", "exclude", "resources", "dependencies", "settings", "pkgConfig")


class Refusal(Exception):
    """What is wrong with the arguments or the commits, in one sentence."""


class Repository:
    """Commits, read from the objects of git: the working tree does not count."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def git(self, *arguments, text=True):
        done = subprocess.run(["git", "-C", str(self.folder), *arguments], capture_output=True, text=text, check=False)
        if done.returncode != 0:
            message = done.stderr if text else done.stderr.decode()
            raise Refusal(f"git {arguments[0]} failed: {(message.strip() or 'no reason given').splitlines()[0]}")
        return done.stdout

    def commit(self, name):
        try:
            return self.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").strip()
        except Refusal:
            raise Refusal(f"{name} is no commit of this repository (a shallow clone has only the newest)") from None

    def tree(self, commit):
        """The files of a commit: path -> mode and blob. A file that becomes executable differs."""
        listed = self.git("ls-tree", "-r", "-z", commit)
        entries = (entry.split("\t", 1) for entry in listed.split("\0") if entry)
        return {path: " ".join(meta.split()[::2]) for meta, path in entries}

    def manifest(self, tree, path):
        """What the package manager makes of a Package.swift. Evaluated once for each content."""
        blob = tree[path].split()[1]
        kept = self.folder / ".build" / "manifests" / f"{blob}.json"
        if kept.exists():
            return json.loads(kept.read_text())
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder).resolve()
            (here / "Package.swift").write_bytes(self.git("cat-file", "blob", blob, text=False))
            done = subprocess.run(["swift", "package", "dump-package"], cwd=here, capture_output=True, text=True,
                                  check=False)
            if done.returncode != 0:
                raise Refusal(f"{path} cannot be evaluated: {(done.stderr.strip() or 'no reason').splitlines()[-1]}")
            # Paths of local packages must not hold the name of this folder.
            manifest = json.loads(done.stdout.replace(f"{here}/".replace("/", "\\/"), "").replace(f"{here}/", ""))
        kept.parent.mkdir(parents=True, exist_ok=True)
        written = kept.with_suffix(f".{os.getpid()}")
        written.write_text(json.dumps(manifest))
        written.replace(kept)
        return manifest


class Package:
    """The target graph of one Package.swift, and of the local packages that it depends on."""

    def __init__(self, repository, tree, folder=""):
        path = f"{folder}Package.swift"
        if path not in tree:
            raise Refusal(f"{path} is missing in a commit")
        self.folder = folder
        self.manifest = repository.manifest(tree, path)
        self.targets = {target["name"]: target for target in self.manifest["targets"]}
        self.outside, self.local = {}, {}
        for dependency in self.manifest["dependencies"]:
            for kind, records in dependency.items():
                for record in records:
                    if kind == "fileSystem":
                        self.local[record["identity"]] = Package(repository, tree, f"{folder}{record['path']}/")
                    else:
                        self.outside[record["identity"]] = record

    def executables(self):
        return [target["name"] for target in self.manifest["targets"]
                if target["type"] == "executable" and self.path(target).startswith("Services/")]

    def path(self, target):
        return target.get("path") or f"Sources/{target['name']}"

    def reached(self, name):
        """All that a target is made of: (package, target or the record of an outside package)."""
        found, waiting = {}, [(self, name)]
        while waiting:
            package, name = waiting.pop()
            key = (package.folder, name)
            if key in found:
                continue
            target = package.targets[name]
            found[key] = (package, target)
            for dependency in target["dependencies"]:
                waiting += package.inside(dependency, found)
        return list(found.values())

    def inside(self, dependency, found):
        kind, (name, *more) = next(iter(dependency.items()))
        if kind in ("target", "byName") and name in self.targets:
            return [(self, name)]
        package = more[0] if kind == "product" and more[0] else name
        identity = package.lower()
        if identity in self.local:
            other = self.local[identity]
            product = next((p for p in other.manifest["products"] if p["name"] == name), None)
            if product is None:
                raise Refusal(f"{other.folder}Package.swift has no product {name}")
            return [(other, target) for target in product["targets"]]
        if identity not in self.outside:
            raise Refusal(f"{self.folder}Package.swift does not say where {name} comes from")
        found[("outside", identity)] = (self, {"outside": self.outside[identity]})
        return []

    def owns(self, target, path):
        """Whether a file is compiled into a target, or copied into it."""
        base = f"{self.folder}{self.path(target)}/"
        if not path.startswith(base):
            return False
        rest = path[len(base):]

        def among(names):
            return any(rest == name or rest.startswith(f"{name.rstrip('/')}/") for name in names)

        if among(target.get("exclude", [])):
            return False
        sources = target.get("sources")
        return sources is None or among(sources) or among(resource["path"] for resource in target["resources"])


class Commit:
    """What each service of a commit is made of."""

    def __init__(self, repository, name):
        self.tree = repository.tree(repository.commit(name))
        self.package = Package(repository, self.tree)

    @functools.cached_property
    def services(self):
        found = self.package.executables()
        if "deploy/gateway/haproxy.cfg" in self.tree:
            found.append("gateway")
        return sorted(found, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))

    def deployed(self, service):
        if service == "gateway":
            return True
        own = [target for _, target in self.package.reached(service) if target.get("path", "").startswith("Services/")]
        return any("Migrations" in resource["path"] for target in own for resource in target["resources"])

    def under(self, *places):
        return {path: blob for path, blob in self.tree.items()
                if any(path == place or place.endswith("/") and path.startswith(place) for place in places)}

    def image(self, service):
        """Whatever the image is made of: name -> content."""
        if service == "gateway":
            return {path: blob for path, blob in self.under(*GATEWAY).items() if not path.endswith(".md")}
        inputs = self.under(*IMAGE)
        reached = self.package.reached(service)
        targets = [(package, target) for package, target in reached if "outside" not in target]
        for path, blob in self.tree.items():
            if any(package.owns(target, path) for package, target in targets):
                inputs[path] = blob
        for package, target in reached:
            outside = target.get("outside")
            name = outside["identity"] if outside else target["name"]
            facts = {"location": outside["location"], "requirement": outside["requirement"]} if outside else \
                {key: target[key] for key in TARGET if key in target}
            inputs[f"{package.folder}Package.swift: {name}"] = json.dumps(facts, sort_keys=True)
            inputs[f"{package.folder}Package.swift: tools"] = package.manifest["toolsVersion"]["_version"]
        return inputs

    def settings(self, service):
        """What a rollout applies beside the image: its own manifests, and those of all."""
        return {path: blob for path, blob in self.under(KUBERNETES).items() if not path.endswith(".md") and (
            path.startswith((f"{KUBERNETES}base/{service}/", f"{KUBERNETES}overlays/"))
            or path.startswith(f"{KUBERNETES}base/") and path.count("/") == 3)}


def changed(repository, base, head):
    """(service, what differs) in the order of a rollout."""
    after = Commit(repository, head)
    before = None if base == NO_COMMIT else Commit(repository, base)
    for service in after.services:
        new = after.image(service) | after.settings(service)
        old = before.image(service) | before.settings(service) if before and service in before.services else {}
        differing = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
        if differing:
            yield service, differing, after.deployed(service)


def tag(repository, service, head):
    commit = Commit(repository, head)
    if service not in commit.services:
        raise Refusal(f"{service} is none of {', '.join(commit.services)}")
    return tag_of(commit, service)


def tag_of(commit, service):
    inputs = json.dumps(commit.image(service), sort_keys=True)
    return hashlib.sha256(inputs.encode()).hexdigest()[:24]


class Arguments(argparse.ArgumentParser):
    def error(self, message):
        raise Refusal(message)


def run(arguments):
    parser = Arguments(prog="changed-services", add_help=False, allow_abbrev=False)
    parser.add_argument("--help", "-h", action="store_true")
    for option in ("--json", "--tags", "--deployed", "--why"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("--tag")
    parser.add_argument("commits", nargs="*")
    options = parser.parse_args(arguments)
    if options.help:
        print(__doc__.strip())
        return
    repository = Repository(subprocess.run(["git", "rev-parse", "--show-toplevel"], capture_output=True, text=True,
                                           check=False).stdout.strip() or ".")
    if options.tag is not None:
        if len(options.commits) > 1 or options.json or options.tags or options.deployed or options.why:
            raise Refusal("--tag takes a service and at most one commit")
        print(tag(repository, options.tag, (options.commits or ["HEAD"])[0]))
        return
    if not 1 <= len(options.commits) <= 2:
        raise Refusal("a base and at most one head are needed: changed-services <base> [<head>]")
    found = [(service, why) for service, why, deployed in changed(repository, *(options.commits + ["HEAD"])[:2])
             if deployed or not options.deployed]
    if options.tags and (not options.json or options.why):
        raise Refusal("--tags goes with --json, and --why without")
    if options.json:
        head = Commit(repository, (options.commits + ["HEAD"])[1]) if options.tags and found else None
        names = [service for service, _ in found]
        print(json.dumps([{"service": name, "tag": tag_of(head, name)} for name in names] if head else names))
        return
    for service, why in found:
        more = f", and {len(why) - 3} more" if len(why) > 3 else ""
        print(f"{service:<14}{', '.join(why[:3])}{more}" if options.why else service)


def main():
    try:
        run(sys.argv[1:])
    except Refusal as refusal:
        print(f"changed-services: {refusal}", file=sys.stderr)
        sys.exit(64)


if __name__ == "__main__":
    main()
