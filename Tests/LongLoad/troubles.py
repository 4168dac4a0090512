"""What happens to processes, servers and the ways between them, one thing at a time, and how it is mended."""

import time

from suite import SERVICES

SERVERS = ("postgres", "rabbitmq", "redis")


class Troubles:
    def __init__(self, suite, chance, peace):
        self.suite, self.chance, self.peace = suite, chance, peace
        self.told = []
        self.spares_postgres = False
        # How long something may last, in seconds.
        self.longest = 40

    @property
    def count(self):
        return len(self.told)

    def act(self):
        kinds = [self.kill_service] * 4 + [self.kill_server] * 3 + [self.cut] * 4 + [self.freeze, self.kill_provider,
                                                                                    self.refuse]
        with self.peace:
            self.chance.choice(kinds)()

    def tell(self, text):
        self.told.append(text)
        print(f"        trouble: {text}", flush=True)

    def kill_service(self):
        service, seconds = self.chance.choice(SERVICES), self.chance.uniform(1, 15)
        self.tell(f"{service} is killed for {seconds:.0f} s")
        self.suite.kill(service)
        time.sleep(seconds)
        self.suite.start(service)

    def kill_server(self):
        server = self.chance.choice([each for each in SERVERS if each != "postgres" or not self.spares_postgres])
        seconds = self.chance.uniform(1, 10)
        self.tell(f"{server} is killed for {seconds:.0f} s")
        self.suite.server("kill", server)
        time.sleep(seconds)
        self.suite.server("start", server)

    def cut(self):
        """One service is cut off from one server."""
        way = self.chance.choice(sorted(self.suite.relays.relays))
        self.cut_ways([way], f"{way[0]} is cut off from its {way[1]}")

    def refuse(self):
        """The provider takes no connection of anybody."""
        ways = [way for way in self.suite.relays.relays if way[1] == "provider"]
        self.cut_ways(ways, "the provider is out of reach")

    def cut_ways(self, ways, what):
        seconds, is_silent = self.chance.uniform(5, self.longest), self.chance.random() < 0.5
        self.tell(f"{what} for {seconds:.0f} s, {'silently' if is_silent else 'with refusals'}")
        self.suite.relays.cut(ways, is_silent)
        try:
            time.sleep(seconds)
        finally:
            self.suite.relays.mend(ways)

    def freeze(self):
        service, seconds = self.chance.choice(SERVICES), self.chance.uniform(5, 20)
        self.tell(f"{service} hangs for {seconds:.0f} s")
        self.suite.signal(service, "SIGSTOP")
        try:
            time.sleep(seconds)
        finally:
            self.suite.signal(service, "SIGCONT")

    def kill_provider(self):
        """It knows afterwards what it knew."""
        seconds = self.chance.uniform(1, 10)
        with self.suite.desk:
            self.tell(f"the provider is killed for {seconds:.0f} s")
            self.suite.kill("sandbox")
            time.sleep(seconds)
            self.suite.start("sandbox")
