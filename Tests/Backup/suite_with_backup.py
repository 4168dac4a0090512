"""The suite on servers of its own, with a backup beside it: databases, scripts, and the operators' tool."""

import os
import pathlib
import subprocess
import time

import psycopg
import requests

from suite import Suite

ROOT = pathlib.Path(__file__).parents[2]
OPERATOR = "ada"
REASON = "Tests of the backup"


class Done:
    """What a program said, and how it ended."""

    def __init__(self, process):
        self.code = process.returncode
        self.said = process.stdout + process.stderr
        self.lines = process.stdout.splitlines()

    def __str__(self):
        return f"ended with {self.code}: {self.said.strip()[-600:]}"


class Failed(Exception):
    """A program that was to succeed did not."""


class SuiteWithBackup(Suite):
    def __init__(self, run):
        super().__init__(run)
        self.backup = self.run / "backup"
        login, self.broker = self.description["servers"]["management"].removeprefix("http://").split("@")
        self.broker_login = tuple(login.split(":"))
        self.data = self.run / "servers/postgres/data"

    # Programs

    def try_to(self, *command, **environment):
        """Runs a program to its end, whatever that is."""
        variables = os.environ | {"TRANSFA_BACKUP_POSTGRES": self.postgres} | environment
        return Done(subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=1800, env=variables,
            stdin=subprocess.DEVNULL,
        ))

    def do(self, *command, **environment):
        """Runs a program that is to succeed."""
        done = self.try_to(*command, **environment)
        if done.code:
            raise Failed(f"{' '.join(map(str, command))} {done}")
        return done

    def act(self, *arguments):
        return self.do(ROOT / "Tests/Backup/act", self.run, *arguments)

    def back_up(self, verb, *arguments):
        return self.do(ROOT / "scripts/backup", verb, "--to", self.backup, *arguments)

    def check_backup(self, folder=None, *arguments):
        return self.try_to(ROOT / "scripts/backup", "check", "--to", folder or self.backup, *arguments)

    def restore(self, into, *arguments, folder=None, trial=False):
        who = ["--trial"] if trial else ["--operator", OPERATOR, "--reason", REASON]
        return self.try_to(
            ROOT / "scripts/restore", "--from", folder or self.backup, "--into", into, *who, *arguments
        )

    def transfactl(self, *arguments):
        return self.try_to(pathlib.Path(os.environ["TRANSFA_BINARIES"]) / "transfactl", *arguments, **self.tool)

    # Databases

    def database(self, service, server=None):
        url = (server or self.postgres).replace("/postgres?", f"/transfa_{service}?")
        return psycopg.connect(url, autocommit=True, connect_timeout=10)

    def rows(self, service, sql, *values, server=None):
        with self.database(service, server) as connection:
            return connection.execute(sql, values or None).fetchall()

    def number(self, service, sql, *values, server=None):
        return self.rows(service, sql, *values, server=server)[0][0]

    def change(self, service, sql, *values):
        """How many rows a statement has changed."""
        with self.database(service) as connection:
            # Whoever watches over a table is not to be in the way.
            connection.execute("SET session_replication_role = replica")
            return connection.execute(sql, values or None).rowcount

    def make_synchronous(self):
        """From now on a commit is answered when the receiver has it."""
        with psycopg.connect(self.postgres, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'transfa_backup'")
            connection.execute("SELECT pg_reload_conf()")
        sql = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'"
        deadline = time.monotonic() + 60
        while not self.number("transaction", sql):
            if time.monotonic() > deadline:
                raise TimeoutError("the receiver did not become synchronous")
            time.sleep(0.1)

    # Broker

    def queues(self):
        answer = requests.get(f"http://{self.broker}/api/queues", auth=self.broker_login, timeout=10)
        answer.raise_for_status()
        return {queue["name"]: queue for queue in answer.json()}
