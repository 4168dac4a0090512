"""scripts/changed-services on a repository of its own, with a small target graph and one commit for each case."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from results import Results

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = ROOT / "scripts/changed-services"
ALL = ["analytics", "auth", "transaction", "gateway", "sandbox"]
DEPLOYED = ALL[:4]

PACKAGE = """// swift-tools-version:6.2
import PackageDescription
let contracts = Target.Dependency.product(name: "Contracts", package: "Contracts")
func service(_ name: String, _ more: [Target.Dependency]) -> [Target] {
    [
        .target(name: "\\(name)Service", dependencies: more, path: "Services/\\(name)",
            exclude: ["README.md", "Main.swift", "openapi.yaml"], resources: [.copy("Migrations")]),
        .executableTarget(name: name.lowercased(), dependencies: [.target(name: "\\(name)Service")],
            path: "Services/\\(name)", sources: ["Main.swift"]),
    ]
}
let package = Package(
    name: "sample",
    dependencies: [
        .package(path: "Shared/Contracts"),
        .package(url: "https://example.org/swift-log", from: "1.0.0"),
    ],
    targets: [
        .target(name: "Kit", dependencies: [contracts], path: "Shared/Kit", exclude: ["README.md"]),
        .target(name: "Money", path: "Shared/Money"),
        .executableTarget(name: "sandbox", path: "Services/Sandbox"),
        .executableTarget(name: "bench", dependencies: ["Kit"], path: "scripts/lib/bench"),
        .testTarget(name: "KitTests", dependencies: ["Kit"], path: "Tests/KitTests"),
    ]
        + service("Auth", ["Kit"])
        + service("Transaction", ["Kit", "Money", .product(name: "Logging", package: "swift-log")])
        + service("Analytics", ["Kit"])
)
"""
CONTRACTS = """// swift-tools-version:6.2
import PackageDescription
let package = Package(
    name: "Contracts",
    products: [.library(name: "Contracts", targets: ["Contracts"])],
    targets: [.target(name: "Contracts")]
)
"""
FILES = {
    "Package.swift": PACKAGE, "Shared/Contracts/Package.swift": CONTRACTS, "Shared/Contracts/README.md": "a",
    "Shared/Contracts/Sources/Contracts/Event.swift": "a", "Shared/Kit/Kit.swift": "a", "Shared/Kit/README.md": "a",
    "Shared/Money/Money.swift": "a", "Services/Sandbox/main.swift": "a", "scripts/lib/bench/main.swift": "a",
    "Tests/KitTests/KitTests.swift": "a", "Dockerfile": "a", "README.md": "a", "deploy/gateway/haproxy.cfg": "a",
    "deploy/kubernetes/base/kustomization.yaml": "a", "deploy/kubernetes/base/auth/deployment.yaml": "a",
    "deploy/kubernetes/base/redis/redis.yaml": "a", "deploy/kubernetes/overlays/staging/kustomization.yaml": "a",
    "deploy/kubernetes/README.md": "a",
} | {f"Services/{name}/{file}": "a" for name in ("Auth", "Transaction", "Analytics")
     for file in ("Main.swift", "Handler.swift", "README.md", "openapi.yaml", "Migrations/0001_first.sql")}

# (what is changed, services that differ)
CASES = [
    ("README.md", []),
    ("Services/Auth/README.md", []),
    ("Services/Auth/openapi.yaml", []),
    ("Services/Auth/Handler.swift", ["auth"]),
    ("Services/Auth/Main.swift", ["auth"]),
    ("Services/Auth/Migrations/0001_first.sql", ["auth"]),
    ("Services/Auth/Migrations/0002_second.sql", ["auth"]),
    ("Services/Sandbox/main.swift", ["sandbox"]),
    ("Shared/Money/Money.swift", ["transaction"]),
    ("Shared/Money/More.swift", ["transaction"]),
    ("Shared/Kit/Kit.swift", ["analytics", "auth", "transaction"]),
    ("Shared/Kit/README.md", []),
    ("Shared/Contracts/Sources/Contracts/Event.swift", ["analytics", "auth", "transaction"]),
    ("Shared/Contracts/README.md", []),
    ("Tests/KitTests/KitTests.swift", []),
    ("scripts/lib/bench/main.swift", []),
    ("Dockerfile", ["analytics", "auth", "transaction", "sandbox"]),
    (".dockerignore", ALL),
    ("deploy/gateway/haproxy.cfg", ["gateway"]),
    ("deploy/kubernetes/base/auth/deployment.yaml", ["auth"]),
    ("deploy/kubernetes/base/redis/redis.yaml", []),
    ("deploy/kubernetes/base/kustomization.yaml", ALL),
    ("deploy/kubernetes/overlays/staging/kustomization.yaml", ALL),
    ("deploy/kubernetes/README.md", []),
]
MANIFESTS = [
    ("a newer outside package is its users' alone", 'from: "1.0.0"', 'from: "1.2.0"', ["transaction"]),
    ("a new dependency is that service's alone", 'service("Auth", ["Kit"])', 'service("Auth", ["Kit", "Money"])', ["auth"]),
    ("a comment is nobody's", "let package", "// hello\nlet package", []),
    ("a setting of a shared module is its users'", 'path: "Shared/Money")',
     'path: "Shared/Money", swiftSettings: [.strictMemorySafety()])', ["transaction"]),
    ("newer tools are everybody's", "tools-version:6.2", "tools-version:6.1", ["analytics", "auth", "transaction", "sandbox"]),
]


class Sample:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.git("init", "-q", "-b", "main")
        for path, text in FILES.items():
            self.write(path, text)
        self.first = self.commit()

    def git(self, *arguments):
        identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a",
                    "GIT_COMMITTER_EMAIL": "a@example.org"}
        return subprocess.run(["git", "-C", self.folder, *arguments], capture_output=True, text=True, check=True,
                              env=os.environ | identity).stdout.strip()

    def write(self, path, text):
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "more")
        return self.git("rev-parse", "HEAD")

    def back(self):
        self.git("reset", "-q", "--hard", self.first)

    def run(self, *arguments):
        return subprocess.run([COMMAND, *arguments], cwd=self.folder, capture_output=True, text=True, check=False,
                              timeout=120)


def main():
    results = Results()
    with tempfile.TemporaryDirectory() as folder:
        sample = Sample(folder)
        (sample.folder / ".git/info/exclude").write_text(".build/\n")
        for path, wanted in CASES:
            sample.write(path, "b")
            sample.commit()
            got = sample.run(sample.first)
            results.check(f"{path} is an input of {wanted}", got.stdout.split() == wanted, got.stdout + got.stderr)
            sample.back()
        for title, old, new, wanted in MANIFESTS:
            sample.write("Package.swift", PACKAGE.replace(old, new))
            sample.commit()
            got = sample.run(sample.first)
            results.check(title, got.stdout.split() == wanted, got.stdout + got.stderr)
            sample.back()
        moves(results, sample)
        options(results, sample)
    sys.exit(results.end())


def moves(results, sample):
    (sample.folder / "Services/Auth/Handler.swift").unlink()
    sample.commit()
    results.check("a file that is gone counts", sample.run(sample.first).stdout.split() == ["auth"])
    sample.back()
    (sample.folder / "Services/Auth/Handler.swift").rename(sample.folder / "Services/Analytics/Other.swift")
    head = sample.commit()
    results.check("a file that moved counts at both ends", sample.run(sample.first).stdout.split() == ["analytics", "auth"])
    sample.back()
    results.check("commits count, not the working tree", sample.run(sample.first, head).stdout.split() == ["analytics", "auth"])
    sample.write("Services/Auth/Handler.swift", "c")
    results.check("what is not committed does not count", sample.run(sample.first).stdout == "")
    sample.back()


def options(results, sample):
    nothing = "0" * 40
    results.check("no base is everything", sample.run(nothing).stdout.split() == ALL)
    results.check("as JSON", json.loads(sample.run("--json", nothing).stdout) == ALL)
    results.check("nothing is an empty list", json.loads(sample.run("--json", sample.first).stdout) == [])
    results.check("without what is not deployed", sample.run("--deployed", nothing).stdout.split() == DEPLOYED)
    tag = sample.run("--tag", "auth").stdout.strip()
    tags = json.loads(sample.run("--json", "--tags", nothing).stdout)
    results.check("tags are the same either way", {"service": "auth", "tag": tag} in tags and len(tag) == 24, tags)
    sample.write("deploy/kubernetes/base/auth/deployment.yaml", "b")
    sample.write("Services/Auth/README.md", "b")
    sample.commit()
    results.check("what is not in the image leaves its tag", sample.run("--tag", "auth").stdout.strip() == tag)
    sample.write("Shared/Kit/Kit.swift", "b")
    sample.commit()
    results.check("what is in the image changes its tag", sample.run("--tag", "auth").stdout.strip() != tag)
    told = sample.run("--why", sample.first).stdout
    results.check("why", "Shared/Kit/Kit.swift" in told, told)
    sample.back()
    for arguments in ([], ["nope"], ["a", "b", "c"], ["--bad", "HEAD"], ["--tag"], ["--tag", "nobody"], ["--js", "HEAD"],
                      ["--tags", "HEAD"], ["--tag", "auth", "--json"], ["--", "--upload-pack=x"]):
        got = sample.run(*arguments)
        results.check(f"{arguments} is refused in a sentence",
                      got.returncode == 64 and got.stderr.count("\n") == 1 and not got.stdout, got.stderr)
    sample.write("Package.swift", "// swift-tools-version:6.2\nimport PackageDescription\nlet package = nothing\n")
    sample.commit()
    got = sample.run(sample.first)
    results.check("a manifest that does not compile is refused", got.returncode == 64 and "evaluated" in got.stderr, got.stderr)


main()
