"""Services that are gone, ill, slow, or end a connection in the middle; and live streams."""

import time

from cases import Case, Connection, World, ask, bearer
from client import Answer
from proxy import eventually
from services import Service


class Faults(Case):
    def setUp(self):
        super().setUp()
        self.transaction = self.services["transaction"]
        self.addCleanup(self.heal)

    def heal(self):
        self.transaction.reset()
        if not self.transaction.servers:
            self.transaction.start()
        self.assertTrue(eventually(lambda: World.gateway.status("transaction") == "UP"))

    def test_a_dead_service_is_answered_503_others_go_on_and_it_comes_back(self):
        self.transaction.stop()
        for method, path, body in (("GET", "/wallet", None), ("POST", "/transactions/p2p", b"{}")):
            answer = ask(self.gateway, method, path, body=body)
            self.assertRefused(answer, 503, "temporarily_unavailable", retry_after="1")
        self.assertTrue(eventually(lambda: self.gateway.status("transaction") == "DOWN"))
        began = time.monotonic()
        self.assertRefused(ask(self.gateway, "GET", "/wallet"), 503, "temporarily_unavailable", retry_after="1")
        self.assertLess(time.monotonic() - began, 2)
        self.assertAnsweredBy(ask(self.gateway, "GET", "/banks"), "customer")
        self.transaction.start()
        self.assertTrue(eventually(lambda: self.gateway.status("transaction") == "UP"))
        self.assertAnsweredBy(ask(self.gateway, "GET", "/wallet"), "transaction")

    def test_a_service_that_is_not_ready_gets_no_requests(self):
        self.transaction.healthy = False
        self.assertTrue(eventually(lambda: self.gateway.status("transaction") == "DOWN"))
        self.transaction.seen.clear()
        self.assertRefused(ask(self.gateway, "GET", "/wallet"), 503, "temporarily_unavailable")
        self.assertEqual(self.transaction.seen, [])

    def test_a_service_that_fails_again_and_again_is_left_alone_until_it_is_well(self):
        gateway = self.other_gateway(GATEWAY_ERROR_LIMIT="8", GATEWAY_CHECK_INTERVAL="3s")
        self.transaction.mode = "fail"
        statuses = []
        while len(statuses) < 40 and (not statuses or statuses[-1] == 500):
            statuses.append(ask(gateway, "GET", "/wallet").status)
        self.assertEqual(statuses, [500] * 8 + [503])
        self.assertEqual(len(self.transaction.seen), 8)
        self.transaction.mode = "answer"
        self.assertTrue(eventually(lambda: gateway.status("transaction") == "UP"))
        self.assertAnsweredBy(ask(gateway, "GET", "/wallet"), "transaction")

    def test_failures_between_successes_open_no_circuit(self):
        gateway = self.other_gateway(GATEWAY_ERROR_LIMIT="8")
        for _ in range(4):
            for _ in range(6):
                self.transaction.mode = "fail once"
                self.assertEqual(ask(gateway, "GET", "/wallet").status, 500)
            self.assertEqual(ask(gateway, "GET", "/wallet").status, 200)

    def test_what_changes_something_is_never_sent_twice(self):
        for method, path in (("POST", "/transactions/p2p"), ("PUT", "/limits"), ("DELETE", "/payment-requests/a-1"),
                             ("POST", "/payment-requests/a-1/pay")):
            with self.subTest(method):
                self.transaction.mode = "hang up"
                self.transaction.seen.clear()
                answer = ask(self.gateway, method, path, body=None if method == "DELETE" else b"{}")
                self.assertRefused(answer, 502, "bad_gateway")
                self.assertEqual(len(self.transaction.seen), 1)

    def test_a_read_whose_answer_did_not_come_is_asked_again(self):
        self.transaction.mode = "hang up once"
        self.assertAnsweredBy(ask(self.gateway, "GET", "/wallet"), "transaction")
        self.assertEqual(len(self.transaction.seen), 2)

    def test_a_service_that_is_silent_is_answered_504_and_not_asked_again(self):
        gateway = self.other_gateway(GATEWAY_TIMEOUT_SERVER="1s")
        self.transaction.mode, self.transaction.pause = "sleep", 3
        for method, path, body in (("POST", "/transactions/p2p", b"{}"), ("GET", "/wallet", None)):
            self.transaction.seen.clear()
            self.assertRefused(ask(gateway, method, path, body=body), 504, "gateway_timeout")
            self.assertEqual(len(self.transaction.seen), 1)

    def test_what_could_not_be_sent_goes_to_another_server_whatever_it_is(self):
        gateway = self.other_gateway(GATEWAY_CHECK_INTERVAL="30s")
        second = Service("second").start()
        self.addCleanup(second.stop)
        gateway.command(f"set server transaction/transaction2 addr 127.0.0.1 port {second.ports[0]}")
        # Its checks would go on asking where it was before.
        gateway.command("disable health transaction/transaction2")
        gateway.command("set server transaction/transaction2 state ready")
        self.assertTrue(eventually(lambda: gateway.status("transaction", 2).startswith(("UP", "asked", "no check"))))
        # Nobody has noticed yet that the first is gone.
        self.transaction.stop()
        answers = [ask(gateway, "POST", "/transactions/p2p", body=b"{}") for _ in range(6)]
        self.assertEqual([(answer.status, answer.json.get("service")) for answer in answers], [(200, "second")] * 6)


class Streams(Case):
    def setUp(self):
        super().setUp()
        self.notification = self.services["notification"]
        self.notification.mode = "stream"

    def events(self, gateway, token_headers=None):
        """(seconds since the start, text) of each piece that arrives."""
        with Connection(gateway) as connection:
            connection.head("GET", "/stream", token_headers or [bearer()])
            began = time.monotonic()
            pieces = []
            while piece := connection.socket.recv(65_536):
                pieces.append((time.monotonic() - began, piece))
                if b"\r\n0\r\n\r\n" in piece:
                    break
            return pieces

    def test_a_stream_stays_open_and_each_event_comes_at_once(self):
        gateway = self.other_gateway(GATEWAY_TIMEOUT_CLIENT="1s", GATEWAY_TIMEOUT_SERVER="1s",
                                     GATEWAY_TIMEOUT_STREAM="6s")
        self.notification.events, self.notification.pause = 3, 2.5
        pieces = self.events(gateway)
        times = [when for when, piece in pieces if b"\nid: " in piece]
        self.assertEqual(len(times), 3)
        self.assertGreater(pieces[-1][0], 7)
        for number, when in enumerate(times):
            self.assertAlmostEqual(when, 2.5 * number, delta=1.2)

    def test_a_stream_that_is_silent_for_too_long_ends(self):
        gateway = self.other_gateway(GATEWAY_TIMEOUT_STREAM="1s")
        self.notification.events, self.notification.pause = 2, 8
        began = time.monotonic()
        pieces = self.events(gateway)
        self.assertLess(time.monotonic() - began, 6)
        self.assertEqual(sum(piece.count(b"\nid: ") for _, piece in pieces), 1)

    def test_a_stream_needs_a_token_like_everything_else(self):
        with Connection(self.gateway) as connection:
            answer = connection.call("GET", "/stream")
        self.assertIsInstance(answer, Answer)
        self.assertRefused(answer, 401, "unauthenticated")
        self.assertNothingArrived()
