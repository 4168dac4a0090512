"""A relay of TCP on the loopback interface, which can be switched over to another server in the middle of everything."""

import asyncio
import contextlib
import threading

from replicas import free_port


class Relay:
    """Runs on a thread of its own, so that nothing that a test does holds it up."""

    def __init__(self, target, given):
        self.target, self.port = target, free_port(given)
        self.writers = set()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def start(self):
        self.thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self.loop).result(30)
        return self

    async def _listen(self):
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def _serve(self, reader, writer):
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.close()
            return
        both = {writer, back}
        self.writers |= both
        try:
            await asyncio.gather(self._pump(reader, back), self._pump(there, writer))
        finally:
            self.writers -= both

    @staticmethod
    async def _pump(reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    def switch(self, target):
        """From now on connections lead there; those that are open are cut."""
        async def cut():
            self.target = target
            for writer in self.writers:
                writer.transport.abort()

        asyncio.run_coroutine_threadsafe(cut(), self.loop).result(30)
