"""What is logged, and what must not be."""

import json
import socket
import ssl
import uuid

from cases import Case, Connection, ask, bearer, call
from client import context, token
from proxy import eventually
from services import TRACE


class Logs(Case):
    def setUp(self):
        super().setUp()
        self.own = self.other_gateway(GATEWAY_PROXY_NETWORKS="127.0.0.1", GATEWAY_TIMEOUT_SERVER="1s",
                                      GATEWAY_CONNECTIONS="50")

    def logged(self, count):
        self.assertTrue(eventually(lambda: len(self.own.lines()) >= count))
        return [json.loads(line) for line in self.own.lines()]

    def test_a_line_is_json_and_says_what_happened(self):
        asked = ask(self.own, "GET", "/users/bayo?x=1", [("X-Request-Id", str(uuid.uuid4()))], source="192.0.2.7")
        name = asked.headers["x-request-id"]
        (line,) = self.logged(1)
        wanted = {
            "service": "gateway", "message": "request", "request_id": name, "trace_id": TRACE, "method": "GET",
            "route": "/users/{username}", "status": 200, "backend": "customer", "server": "customer1", "http": "1",
            "tls": "TLSv1.3", "network": "192.0.2.0", "retries": "0",
        }
        self.assertEqual({key: line[key] for key in wanted}, wanted)
        self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertGreaterEqual(line["duration_ms"], 0)

    def test_no_line_holds_a_token_a_query_a_name_or_a_whole_address(self):
        secrets = ["canary-query", "canary-name", "canary-agent", "canary-body", "CANARY", "192.0.2.77", "::cafe",
                   "2001:db8:1:2:3", "user_secret", "Bearer"]
        good = token()
        sources = ("192.0.2.77", "2001:db8:1:2:3:4:5:cafe")
        sent = 0
        for source in sources:
            for method, path, headers in (
                ("GET", "/wallet?canary-query=1", [bearer(good)]), ("GET", "/users/canary-name", [bearer(good)]),
                ("GET", "/canary-name?canary-query", []), ("GET", "/users/canary-name", []),
                ("CANARY", "/wallet", [bearer(good)]), ("POST", "/webhooks/anchor?canary-query", []),
                ("GET", "/money-drops/canary-name", [bearer(good), ("Cookie", "canary-query")]),
                ("GET", "/wallet?canary-query" + "x" * 9000, [bearer(good)]),
                ("GET", "/wallet", [bearer(good), ("X-Request-Id", "canary-name")]),
                ("GET", "/wallet", [bearer(good), ("Canary-Name", "canary-name" * 2000)]),
            ):
                more = [("User-Agent", "canary-agent"), ("Referer", "https://canary-name/")]
                call(self.own, method, path, [*more, *headers], b"canary-body" if method == "POST" else None, source)
                sent += 1
        self.services["transaction"].mode, self.services["transaction"].pause = "sleep", 3
        ask(self.own, "GET", "/wallet?canary-query", source=sources[0])
        self.connections_that_fail(sources)
        lines = self.logged(sent + 1)
        text = self.own.log.read_text()
        for secret in (*secrets, *good.split("."), good[:40]):
            self.assertNotIn(secret, text)
        self.assertLessEqual({line["network"] for line in lines} - {"-"}, {"192.0.2.0", "2001:db8:1::", "127.0.0.0"})
        self.assertIn(504, [line["status"] for line in lines])

    def connections_that_fail(self, sources):
        """TLS that nobody wants, no TLS, a PROXY header that is none, and bytes that are no request."""
        for source in sources:
            old = context.__wrapped__(ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_1)
            with self.assertRaises(ssl.SSLError):
                Connection(self.own, source, tls=old)
            with Connection(self.own, source) as connection:
                connection.send(b"canary-query / HTTP/1.1\r\nHost: canary-name\r\nB ad: canary-body\r\n\r\n")
                self.assertEqual(connection.answer().status, 400)
            family, target = ("TCP6", "::1") if ":" in source else ("TCP4", "127.0.0.1")
            for text in (f"PROXY {family} {source} {target} 1 2\r\nGET /canary-name HTTP/1.1\r\n\r\n",
                         f"PROXY nonsense {source}\r\n"):
                with socket.create_connection(("127.0.0.1", self.own.ports["https"]), timeout=5) as plain:
                    plain.sendall(text.encode())
                    try:
                        while plain.recv(4096):
                            pass
                    except OSError:
                        pass
