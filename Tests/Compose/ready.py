#!/usr/bin/env python3
"""ready.py <settings> <container> <service>: restarts a container, and prints the seconds from the start of its process
until it is ready."""

import datetime
import subprocess
import sys
import time

import requests

from composed import Composed


def docker(*arguments):
    return subprocess.run(("docker", *arguments), check=True, capture_output=True, text=True).stdout.strip()


def moment(text):
    """The engine counts nanoseconds; Python's calendar knows micro."""
    whole, _, part = text.rstrip("Z").partition(".")
    return datetime.datetime.fromisoformat(f"{whole}.{part[:6]:0<6}+00:00").timestamp()


def main():
    environment, container, service = sys.argv[1:]
    suite = Composed(environment)
    url = f"http://127.0.0.1:{suite.port(service + '_internal')}/health/ready"
    before = moment(docker("inspect", "--format", "{{.State.StartedAt}}", container))
    docker("stop", "--time", "30", container)
    starter = subprocess.Popen(("docker", "start", container), stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            ready = requests.get(url, timeout=1).status_code == 200
        except requests.RequestException:
            ready = False
        if ready:
            break
        time.sleep(0.02)
    else:
        raise SystemExit(f"{service} did not get ready within a minute")
    now = time.time()
    starter.wait()
    started = moment(docker("inspect", "--format", "{{.State.StartedAt}}", container))
    if started <= before:
        raise SystemExit(f"{service} was not started anew")
    print(f"{now - started:.2f}")


if __name__ == "__main__":
    main()
