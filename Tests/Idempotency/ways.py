"""How the services reach Redis: directly, through a relay, over TLS, as a user with few rights, or by a Sentinel."""

import os
import pathlib
import subprocess
import time

from replicas import free_port
from redis_server import ADMIN, RedisServer, Sentinel
from relay import Relay

NAMES = ("plain", "relay", "rediss", "acl", "sentinel")
PREFIX = "transfa:"
# What README of Shared/Redis says is enough.
RULE = "~transfa:* +@read +@write +@scripting +@connection +time +role -@dangerous"
USER, PASSWORD = "transfa", "of-the-services"


def chosen(default="plain"):
    name = os.environ.get("TRANSFA_IDEMPOTENCY_REDIS") or default
    if name not in NAMES:
        raise SystemExit(f"TRANSFA_IDEMPOTENCY_REDIS must be one of {', '.join(NAMES)}")
    return name


def certificate(folder):
    """An authority of this run, and a certificate for 127.0.0.1."""
    folder.mkdir(parents=True)
    key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    for words in (f"req -x509 {key} -days 2 -subj /CN=authority -keyout ca.key -out ca.pem",
                  f"req {key} -subj /CN=server -keyout server.key -out server.csr",
                  "x509 -req -days 2 -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile names -out server.pem"):
        subprocess.run(["openssl", *words.split()], cwd=folder, check=True, capture_output=True)
    return folder


class Way:
    """Two servers, of which one serves and the other copies it, and how services find the one that serves."""

    def __init__(self, name, folder, given):
        folder = pathlib.Path(folder)
        self.name, self.settings = name, {"REDIS_PREFIX": PREFIX}
        self.relay = self.sentinel = None
        servers = [RedisServer(folder, f"redis-{number}", given, self.words(folder, given)) for number in (1, 2)]
        self.serving, self.spare = servers
        for server in servers:
            server.start()
        if name == "acl":
            for server in servers:
                server.must("ACL", "SETUSER", USER, "on", f">{PASSWORD}", *RULE.split())
        self.find(folder, given)

    def words(self, folder, given):
        if self.name != "rediss":
            return []
        tls = folder / "tls"
        if not tls.exists():
            certificate(tls)
            self.settings["REDIS_CA_FILE"] = str(tls / "ca.pem")
        # The port that services use speaks TLS alone; the other one is for this test.
        self.tls_ports = [*getattr(self, "tls_ports", []), free_port(given)]
        return ["--tls-port", str(self.tls_ports[-1]), "--tls-cert-file", str(tls / "server.pem"), "--tls-key-file",
                str(tls / "server.key"), "--tls-ca-cert-file", str(tls / "ca.pem"), "--tls-auth-clients", "no"]

    def find(self, folder, given):
        """The URL; all ways but the plain one and that of a Sentinel go through the relay."""
        login = f"{USER}:{PASSWORD}@" if self.name == "acl" else f":{ADMIN}@"
        if self.name == "sentinel":
            self.spare.follow(self.serving)
            self.sentinel = Sentinel(folder, given, self.serving).start()
            self.url = f"redis+sentinel://{login}127.0.0.1:{self.sentinel.port}/main"
            return
        port = self.serving.port
        if self.name != "plain":
            self.relay = Relay(self.port_of(self.serving), given).start()
            port = self.relay.port
        self.url = f"{'rediss' if self.name == 'rediss' else 'redis'}://{login}127.0.0.1:{port}/0"

    def port_of(self, server):
        if self.name != "rediss":
            return server.port
        return int(server.words[server.words.index("--tls-port") + 1])

    @property
    def all_settings(self):
        return {"REDIS_URL": self.url, **self.settings}

    # What becomes of it

    def is_used(self):
        """Whether services have written there."""
        return self.serving.ask("EVAL", f"return #redis.call('KEYS', '{PREFIX}*')", 0) not in ("", "0")

    def kill(self):
        self.serving.kill()

    def start_again(self):
        """A Sentinel has let the spare one serve meanwhile, or not."""
        self.serving.start()
        if self.name == "acl":
            self.serving.must("ACL", "SETUSER", USER, "on", f">{PASSWORD}", *RULE.split())
        if self.name == "sentinel":
            self.await_sentinel()

    def flush(self):
        self.serving.must("FLUSHALL")

    def prepare_failover(self):
        """The spare one knows what the other knows."""
        if self.name != "sentinel":
            self.spare.follow(self.serving)

    def cut_off(self):
        """What is written from now on does not reach the spare one. A Sentinel's failover needs no such thing."""
        if self.name != "sentinel":
            self.spare.must("REPLICAOF", "NO", "ONE")

    def fail_over(self):
        """The spare one serves from now on."""
        if self.name == "sentinel":
            served = self.serving
            eventually("the Sentinel to begin a failover", lambda: self.sentinel.ask("SENTINEL", "FAILOVER", "main") == "OK")
            eventually("another master", lambda: self.master() is not served)
            self.await_sentinel()
        elif self.relay:
            self.relay.switch(self.port_of(self.spare))
            self.serving, self.spare = self.spare, self.serving
        else:
            raise RuntimeError("services that reach Redis directly cannot be led to another: use the way `relay`")

    def master(self):
        known = self.sentinel.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main").split()
        return next((server for server in (self.serving, self.spare) if str(server.port) in known), None)

    def await_sentinel(self):
        """Until one serves and the other copies it again."""
        def is_settled():
            master = self.master()
            if master is None:
                return False
            if master is not self.serving:
                self.serving, self.spare = self.spare, self.serving
            said = self.spare.ask("INFO", "replication")
            return f"master_port:{master.port}" in said and "master_link_status:up" in said

        eventually("one Redis to serve and the other to copy it", is_settled)

    def stop(self):
        for server in (self.sentinel, self.serving, self.spare):
            if server:
                server.kill()


def eventually(what, ask, seconds=90):
    deadline = time.monotonic() + seconds
    while not ask():
        if time.monotonic() > deadline:
            raise RuntimeError(f"after {seconds} s still waiting for {what}")
        time.sleep(0.1)
