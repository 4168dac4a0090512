"""Things that orders use up or take turns with, and those that become usable only after a while."""

import asyncio
import collections
import json
import random
import struct
import zlib

# How many ids one look asks about.
LOOK = 200


def data(body):
    return json.dumps(body).encode()


def picture():
    """A PNG that no other is equal to."""
    side = 8
    rows = b"".join(b"\0" + random.randbytes(3 * side) for _ in range(side))

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Turns:
    """Things of which each is in one order at a time; the order gives it back when it is settled."""

    def __init__(self, things=()):
        self.free = collections.deque(things)
        self.all = list(self.free)

    def add(self, thing):
        self.all.append(thing)
        self.free.append(thing)

    def take(self, fits=lambda thing: True):
        for _ in range(len(self.free)):
            thing = self.free.popleft()
            if fits(thing):
                return thing
            self.free.append(thing)
        return None

    def give(self, thing):
        self.free.append(thing)


class Ripening:
    """Waits for things to become usable, as the databases say: what is asked too early would be refused for good."""

    def __init__(self, world):
        self.world = world
        # service, SQL that gives those of the ids that are ripe: (id, more...)
        self.kinds = {}
        self.waiting = collections.defaultdict(dict)

    def kind(self, name, service, sql):
        self.kinds[name] = (service, sql)

    def add(self, name, identity, then):
        self.waiting[name][identity] = then

    def look(self):
        for name, things in self.waiting.items():
            if not things:
                continue
            service, sql = self.kinds[name]
            for row in self.world.rows(service, sql, list(things)[:LOOK]):
                then = things.pop(str(row[0]), None)
                if then:
                    then(*row[1:])
            # Those that are not ripe yet go behind the others.
            for identity in list(things)[:LOOK]:
                things[identity] = things.pop(identity)

    async def beside(self, work):
        """Looks while this is done, and ends with it. Whichever fails ends both, with its error."""
        looking, working = asyncio.create_task(self.run()), asyncio.create_task(work)
        try:
            await asyncio.wait((looking, working), return_when=asyncio.FIRST_COMPLETED)
            return await (looking if looking.done() else working)
        finally:
            looking.cancel()
            working.cancel()

    async def run(self):
        while True:
            self.look()
            await asyncio.sleep(0.3)
