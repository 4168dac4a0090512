"""A client that sends what it is told to, byte by byte, and tokens that look like session tokens."""

import base64
import functools
import http.client
import json
import socket
import ssl
import time


def part(value):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def token(header=None, claims=None, signature=b"s" * 256, **changes):
    """A token that the gateway believes; its signature is none, which only the services could tell."""
    header = {"alg": "RS256", "kid": "ins_1", "typ": "JWT"} if header is None else header
    now = int(time.time())
    fresh = {"sub": "user_secret", "iss": "https://clerk.example", "sid": "s", "iat": now, "exp": now + 60}
    claims = {**fresh, **changes} if claims is None else claims
    return f"{part(header)}.{part(claims)}.{part(signature)}"


def bearer(text=None):
    return ("Authorization", f"Bearer {token() if text is None else text}")


class Answer:
    def __init__(self, response, body):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        (error,) = self.json["errors"]
        return error


@functools.cache
def context(lowest=None, highest=None, protocols=("http/1.1",)):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    made.set_alpn_protocols(list(protocols))
    # Debian's OpenSSL refuses old versions by itself; here the gateway is to do so.
    made.set_ciphers("ALL:@SECLEVEL=0")
    if lowest:
        made.minimum_version = lowest
    if highest:
        made.maximum_version = highest
    return made


class Connection:
    """One connection to the gateway; `source` is the address that a load balancer in front would name."""

    def __init__(self, gateway, source=None, tls=None, timeout=15):
        self.socket = socket.create_connection(("127.0.0.1", gateway.ports["https"]), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if source:
            family = "TCP6" if ":" in source else "TCP4"
            target = "::1" if ":" in source else "127.0.0.1"
            self.socket.sendall(f"PROXY {family} {source} {target} 40000 443\r\n".encode())
        try:
            self.socket = (tls or context()).wrap_socket(self.socket, server_hostname="localhost")
        except BaseException:
            self.socket.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def head(self, method, target, headers=(), host="api.example"):
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in headers)]
        self.send("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def answer(self, method="GET"):
        response = http.client.HTTPResponse(self.socket, method=method)
        response.begin()
        return Answer(response, response.read())

    def call(self, method, target, headers=(), body=None):
        if body is not None:
            headers = [*headers, ("Content-Length", str(len(body)))]
        try:
            self.head(method, target, headers)
            if body:
                self.send(body)
        except OSError:
            # Refused before all of it was sent: the answer is there.
            pass
        return self.answer(method)


def call(gateway, method, target, headers=(), body=None, source=None):
    with Connection(gateway, source) as connection:
        return connection.call(method, target, headers, body)


def ask(gateway, method, target, headers=(), body=None, source=None):
    """The same with a good token."""
    return call(gateway, method, target, [bearer(), *headers], body, source)
