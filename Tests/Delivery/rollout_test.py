"""scripts/rollout against a kubectl that plays a cluster: what is done in which order, and what happens when it fails."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from results import Results

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Notes each call, renders the overlay as it stands, and fails where the test says.
KUBECTL = """#!/usr/bin/env bash
set -euo pipefail
printf '%s\\n' "$*" >>"$CALLS"
case "$*" in
    kustomize*) sed -n 's/^    newTag: /image: /p' "$2/kustomization.yaml"
        printf 'metadata:\\n  name: auth-migration\\n  namespace: transfa-staging\\n' ;;
    *"get job/"*) printf '%s ' "$JOB" ;;
    *"get deployment/"*) printf '%s' "$REVISION" ;;
    *"rollout status"*) [[ $STATUS == good || -e $CALLS.undone ]] ;;
    *"rollout undo"*) touch "$CALLS.undone" ;;
    *"apply"*) cp "${@: -1}" "$CALLS.rendered" ;;
esac
"""
OVERLAY = """namespace: transfa-staging
images:
  - name: transfa/auth
    newName: example/transfa/auth
    newTag: 0.1.0
  - name: transfa/console
    newName: example/transfa/console
    newTag: 0.1.0
"""


def roll(folder, *arguments, job="Complete", status="good", revision="7"):
    calls = folder / "calls"
    for old in folder.glob("calls*"):
        old.unlink()
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "CALLS": str(calls), "JOB": job,
                   "STATUS": status, "REVISION": revision, "ROLLOUT_POLL_SECONDS": "0.1", "IMAGE_REGISTRY": "registry"}
    done = subprocess.run([folder / "suite/scripts/rollout", *arguments], env=environment, capture_output=True, text=True,
                          check=False, timeout=60)
    return done, calls.read_text().splitlines() if calls.exists() else []


def index(calls, part):
    return next((number for number, call in enumerate(calls) if part in call), None)


def main():
    results = Results()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copytree(ROOT / "scripts", folder / "suite/scripts")
        overlay = folder / "suite/deploy/kubernetes/overlays/staging"
        overlay.mkdir(parents=True)
        (overlay / "kustomization.yaml").write_text(OVERLAY)
        (folder / "bin").mkdir()
        (folder / "bin/kubectl").write_text(KUBECTL)
        (folder / "bin/kubectl").chmod(0o755)
        good(results, folder, overlay)
        bad(results, folder)
    sys.exit(results.end())


def good(results, folder, overlay):
    done, calls = roll(folder, "staging", "auth=abc", "console=def")
    results.check("two services roll", done.returncode == 0 and done.stdout.endswith("2 passed, 0 failed\n"), done.stderr)
    order = [index(calls, part) for part in (
        "component=configuration", "delete job auth-migration", "name=auth,app.kubernetes.io/component=migration",
        "get job/auth-migration", "name=auth,app.kubernetes.io/component=service", "status --timeout=600s deployment/auth",
        "name=console,app.kubernetes.io/component=service")]
    results.check("settings, migration, pods, and then the next service", None not in order and order == sorted(order), order)
    rendered = (folder / "calls.rendered").read_text()
    results.check("the images are those of the tags", "image: abc" in rendered and "image: def" in rendered, rendered)
    results.check("the repository stays as it is", (overlay / "kustomization.yaml").read_text() == OVERLAY)


def bad(results, folder):
    done, calls = roll(folder, "staging", "auth=abc", "console=def", job="Failed")
    results.check("a failed migration fails", done.returncode == 1 and "0 passed, 1 failed" in done.stdout)
    results.check("and leaves the pods alone", index(calls, "component=service") is None, calls)
    done, calls = roll(folder, "staging", "auth=abc", "console=def", status="bad")
    results.check("a rollout that gets stuck fails", done.returncode == 1 and "0 passed, 1 failed" in done.stdout)
    results.check("and goes back to what ran", index(calls, "undo deployment/auth --to-revision=7") is not None, calls)
    results.check("and the next service is left alone",
                  index(calls, "name=console") is None and "not touched: console=def" in done.stdout, done.stdout)
    done, calls = roll(folder, "staging", "auth=abc", status="bad", revision="")
    results.check("a first rollout has nothing to go back to", done.returncode == 1 and index(calls, "undo") is None)
    done, calls = roll(folder, "staging", "nobody=abc")
    results.check("an unknown service is refused before anything is applied",
                  done.returncode == 1 and index(calls, "apply") is None, calls)
    results.check("an unknown overlay is refused", roll(folder, "moon", "auth=abc")[0].returncode == 1)
    results.check("no service is refused", roll(folder, "staging")[0].returncode == 64)


main()
