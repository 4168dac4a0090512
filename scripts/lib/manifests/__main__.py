"""Renders and checks every overlay of deploy/kubernetes; see scripts/manifests.

manifests <root> <folder of schemas> <kubectl>...
"""

import os
import pathlib
import sys

import rendering
import rules
import suite
import validation
from cluster import Cluster

SHOWN = 20


class Checks:
    """Prints each check and counts."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, title, problems):
        problems = list(problems)
        print(f"{'FAILED' if problems else 'ok    '}  {title}")
        for problem in problems[:SHOWN]:
            print(f"            {problem}")
        if len(problems) > SHOWN:
            print(f"            and {len(problems) - SHOWN} more")
        self.failed += bool(problems)
        self.passed += not problems
        return not problems


def check_documents(checks, code, binaries):
    """The reader of the sources, against what built services say of themselves."""
    for service in code.services:
        read = {name: (one.is_required, one.is_secret) for name, one in code.settings(service).items()}
        said = suite.documented(f"{binaries}/{service}")
        checks.check(
            f"settings of {service}: the sources as we read them say what the binary says",
            [
                f"{name}: read as (required, secret) {read.get(name)}, said {said.get(name)}"
                for name in sorted(read.keys() | said.keys())
                if read.get(name) != said.get(name)
            ],
        )


def render_everywhere(checks, overlay, kubectls):
    """As the first kubectl renders it; None when it cannot. The others must give the same."""
    first = None
    for kubectl in kubectls:
        named = f"kubectl {rendering.version(kubectl)}"
        try:
            objects = rendering.render(kubectl, overlay)
        except rendering.Unrenderable as error:
            checks.check(f"{overlay.name}: rendered by {named}", [str(error)[:500]])
            continue
        if first is None:
            first = objects
            checks.check(f"{overlay.name}: rendered by {named}, {len(objects)} objects", [])
        else:
            checks.check(f"{overlay.name}: rendered the same by {named}", rendering.differences(first, objects))
    return first


def check_schemas(checks, overlay, objects, schemas):
    built_in = [item for item in objects if validation.is_built_in(item)]
    custom = [item for item in objects if not validation.is_built_in(item)]
    for version in validation.versions():
        checks.check(
            f"{overlay}: {len(built_in)} objects keep the schemas of Kubernetes {version}",
            (problem for item in built_in for problem in validation.built_in_problems(item, version)),
        )
    if schemas.is_dir():
        checks.check(
            f"{overlay}: {len(custom)} custom objects keep the schemas of their operators",
            (problem for item in custom for problem in validation.custom_problems(item, schemas)),
        )
    else:
        print(f"skipped {overlay}: {len(custom)} custom objects: there is no folder {schemas} with their schemas")


def check_overlay(checks, overlay, code, kubectls, schemas):
    objects = render_everywhere(checks, overlay, kubectls)
    if objects is None:
        return
    check_schemas(checks, overlay.name, objects, schemas)
    cluster = Cluster(overlay.name, objects)
    for rule, title in rules.RULES:
        checks.check(f"{overlay.name}: {title}", rules.apply(rule, code, cluster))


def main(root, schemas, kubectls):
    checks = Checks()
    code = suite.Suite(root)
    binaries = os.environ.get("TRANSFA_BINARIES")
    if binaries:
        check_documents(checks, code, binaries)
    if code.gateway_variables is None:
        print(f"skipped the variables of the gateway: there is no {suite.GATEWAY}")
    if code.jobs is None:
        print(f"skipped the jobs of Prometheus: there is no {suite.PROMETHEUS}")
    for overlay in sorted((root / "deploy/kubernetes/overlays").iterdir()):
        if (overlay / "kustomization.yaml").exists():
            check_overlay(checks, overlay, code, kubectls, schemas)
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]))
