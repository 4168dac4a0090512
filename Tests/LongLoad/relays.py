"""Relays of TCP between each service and each server, which can be cut: refused, or silent as behind a broken cable."""

import asyncio
import contextlib
import threading


class Relay:
    """One service's way to one server."""

    def __init__(self, port):
        self.target = port
        self.writers = set()
        self.flows = asyncio.Event()
        self.flows.set()
        self.refuses = False

    async def listen(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        if self.refuses:
            writer.transport.abort()
            return
        await self.flows.wait()
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        both = {writer, back}
        self.writers |= both
        try:
            await asyncio.gather(self.pump(reader, back), self.pump(there, writer))
        finally:
            self.writers -= both

    async def pump(self, reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if not self.flows.is_set():
                    await self.flows.wait()
                writer.write(data)
                await writer.drain()
        writer.close()


class Relays:
    """On a thread of its own, so that nothing that the test does holds them up."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.relays = {}
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def add(self, service, server, port):
        """The port at which the service finds the server from now on."""
        async def made():
            relay = Relay(port)
            await relay.listen()
            return relay

        self.relays[service, server] = self.do(made())
        return self.relays[service, server].port

    def cut(self, ways, is_silent):
        """What is silent loses nothing, and goes on when it is mended; else connections end and none is taken."""
        async def cut():
            for way in ways:
                relay = self.relays[way]
                if is_silent:
                    relay.flows.clear()
                    continue
                relay.refuses = True
                for writer in list(relay.writers):
                    writer.transport.abort()

        self.do(cut())

    def mend(self, ways):
        async def mend():
            for way in ways:
                self.relays[way].refuses = False
                self.relays[way].flows.set()

        self.do(mend())
