"""A part of the running suite, started again in another way; and what it has counted."""
import contextlib
import json
import os
import re
import subprocess
import urllib.request

from measuring import RUN

LABEL = re.compile(r'(\w+)="([^"]*)"')


def dev(verb, *arguments):
    command = [f"{os.environ['BENCH_BINARIES']}/transfactl", "dev", verb, "--folder", str(RUN), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"transfactl dev {verb} failed: {done.stdout}{done.stderr}")


def start_again(name, changes):
    """With other members of its description, such as its program; returns what they were."""
    file = RUN / "suite.json"
    suite = json.loads(file.read_text())
    part = next(part for part in suite["parts"] if part["name"] == name)
    before = {member: part[member] for member in changes}
    part.update(changes)
    dev("down", name)
    file.write_text(json.dumps(suite))
    dev("up", name)
    return before


def settings_of(name):
    suite = json.loads((RUN / "suite.json").read_text())
    return next(part["settings"] for part in suite["parts"] if part["name"] == name)


@contextlib.contextmanager
def changed(name, changes):
    """The part with these members, as it was before at the end."""
    before = start_again(name, changes)
    try:
        yield
    finally:
        start_again(name, before)


def answers_of(name):
    """What a service has answered under idempotency keys since its start, by outcome: see IdempotencyMetrics."""
    port = (RUN / f"ports/{name}-internal").read_text().strip()
    token = (RUN / "secrets/internal-token").read_text().strip()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/metrics", headers={"authorization": f"Bearer {token}"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    counted = {}
    for line in lines:
        if line.startswith("idempotency_answers_total{"):
            labels = dict(LABEL.findall(line))
            if labels.get("place") == "requests":
                counted[labels["outcome"]] = float(line.rpartition(" ")[2])
    return counted
