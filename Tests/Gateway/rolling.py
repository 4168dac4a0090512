"""A version that replaces another, a configuration that is read again, and an orderly end: no client notices."""

import signal
import threading
import time

from cases import Case, Connection, World, ask, bearer
from proxy import eventually
from services import Names, Service


class Traffic:
    """Clients that never retry, each with a connection at a time; every answer that is not 200 is kept."""

    def __init__(self, gateway, clients=3):
        self.gateway, self.bad, self.answers, self.over = gateway, [], [], threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(number,), daemon=True) for number in range(clients)]

    def run(self, number):
        while not self.over.is_set():
            method, path, body = (("GET", "/wallet", None), ("POST", "/transactions/p2p", b"{}"))[number % 2]
            try:
                answer = ask(self.gateway, method, path, body=body)
                if answer.status == 200:
                    self.answers.append(answer.json["service"])
                else:
                    self.bad.append(answer.status)
            except (OSError, ValueError) as error:
                self.bad.append(repr(error))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join(20)


class Rolling(Case):
    @staticmethod
    def loads(gateway):
        return gateway.log.read_text().count("Loading success")

    def workers(self, gateway):
        children = open(f"/proc/{gateway.process.pid}/task/{gateway.process.pid}/children", encoding="ascii").read()
        return set(children.split())

    def test_a_new_version_takes_over_from_the_old_one(self):
        gateway = self.other_gateway()
        second = Service("second").start()
        self.addCleanup(second.stop)
        old = self.services["transaction"]
        old.mode, old.pause = "sleep", 0.05
        with Traffic(gateway) as traffic:
            self.assertTrue(eventually(lambda: len(traffic.answers) > 20, 20))
            for order in (f"addr 127.0.0.1 port {second.ports[0]}", f"check-port {second.ports[1]}", "state ready"):
                gateway.command(f"set server transaction/transaction2 {order}")
            self.assertTrue(eventually(lambda: gateway.status("transaction", 2) == "UP"))
            self.assertTrue(eventually(lambda: "second" in traffic.answers))
            gateway.command("set server transaction/transaction1 state drain")
            self.assertTrue(eventually(lambda: self.sessions(gateway) == 0, 10))
            before = len(old.seen)
            old.stop()
            old.start()
            count = len(traffic.answers)
            self.assertTrue(eventually(lambda: len(traffic.answers) > count + 20, 20))
            self.assertEqual(len(old.seen), before)
        old.reset()
        self.assertEqual(traffic.bad, [])
        self.assertTrue(eventually(lambda: World.gateway.status("transaction") == "UP"))

    @staticmethod
    def sessions(gateway):
        """How many requests the first server of transaction has under way."""
        for line in gateway.command("show stat").splitlines():
            if line.startswith("transaction,transaction1,"):
                return int(line.split(",")[4])
        return -1

    def test_a_reload_loses_no_request_and_keeps_streams_for_a_while(self):
        gateway = self.other_gateway(GATEWAY_STOP_SECONDS="3")
        notification = self.services["notification"]
        notification.mode, notification.events, notification.pause = "stream", 100, 0.2
        with Connection(gateway) as stream, Traffic(gateway) as traffic:
            stream.head("GET", "/stream", [bearer()])
            self.assertTrue(stream.socket.recv(65_536))
            before, count, loads = self.workers(gateway), len(traffic.answers), self.loads(gateway)
            gateway.process.send_signal(signal.SIGUSR2)
            self.assertTrue(eventually(lambda: self.workers(gateway) - before, 20))
            self.assertTrue(eventually(lambda: self.loads(gateway) > loads, 20))
            self.assertTrue(eventually(lambda: len(traffic.answers) > count + 15, 20))
            self.assertTrue(stream.socket.recv(65_536))
            # In the end it is cut, so that the old process does not stay for ever.
            began = time.monotonic()
            while stream.socket.recv(65_536) and time.monotonic() - began < 12:
                pass
            self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(traffic.bad, [])

    def test_services_found_by_name_come_and_go(self):
        old = Service("old", "127.0.0.2").start()
        new = Service("new", "127.0.0.3", old.ports).start()
        names = Names({"transaction.test": ["127.0.0.2"], "other.test": ["127.0.0.1"]})
        for end in (old.stop, new.stop, names.stop):
            self.addCleanup(end)
        settings = {"GATEWAY_DISCOVERY": "dns", "GATEWAY_NAMESERVER": f"127.0.0.1:{names.port}",
                    "TRANSACTION_ADDRESS": f"transaction.test:{old.ports[0]}",
                    "TRANSACTION_HEALTH_PORT": str(old.ports[1])}
        for name, service in self.services.items():
            settings.setdefault(f"{name.upper()}_ADDRESS", f"other.test:{service.ports[0]}")
        gateway = self.other_gateway(**settings)
        with Traffic(gateway) as traffic:
            self.assertTrue(eventually(lambda: len(traffic.answers) > 10, 20))
            names.known["transaction.test"] = ["127.0.0.2", "127.0.0.3"]
            self.assertTrue(eventually(lambda: "new" in traffic.answers, 20))
            # The old one says that it is not ready, and ends when nothing comes any more.
            old.healthy = False
            self.assertTrue(eventually(lambda: "DOWN" in [gateway.status("transaction", number) for number in (1, 2)]))
            names.known["transaction.test"] = ["127.0.0.3"]
            count = len(traffic.answers)
            self.assertTrue(eventually(lambda: len(traffic.answers) > count + 20, 20))
            self.assertEqual(set(traffic.answers[count + 10:]), {"new"})
        self.assertEqual(traffic.bad, [])

    def test_an_orderly_end_finishes_what_is_under_way(self):
        gateway = self.other_gateway()
        self.services["transaction"].mode, self.services["transaction"].pause = "sleep", 1.5
        answers = []
        asking = threading.Thread(target=lambda: answers.append(ask(gateway, "POST", "/transactions/p2p", body=b"{}")))
        asking.start()
        self.assertTrue(eventually(lambda: self.services["transaction"].seen))
        gateway.process.send_signal(signal.SIGUSR1)
        asking.join(20)
        self.assertEqual([answer.status for answer in answers], [200])
        self.assertIsNotNone(eventually(lambda: gateway.process.poll() is not None or None, 15))
        self.assertEqual(gateway.process.returncode, 0)
