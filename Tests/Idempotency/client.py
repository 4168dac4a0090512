"""A small HTTP client of one event loop: connections that stay open, answers byte by byte, nothing repeated in secret."""

import asyncio
import collections
import json

# So long a client waits for an answer. Services give up earlier, and say so.
SECONDS = 25


class Lost(Exception):
    """The connection ended, or no answer came in time: nobody knows what became of the request."""


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def is_good(self):
        return 200 <= self.status < 300

    @property
    def is_replayed(self):
        return self.headers.get("idempotency-replayed") == "true"

    def json(self):
        return json.loads(self.body)

    def code(self):
        """The code of an error's first entry."""
        try:
            return self.json()["errors"][0]["code"]
        except (ValueError, KeyError, IndexError, TypeError):
            return ""

    def shown(self):
        return f"{self.status} {self.body[:300].decode(errors='replace')}"


class Client:
    """Connections by address, each `host:port`."""

    def __init__(self):
        self.idle = collections.defaultdict(list)

    async def send(self, address, method, path, headers, body=b"", seconds=SECONDS):
        """One request. One over a connection that the server had closed meanwhile is sent again over a new one."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {address}", *(f"{name}: {value}" for name, value in headers.items())]
        if body or method in ("POST", "PUT"):
            lines.append(f"Content-Length: {len(body)}")
        message = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
        try:
            async with asyncio.timeout(seconds):
                return await self._exchange(address, message)
        except (OSError, EOFError, TimeoutError, ValueError) as error:
            raise Lost(f"{method} {path}: {type(error).__name__} {error}") from error

    async def _exchange(self, address, message):
        while self.idle[address]:
            reader, writer = self.idle[address].pop()
            if reader.at_eof() or writer.is_closing():
                writer.close()
                continue
            try:
                return await self._over(address, reader, writer, message)
            except (OSError, EOFError) as error:
                # Nothing came back: it was closed while it lay idle.
                if not isinstance(error, (ConnectionError, asyncio.IncompleteReadError)) or getattr(error, "partial", b""):
                    raise
        host, port = address.rsplit(":", 1)
        reader, writer = await asyncio.open_connection(host, int(port))
        return await self._over(address, reader, writer, message)

    async def _over(self, address, reader, writer, message):
        stays = False
        try:
            writer.write(message)
            answer, stays = await self._read(reader)
            return answer
        finally:
            if stays:
                self.idle[address].append((reader, writer))
            else:
                writer.close()

    @staticmethod
    async def _read(reader):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(head[0].split(" ", 2)[1])
        headers = {}
        for line in head[1:]:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        body = b""
        if headers.get("transfer-encoding") == "chunked":
            while size := int((await reader.readline()).split(b";")[0], 16):
                body += (await reader.readexactly(size + 2))[:-2]
            await reader.readline()
        elif status not in (204, 304):
            body = await reader.readexactly(int(headers.get("content-length", "0")))
        return Answer(status, headers, body), headers.get("connection", "").lower() != "close"

    def close(self):
        for connections in self.idle.values():
            for _, writer in connections:
                writer.close()
        self.idle.clear()
