#!/usr/bin/env python3
"""tls_server.py <folder>: servers with good and bad certificates, over HTTP/1.1 and HTTP/2, which keep books.

Writes certificates to the folder and one line of JSON to standard output: the port of each server, by what is wrong with
its certificate, and that of the books: how many requests each server has got, without TLS. Runs until it is killed.
"""

import asyncio
import datetime
import ipaddress
import json
import pathlib
import ssl
import sys

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NOW = datetime.datetime.now(datetime.timezone.utc)
DAY = datetime.timedelta(days=1)


class Authority:
    """Who signs certificates."""

    def __init__(self, name):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.certificate = self.sign(self.name, self.key, is_authority=True)

    def sign(self, name, key, hosts=(), until=NOW + 2 * DAY, is_authority=False):
        builder = (x509.CertificateBuilder().subject_name(name).issuer_name(self.name).public_key(key.public_key())
                   .serial_number(x509.random_serial_number()).not_valid_before(NOW - 5 * DAY).not_valid_after(until)
                   .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True))
        if hosts:
            builder = builder.add_extension(x509.SubjectAlternativeName([general_name(host) for host in hosts]), False)
        return builder.sign(self.key, hashes.SHA256())


def general_name(host):
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def pem(certificate):
    return certificate.public_bytes(serialization.Encoding.PEM)


def context(folder, name, authority, protocols, hosts=("localhost",), **more):
    """What a server presents itself with."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0])])
    certificate = authority.sign(subject, key, hosts, **more)
    file = folder / f"{name}.pem"
    file.write_bytes(pem(certificate) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(file)
    made.set_alpn_protocols(protocols)
    return made


class OneByOne:
    """HTTP/1.1: /close ends the connection after its answer, as TLS wants it ended; /cut does in the middle of it."""

    def __init__(self, books, name):
        self.books, self.name = books, name

    async def serve(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split(b" ")[1].decode()
                lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
                if lengths:
                    await reader.readexactly(int(lengths[0]))
                self.books[self.name] = self.books.get(self.name, 0) + 1
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + (b"o" if path == "/cut" else b"ok"))
                await writer.drain()
                if path in ("/close", "/cut"):
                    break
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.close()


class Multiplexed(asyncio.Protocol):
    """HTTP/2 (RFC 9113): the path says what becomes of a request."""

    def __init__(self, books):
        self.books = books
        self.connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))

    def connection_made(self, transport):
        self.transport = transport
        self.books["h2 connections"] = self.books.get("h2 connections", 0) + 1
        self.connection.initiate_connection()
        self.flush()

    def flush(self):
        if data := self.connection.data_to_send():
            self.transport.write(data)

    def data_received(self, data):
        try:
            events = self.connection.receive_data(data)
        except h2.exceptions.ProtocolError:
            events = []
        for event in events:
            if isinstance(event, h2.events.RequestReceived):
                headers = {str(name): str(value) for name, value in self.text(event.headers)}
                self.paths = getattr(self, "paths", {}) | {event.stream_id: headers[":path"]}
            elif isinstance(event, h2.events.DataReceived):
                self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                self.act(event.stream_id, self.paths[event.stream_id])
        self.flush()

    @staticmethod
    def text(headers):
        return [tuple(part.decode() if isinstance(part, bytes) else part for part in pair) for pair in headers]

    def act(self, stream, path):
        self.books[path] = self.books.get(path, 0) + 1
        if path == "/reset":
            self.connection.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
        elif path == "/refuse":
            self.connection.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
        elif path == "/half":
            self.connection.send_headers(stream, [(":status", "200"), ("content-length", "100")])
            self.connection.send_data(stream, b"half")
            self.connection.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
        elif path == "/goaway":
            self.connection.close_connection(last_stream_id=stream - 2 if stream > 1 else 0)
            self.flush()
            self.transport.close()
        elif path == "/last":
            self.answer(stream)
            self.connection.close_connection()
            self.flush()
            self.transport.close()
        elif path == "/slow":
            asyncio.get_running_loop().call_later(0.3, self.later, stream)
        elif path != "/silent":
            self.answer(stream)

    def later(self, stream):
        self.answer(stream)
        self.flush()

    def answer(self, stream):
        self.connection.send_headers(stream, [(":status", "200"), ("content-length", "2")])
        self.connection.send_data(stream, b"ok", end_stream=True)


async def tell(books, reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    body = json.dumps(books).encode()
    writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    await writer.drain()
    writer.close()


async def main(folder):
    authority, stranger = Authority("An authority"), Authority("Another authority")
    (folder / "trusted.pem").write_bytes(pem(authority.certificate))
    (folder / "other.pem").write_bytes(pem(stranger.certificate))
    itself = Authority("localhost")
    books, loop = {}, asyncio.get_running_loop()
    contexts = {
        "good": context(folder, "good", authority, ["http/1.1"], ("localhost", "127.0.0.1")),
        "wrong host": context(folder, "wrong-host", authority, ["http/1.1"], ("other.example",)),
        "expired": context(folder, "expired", authority, ["http/1.1"], until=NOW - DAY),
        "stranger": context(folder, "stranger", stranger, ["http/1.1"]),
        "self-signed": context(folder, "self-signed", itself, ["http/1.1"]),
    }
    ports = {}
    for name, made in contexts.items():
        server = await asyncio.start_server(OneByOne(books, name).serve, "127.0.0.1", 0, ssl=made)
        ports[name] = server.sockets[0].getsockname()[1]
    two = context(folder, "h2", authority, ["h2"])
    server = await loop.create_server(lambda: Multiplexed(books), "127.0.0.1", 0, ssl=two)
    ports["h2"] = server.sockets[0].getsockname()[1]
    server = await asyncio.start_server(lambda reader, writer: tell(books, reader, writer), "127.0.0.1", 0)
    ports["books"] = server.sockets[0].getsockname()[1]
    print(json.dumps(ports), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(pathlib.Path(sys.argv[1])))
