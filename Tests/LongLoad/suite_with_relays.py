"""The suite with a relay on each way from a service to a server, and what the provider knows of all its time."""

import collections
import json
import os
import pathlib
import re
import signal
import threading
import time

import psycopg
import requests

from relays import Relays
from suite import SERVICES, Refused, eventually
from suite_with_backup import OPERATOR, ROOT, SuiteWithBackup

# Which settings of a service lead to which server.
WAYS = {
    "database": ("DATABASE_URL", "WORKER_DATABASE_URL"), "broker": ("RABBITMQ_URL",), "redis": ("REDIS_URL",),
    "provider": ("ANCHOR_BASE_URL",),
}
# The bills of customers' accounts are read.
BILLS = {"ANCHOR_BILLS": "customers"}
LOOPBACK = re.compile(r"127\.0\.0\.1:(\d+)")


def lay_relays(run):
    """Before anything of ours starts: every service reaches its servers by relays from now on."""
    relays = Relays()
    file = pathlib.Path(run) / "suite.json"
    suite = json.loads(file.read_text())
    for part in suite["parts"]:
        if part["name"] not in SERVICES:
            continue
        settings = part["settings"]
        if part["name"] == "transaction":
            settings.update(BILLS)
        for server, names in WAYS.items():
            found = {LOOPBACK.search(settings[name]).group(1) for name in names if settings.get(name)}
            if not found:
                continue
            (port,) = found
            own = relays.add(part["name"], server, int(port))
            for name in names:
                if settings.get(name):
                    settings[name] = settings[name].replace(f"127.0.0.1:{port}", f"127.0.0.1:{own}")
    file.write_text(json.dumps(suite))
    return relays


class SuiteWithRelays(SuiteWithBackup):
    def __init__(self, run, relays):
        super().__init__(run)
        self.relays = relays
        parts = {part["name"]: part["settings"] for part in self.description["parts"]}
        self.provider_key = parts["transaction"]["ANCHOR_API_KEY"]
        # Held while the provider is asked for something that must have been done once, and while it is down.
        self.desk = threading.RLock()

    # Processes and servers

    def kill(self, part):
        self.act("kill_part", part)

    def start(self, part):
        # What it needs may still be on its way up.
        for attempt in range(4):
            done = self.try_to(ROOT / "Tests/Backup/act", self.run, "start_part", part)
            if done.code == 0:
                return
            time.sleep(5)
        raise RuntimeError(f"the start of {part} {done}")

    def signal(self, part, name):
        pid = int((self.run / "pids" / part).read_text().split()[0])
        os.kill(pid, getattr(signal, name))

    def server(self, verb, name):
        self.do(ROOT / "scripts/servers", f"{verb}-{name}", self.run / "servers")

    def end_receiver(self):
        """No commit waits for a backup any more."""
        with psycopg.connect(self.postgres, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM RESET synchronous_standby_names")
            connection.execute("SELECT pg_reload_conf()")
        self.act("stop_receiver")
        # Else Postgres keeps for it all that is written from now on.
        drop = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active"
        eventually("the slot to be dropped", lambda: self.rows("transaction", drop), 30)

    # The provider

    def ask_provider(self, method, path, body=None):
        """What must be done once."""
        with self.desk:
            return self.sandbox(method, path, body).json()

    def pages(self, path, name):
        found, after = [], 0
        while True:
            page = self.sandbox("GET", f"{path}{'&' if '?' in path else '?'}after={after}&limit=1000").json()
            found += page[name]
            after = page["next"]
            if after >= page["total"]:
                return found

    def log(self, kind):
        return self.pages(f"/sandbox/log?type={kind}", "entries")

    def balances(self):
        """What is in the provider's accounts, by id."""
        return {each["id"]: each["ledger"] for each in self.pages("/sandbox/balances", "accounts")}

    def order_elsewhere(self, kind, source, target, amount, reference):
        """A transfer past us; the provider's id of it."""
        name = "counterParty" if kind == "NIPTransfer" else "destinationAccount"
        type = "CounterParty" if kind == "NIPTransfer" else "DepositAccount"
        order = {"data": {
            "type": kind,
            "attributes": {"amount": amount, "currency": "NGN", "reason": "by hand", "reference": reference},
            "relationships": {
                "account": {"data": {"type": "DepositAccount", "id": source}},
                name: {"data": {"type": type, "id": target}},
            },
        }}
        with self.desk:
            url = self.url("sandbox") + "/api/v1/transfers"
            answer = self.send("POST", url, json=order, headers={"x-anchor-key": self.provider_key})
        id = answer.json()["data"]["id"]
        path = f"/sandbox/references/{reference}"
        eventually("the transfer by hand", lambda: "COMPLETED" in self.sandbox("GET", path).text, 60)
        return id

    # Operators

    def set_clocks(self, seconds):
        for service in SERVICES:
            self.operate("PUT", service, "/internal/ops/clock", {"offset_seconds": seconds})
        # Those that were good a moment ago have expired, or are from the future.
        self.tokens.clear()

    def page(self):
        """What the reconciliation page shows."""
        return self.operate("GET", "transaction", "/internal/reconciliations/breaks").json()

    def page_of_console(self):
        """The same, as an operator sees it who has signed in."""
        console = self.url("console") + "/console/api"
        signed_in = self.send("POST", f"{console}/session", json={"token": self.description["operators"][OPERATOR]})
        cookie = signed_in.headers["Set-Cookie"].split(";")[0]
        path = f"{console}/services/transaction/reconciliations/breaks"
        return self.send("GET", path, headers={"Cookie": cookie}).json()

    def look_at_all(self):
        self.operate("POST", "transaction", "/internal/reconciliations", {})

    def accounts(self):
        """A person's id -> the provider's account."""
        sql = "SELECT id::text, provider_account FROM users WHERE provider_account IS NOT NULL"
        return dict(self.rows("transaction", sql))

    def pool(self):
        parts = {part["name"]: part["settings"] for part in self.description["parts"]}
        return parts["transaction"]["ANCHOR_POOL_ACCOUNT_ID"]

    def failed_jobs(self):
        """Service, kind, key and reason of each."""
        sql = "SELECT kind, key, coalesce(last_error, '') FROM jobs WHERE state = 'failed'"
        return [(service, *row) for service in SERVICES for row in self.rows(service, sql)]


NOT_ANSWERED = (requests.RequestException, Refused, psycopg.Error, OSError)


class Problems:
    """What went wrong beside the matter, by how often."""

    def __init__(self):
        self.counts = collections.Counter()

    def note(self, where, error):
        self.counts[f"{where}: {type(error).__name__}: {str(error)[:200]}"] += 1
