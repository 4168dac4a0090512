"""How much, how long, how fast."""

import time

from cases import Case, Connection, ask, bearer, call
from client import context

WEBHOOK = "/webhooks/anchor"


class Sizes(Case):
    def test_bodies_up_to_what_a_path_takes_pass_and_longer_ones_are_refused(self):
        for method, path, limit in (
            ("POST", "/transactions/p2p", 65_536), ("POST", WEBHOOK, 262_144), ("PUT", "/users/me/image", 5_242_880),
            ("DELETE", "/subscriptions", 65_536),
        ):
            with self.subTest(path):
                answer = ask(self.gateway, method, path, body=b"x" * limit)
                self.assertEqual((answer.status, answer.json["body"]), (200, limit))
                for service in self.services.values():
                    service.seen.clear()
                answer = ask(self.gateway, method, path, body=b"x" * (limit + 1))
                self.assertRefused(answer, 413, "body_too_large")
                self.assertNothingArrived()

    def test_a_body_of_unknown_length_is_refused(self):
        headers = [("Transfer-Encoding", "chunked")]
        with Connection(self.gateway) as connection:
            connection.head("POST", "/transactions/p2p", [bearer(), *headers])
            connection.send(b"2\r\n{}\r\n0\r\n\r\n")
            self.assertRefused(connection.answer(), 411, "length_required")
        self.assertNothingArrived()

    def test_long_headers_and_paths_are_refused(self):
        answer = ask(self.gateway, "GET", "/wallet", [("X-Long", "x" * 14_000)])
        self.assertAnsweredBy(answer, "transaction")
        for headers in ([("X-Long", "x" * 17_000)], [(f"X-{n}", "x" * 500) for n in range(40)],
                        [(f"X-{n}", "x") for n in range(70)], [("X-Long", "x" * 28_000)]):
            answer = ask(self.gateway, "GET", "/wallet", headers)
            self.assertRefused(answer, 431, "request_header_fields_too_large")
        self.assertAnsweredBy(ask(self.gateway, "GET", "/transactions?cursor=" + "x" * 8000), "transaction")
        self.assertRefused(ask(self.gateway, "GET", "/transactions?cursor=" + "x" * 8200), 414, "uri_too_long")
        self.services["transaction"].seen.clear()
        # Beyond its buffer HAProxy speaks before a request exists: a bare 400.
        self.assertEqual(ask(self.gateway, "GET", "/wallet", [("X-Long", "x" * 60_000)]).status, 400)
        self.assertNothingArrived()

    def test_what_is_no_request_is_refused_and_the_connection_ends(self):
        for text in (b"\x00\x01nonsense\r\n\r\n", b"GET /wallet\r\n\r\n",
                     b"GET /wallet HTTP/1.1\r\nHost: a\r\nB c: d\r\n\r\n",
                     b"POST /webhooks/anchor HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"):
            with self.subTest(text), Connection(self.gateway) as connection:
                connection.send(text)
                self.assertEqual(connection.answer().status, 400)
                self.assertEqual(connection.socket.recv(1), b"")
        with Connection(self.gateway) as connection:
            connection.send(b"GET /wallet HTTP/1.1\r\n\r\n")
            self.assertRefused(connection.answer(), 400, "invalid_request")
        with Connection(self.gateway) as connection:
            connection.send(b"GET /wallet HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
            self.assertEqual(connection.answer().status, 400)
        self.assertNothingArrived()

    def test_a_second_request_cannot_hide_in_a_body(self):
        hidden = b"0\r\n\r\nGET /console HTTP/1.1\r\nHost: a\r\n\r\n"
        with Connection(self.gateway) as connection:
            connection.head("POST", WEBHOOK, [("Content-Length", str(len(hidden))), ("Transfer-Encoding", "chunked")])
            connection.send(hidden)
            self.assertIn(connection.answer().status, (400, 411))
        self.assertEqual([seen for seen in self.services["notification"].seen], [])


class Times(Case):
    def setUp(self):
        super().setUp()
        self.quick = self.other_gateway(GATEWAY_TIMEOUT_REQUEST="1s")

    def test_headers_that_come_slowly_end_the_connection(self):
        with Connection(self.quick) as connection:
            began = time.monotonic()
            connection.send(b"GET /wallet HTTP/1.1\r\nHost: a\r\n")
            try:
                while time.monotonic() - began < 8:
                    time.sleep(0.2)
                    connection.send(b"X-A: b\r\n")
            except OSError:
                pass
            self.assertLess(time.monotonic() - began, 5)
        self.assertNothingArrived()

    def test_a_body_that_comes_slowly_is_answered_408_and_no_service_waits_for_it(self):
        with Connection(self.quick) as connection:
            connection.head("POST", WEBHOOK, [("Content-Length", "100")])
            connection.send(b"{")
            self.assertRefused(connection.answer(), 408, "request_timeout")
        self.assertNothingArrived()

    def test_a_body_that_stays_out_over_http_2_is_answered_408(self):
        answers = self.over_http_2(b"")
        self.assertIn(b'"code":"request_timeout"', answers)
        self.assertNothingArrived()

    def over_http_2(self, body):
        """A POST that says it is 100 bytes long, in frames made by hand; what came back."""
        def text(value):
            return bytes([len(value)]) + value

        def frame(kind, flags, stream, data):
            return len(data).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + data

        # POST and https are in the static table; the others are literals without indexing.
        head = b"\x83\x87" + b"\x04" + text(WEBHOOK.encode()) + b"\x01" + text(b"api.example")
        head += b"\x00" + text(b"content-length") + text(b"100")
        with Connection(self.quick, tls=context(protocols=("h2",)), timeout=5) as connection:
            connection.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + frame(1, 4, 1, head))
            if body:
                connection.send(frame(0, 0, 1, body))
            answers = b""
            while b"request_timeout" not in answers and (piece := connection.socket.recv(65_536)):
                answers += piece
        return answers


class Rates(Case):
    def statuses(self, gateway, count, source, path="/wallet", headers=None, method="GET"):
        headers = [bearer()] if headers is None else headers
        body = b"{}" if method == "POST" else None
        return [call(gateway, method, path, headers, body, source).status for _ in range(count)]

    def test_an_address_that_asks_too_often_is_answered_429_and_others_are_not(self):
        gateway = self.other_gateway(GATEWAY_REQUEST_RATE="10", GATEWAY_PROXY_NETWORKS="127.0.0.1")
        self.assertEqual(self.statuses(gateway, 10, "192.0.2.1"), [200] * 10)
        answer = ask(gateway, "GET", "/wallet", source="192.0.2.1")
        self.assertRefused(answer, 429, "too_many_requests", retry_after="10",
                           ratelimit_policy='"gateway";q=10;w=10')
        self.assertIn("10 requests in 10 seconds", answer.error["detail"])
        upload = ask(gateway, "PUT", "/users/me/image", body=b"x" * 40_000, source="192.0.2.1")
        self.assertRefused(upload, 429, "too_many_requests", ratelimit_policy='"gateway";q=10;w=10')
        self.assertIn("10 requests in 10 seconds", upload.error["detail"])
        self.assertEqual(self.statuses(gateway, 5, "192.0.2.2"), [200] * 5)
        self.assertEqual(self.statuses(gateway, 5, "::ffff:192.0.2.3"), [200] * 5)
        self.assertEqual(self.statuses(gateway, 10, "::ffff:192.0.2.4"), [200] * 10)
        self.assertEqual(self.statuses(gateway, 1, "::ffff:192.0.2.4"), [429])
        # One address, written in two ways.
        self.assertEqual(self.statuses(gateway, 1, "::ffff:192.0.2.1"), [429])

    def test_addresses_of_one_64_are_one_client(self):
        gateway = self.other_gateway(GATEWAY_REQUEST_RATE="10", GATEWAY_PROXY_NETWORKS="127.0.0.1")
        spread = [self.statuses(gateway, 1, f"2001:db8:0:1:{number:x}::1")[0] for number in range(12)]
        self.assertEqual(spread, [200] * 10 + [429] * 2)
        self.assertEqual(self.statuses(gateway, 3, "2001:db8:0:2::1"), [200] * 3)

    def test_who_is_refused_too_often_is_answered_429(self):
        gateway = self.other_gateway(GATEWAY_REFUSAL_RATE="5", GATEWAY_PROXY_NETWORKS="127.0.0.1")
        self.assertEqual(self.statuses(gateway, 8, "192.0.2.1", headers=[]), [401] * 6 + [429] * 2)
        self.assertEqual(self.statuses(gateway, 1, "192.0.2.1", path="/.env"), [429])
        self.assertEqual(self.statuses(gateway, 8, "192.0.2.2", path="/.env"), [404] * 6 + [429] * 2)
        self.assertEqual(self.statuses(gateway, 1, "192.0.2.3"), [200])

    def test_who_has_no_token_stops_nobody_behind_the_same_address_who_has(self):
        gateway = self.other_gateway(GATEWAY_REFUSAL_RATE="5", GATEWAY_REQUEST_RATE="20", GATEWAY_PROXY_NETWORKS="127.0.0.1")
        for source in ("192.0.2.1", "2001:db8::1"):
            self.assertEqual(self.statuses(gateway, 30, source, headers=[])[-10:], [429] * 10)
            self.assertEqual(self.statuses(gateway, 10, source), [200] * 10)
            self.assertEqual(self.statuses(gateway, 3, source, path="/health", headers=[]), [200] * 3)

    def test_webhooks_count_apart(self):
        gateway = self.other_gateway(GATEWAY_WEBHOOK_RATE="4", GATEWAY_PROXY_NETWORKS="127.0.0.1")
        self.assertEqual(self.statuses(gateway, 6, "192.0.2.1", WEBHOOK, [], "POST"), [200] * 4 + [429] * 2)
        refused = call(gateway, "POST", WEBHOOK, [], b"{}", "192.0.2.1")
        self.assertEqual(refused.headers["ratelimit-policy"], '"webhooks";q=4;w=10')
        self.assertEqual(self.statuses(gateway, 5, "192.0.2.1"), [200] * 5)
        self.assertEqual(self.statuses(gateway, 3, "192.0.2.2", WEBHOOK, [], "POST"), [200] * 3)
        gateway = self.other_gateway(GATEWAY_REQUEST_RATE="3", GATEWAY_PROXY_NETWORKS="127.0.0.1")
        hooks = self.statuses(gateway, 12, "192.0.2.1", WEBHOOK, [], "POST")
        self.assertEqual(hooks, [200] * 12)
        self.assertEqual(self.statuses(gateway, 3, "192.0.2.1"), [200] * 3)

    def test_an_address_with_too_many_connections_gets_no_more(self):
        for settings in ({}, {"GATEWAY_PROXY_NETWORKS": "127.0.0.1"}):
            gateway = self.other_gateway(GATEWAY_CONNECTIONS="5", **settings)
            sources = ("192.0.2.1", "192.0.2.2") if settings else (None, None)
            held = [Connection(gateway, sources[0]) for _ in range(5)]
            with self.assertRaises(OSError):
                call(gateway, "GET", "/health", source=sources[0])
            if settings:
                self.assertEqual(call(gateway, "GET", "/health", source=sources[1]).status, 200)
            for connection in held:
                connection.__exit__()
            gateway.__exit__()

    def test_an_address_that_connects_too_often_is_cut_off(self):
        gateway = self.other_gateway(GATEWAY_CONNECTION_RATE="5", GATEWAY_PROXY_NETWORKS="127.0.0.1")
        for _ in range(5):
            self.assertEqual(call(gateway, "GET", "/health", source="192.0.2.1").status, 200)
        with self.assertRaises(OSError):
            call(gateway, "GET", "/health", source="192.0.2.1")
        self.assertEqual(call(gateway, "GET", "/health", source="192.0.2.2").status, 200)

    def test_nobody_but_the_load_balancer_says_for_whom_it_comes(self):
        gateway = self.other_gateway(GATEWAY_PROXY_NETWORKS="192.0.2.0/24")
        with self.assertRaises(OSError):
            call(gateway, "GET", "/health", source="192.0.2.1")
        self.assertEqual(call(gateway, "GET", "/health").status, 200)
