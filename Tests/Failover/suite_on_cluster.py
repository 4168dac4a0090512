"""What the suite stands on: the scripts that kill and cut off, the databases, the broker's own account of itself."""

import pathlib
import subprocess
import time

import psycopg
import requests

from suite import SERVICES, Suite

ROOT = pathlib.Path(__file__).parents[2]

NODES = (1, 2, 3)
# Those with a queue of their own; console reads the stream.
CONSUMERS = tuple(service for service in SERVICES if service != "console")


class ClusteredSuite(Suite):
    def __init__(self, run):
        super().__init__(run)
        self.broker = self.run / "broker"
        self.pair = self.run / "pair"
        url = self.description["servers"]["management"]
        self.broker_login = tuple(url.removeprefix("http://").split("@")[0].split(":"))

    # Scripts

    def act(self, script, *arguments):
        """Runs a script on its folder; the time it began."""
        folder = self.broker if script == "broker-cluster" else self.pair
        began = time.time()
        command = [str(ROOT / "scripts" / script), *map(str, arguments), str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        if done.returncode:
            raise RuntimeError(f"{script} {' '.join(map(str, arguments))}: {done.stdout[-500:]}{done.stderr[-1500:]}")
        return began

    # Databases

    def database(self, service):
        url = self.description["databases"][service]["superuser"]
        return psycopg.connect(url, autocommit=True, connect_timeout=10)

    def rows(self, service, sql, *values):
        with self.database(service) as connection:
            return connection.execute(sql, values or None).fetchall()

    def number(self, service, sql, *values):
        return self.rows(service, sql, *values)[0][0]

    # Broker

    def ask_broker(self, path):
        """The first node that answers is asked."""
        last = None
        for node in NODES:
            port = (self.broker / f"node-{node}/ports/management").read_text().strip()
            try:
                answer = requests.get(f"http://127.0.0.1:{port}/api/{path}", auth=self.broker_login, timeout=10)
                answer.raise_for_status()
                return answer.json()
            except requests.RequestException as error:
                last = error
        raise last

    def queues(self):
        return {queue["name"]: queue for queue in self.ask_broker("queues")}

    @staticmethod
    def leader(queue):
        """RabbitMQ 3.10 names the leader of a stream by `node` alone."""
        return queue.get("leader") or queue.get("node") or ""

    def leaders(self):
        """How many queues each node leads."""
        count = dict.fromkeys(NODES, 0)
        for queue in self.queues().values():
            for node in NODES:
                count[node] += self.leader(queue).startswith(f"transfa-{node}@")
        return count

    def incomplete_queues(self):
        """The queues that lack a leader or one of their members."""
        return sorted(
            name for name, queue in self.queues().items()
            if not self.leader(queue) or len(queue.get("online") or []) != len(NODES)
        )
