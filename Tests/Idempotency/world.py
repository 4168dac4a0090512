"""The running suite as an operator sees it: two processes of each service, their databases, metrics, and what they cost."""

import asyncio
import json
import os
import pathlib
import re
import subprocess
import time

import psycopg

from client import Client
from replicas import SERVICES, given_ports, make_two, replica_of
from suite import AUTHORIZED_PARTY, described
from ways import Way

TOKEN_SECONDS = 6 * 3600
# What operators ask may take longer than what clients do.
OPERATORS_SECONDS = 120
TICK = os.sysconf("SC_CLK_TCK")
COUNTED = re.compile(r'^idempotency_answers_total\{(.*)\} (\S+)$', re.MULTILINE)
# What may become of a request with a key.
OUTCOMES = ("first", "repeat_redis", "repeat_postgres", "waited", "redis_unknown")
LABEL = re.compile(r'(\w+)="([^"]*)"')


class World:
    def __init__(self, run, way):
        self.run, given = pathlib.Path(run), given_ports(run)
        self.way = Way(way, self.run / "redis", given)
        self.parts = make_two(run, self.way.all_settings, given)
        self.client = Client()
        self.connections = {}

    def start(self):
        """Starts the parts that are needed, and reads where they answer."""
        command = [f"{os.environ['TRANSFA_BINARIES']}/transfactl", "dev", "up", "--folder", self.run, *self.parts]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode:
            raise RuntimeError(f"the suite did not start: {(done.stdout + done.stderr)[-2000:]}")
        description = described(self.run)
        self.databases = description["databases"]
        self.servers = description["servers"]
        self.settings = {part["name"]: part["settings"] for part in description["parts"]}
        self.token = self.settings["auth"]["INTERNAL_TOKEN"]

    def stop(self):
        self.way.stop()

    # Calls

    def address(self, service, replica=0, internal=False):
        name = service if replica == 0 else replica_of(service)
        settings = self.settings[name]
        return f"127.0.0.1:{settings['INTERNAL_PORT' if internal else 'PORT']}"

    async def sandbox(self, method, path, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        answer = await self.client.send(self.address("sandbox"), method, path, {"Content-Type": "application/json"}, data,
                                        OPERATORS_SECONDS)
        if not answer.is_good:
            raise RuntimeError(f"{method} {path}: {answer.shown()}")
        return answer.json() if answer.body else None

    async def operate(self, method, service, path, body=None, replica=0):
        headers = {"Authorization": f"Bearer {self.token}", "Transfa-Operator": "ada", "Content-Type": "application/json"}
        data = b"" if body is None else json.dumps(body).encode()
        answer = await self.client.send(self.address(service, replica, True), method, path, headers, data, OPERATORS_SECONDS)
        if not answer.is_good:
            raise RuntimeError(f"{method} {path} at {service}: {answer.shown()}")
        return answer

    async def new_token(self, subject):
        order = {"subject": subject, "azp": AUTHORIZED_PARTY, "lifetime_seconds": TOKEN_SECONDS}
        return (await self.sandbox("POST", "/sandbox/clerk/tokens", order))["jwt"]

    # Databases

    def rows(self, service, sql, *values):
        connection = self.connections.get(service)
        if connection is None or connection.closed:
            url = self.databases[service]["superuser"]
            connection = self.connections[service] = psycopg.connect(url, autocommit=True)
        return connection.execute(sql, values or None).fetchall()

    def number(self, service, sql, *values):
        return self.rows(service, sql, *values)[0][0]

    def forget_connections(self):
        """What is not connected runs no transactions."""
        for connection in self.connections.values():
            connection.close()
        self.connections.clear()

    def transactions(self, services=SERVICES):
        """How many transactions their databases have seen; what backends have not told yet is missing."""
        names = [f"transfa_{service}" for service in services]
        with psycopg.connect(self.servers["postgres"], autocommit=True) as connection:
            return connection.execute(
                "SELECT sum(xact_commit + xact_rollback)::bigint FROM pg_stat_database WHERE datname = ANY (%s)", (names,),
            ).fetchone()[0]

    # Processes

    def pid(self, service, replica=0):
        name = service if replica == 0 else replica_of(service)
        return int((self.run / "pids" / name).read_text().split()[0])

    @staticmethod
    def seconds_of(pid):
        """The time that a process has had of the processor, in seconds; 0 when it is gone."""
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / TICK

    def backends(self, service):
        """The processes of Postgres that serve a database."""
        with psycopg.connect(self.servers["postgres"], autocommit=True) as connection:
            found = connection.execute("SELECT pid FROM pg_stat_activity WHERE datname = %s", (f"transfa_{service}",))
            return [row[0] for row in found]

    # Metrics

    async def answers_by_outcome(self):
        """`idempotency_answers_total` of all processes at place `requests`, by outcome. What one does not tell of is missing."""
        processes = []
        for service in SERVICES:
            for replica in (0, 1):
                text = (await self.operate("GET", service, "/metrics", replica=replica)).body.decode()
                counted = [(dict(LABEL.findall(labels)), float(value)) for labels, value in COUNTED.findall(text)]
                processes.append({labels["outcome"]: value for labels, value in counted if labels["place"] == "requests"})
        return {name: sum(one[name] for one in processes) for name in OUTCOMES if all(name in one for one in processes)}

    # Rest

    async def eventually(self, what, ask, seconds=120, pause=0.2):
        """Asks until there is an answer that counts as true."""
        deadline = time.monotonic() + seconds
        while True:
            found = ask()
            if asyncio.iscoroutine(found):
                found = await found
            if found:
                return found
            if time.monotonic() > deadline:
                raise TimeoutError(f"after {seconds} s still waiting for {what}")
            await asyncio.sleep(pause)

    def is_quiet(self):
        """Whether nothing waits to be published, and no job is due."""
        busy = ("SELECT (SELECT count(*) FROM outbox WHERE sent_at IS NULL) + (SELECT count(*) FROM jobs WHERE state = 'running'"
                " OR state = 'queued' AND due_at <= clock_timestamp())")
        return all(self.number(service, busy) == 0 for service in (*SERVICES, "account"))

    async def settle(self):
        """Until what was ordered has come to an end everywhere."""
        await self.eventually("the services to come to rest", self.is_quiet, 600, 0.5)
        await self.eventually(
            "transfers to end",
            lambda: self.number("transaction", "SELECT count(*) FROM transfers WHERE state NOT IN "
                                "('completed', 'failed', 'reversed', 'in_suspense')") == 0, 600, 0.5)
        await self.eventually("the services to come to rest", self.is_quiet, 600, 0.5)
