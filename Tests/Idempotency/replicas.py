"""Makes two of each service that is called with a key, in the description of a suite that is prepared and does not run."""

import copy
import json
import pathlib
import random
import socket

# Those whose operations take keys, and are called here.
SERVICES = ("auth", "customer", "transaction", "subscription", "notification", "analytics")
# What the others of a suite are that these need.
NEEDED = ("sandbox", "apple", "account")


def replica_of(name):
    return f"{name}-2"


def free_port(given):
    """A loopback port below those that the kernel hands out by itself, which nobody was given."""
    for _ in range(500):
        port = random.randrange(20000, 32000)
        with socket.socket() as probe:
            if port not in given and probe.connect_ex(("127.0.0.1", port)):
                given.add(port)
                return port
    raise RuntimeError("no free loopback port found between 20000 and 32000")


def replica(part, given):
    """A second process of a part, at ports of its own."""
    second = copy.deepcopy(part)
    name, port, internal = replica_of(part["name"]), free_port(given), free_port(given)
    second |= {"name": name, "ports": {name: port, f"{name}-internal": internal}}
    second["settings"] |= {"PORT": str(port), "INTERNAL_PORT": str(internal)}
    second["log"] = f"{part['log'].removesuffix('.log')}-2.log"
    second["readiness"]["answers"]["port"] = internal
    second.pop("migration_url", None)
    return second


def make_two(run, settings, given):
    """Gives all services these settings, and those that take keys a second process each; the parts to be started."""
    file = pathlib.Path(run) / "suite.json"
    suite = json.loads(file.read_text())
    parts = suite["parts"]
    for part in parts:
        if "REDIS_URL" in part["settings"]:
            part["settings"] |= settings
    parts += [replica(part, given) for part in list(parts) if part["name"] in SERVICES]
    file.write_text(json.dumps(suite))
    return [*NEEDED, *SERVICES, *(replica_of(name) for name in SERVICES)]


def given_ports(run):
    parts = json.loads((pathlib.Path(run) / "suite.json").read_text())["parts"]
    return {port for part in parts for port in part["ports"].values()}
