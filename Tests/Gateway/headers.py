"""What services are told about the client, and what clients are told."""

import uuid

from cases import Case, ask, bearer, call
from services import PAGE_POLICY


class Requests(Case):
    def sent(self, *headers, source=None, gateway=None):
        """The headers that arrive: name -> values."""
        answer = ask(gateway or self.gateway, "GET", "/wallet", list(headers), source=source)
        self.assertAnsweredBy(answer, "transaction")
        found = {}
        for name, value in answer.json["headers"]:
            found.setdefault(name, []).append(value)
        return found, answer

    def test_a_request_has_a_name_of_ours_whatever_the_client_calls_it(self):
        good = str(uuid.uuid4())
        made = set()
        for values in ([], [good], [good.upper()], [""], ["x"], [good + "0"], [good[:-1]], [good.replace("-", "")], [f"{{{good}}}"],
                       [good + '"},{"a":"'], [good, good], [f"{good}, {good}"], ["g" + good[1:]], [f"{good}\\n"]):
            with self.subTest(values):
                arrived, answer = self.sent(*(("X-Request-Id", value) for value in values))
                (name,) = arrived["x-request-id"]
                self.assertEqual(str(uuid.UUID(name)), name)
                self.assertNotEqual(name, good)
                self.assertEqual(answer.headers["x-request-id"], name)
                made.add(name)
        self.assertEqual(len(made), 14)
        refused = call(self.gateway, "GET", "/wallet", [("X-Request-Id", good)])
        self.assertNotEqual(refused.error["id"], good)
        self.assertEqual(refused.error["id"], refused.headers["x-request-id"])

    def test_a_trace_of_the_client_goes_no_further(self):
        trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        arrived, _ = self.sent(("traceparent", f"00-{trace}-00f067aa0ba902b7-00"), ("tracestate", "a=b"))
        self.assertFalse({"traceparent", "tracestate"} & set(arrived))

    def test_what_a_client_says_about_its_address_is_not_believed(self):
        lies = [(name, "203.0.113.9") for name in ("X-Forwarded-For", "X-Forwarded-For", "X-Real-IP", "Forwarded")]
        arrived, _ = self.sent(*lies, ("X-Forwarded-Proto", "http"), ("X-Forwarded-Host", "evil"), ("Proxy", "evil"))
        self.assertEqual(arrived["x-forwarded-for"], ["127.0.0.1"])
        self.assertEqual(arrived["x-forwarded-proto"], ["https"])
        self.assertFalse({"x-real-ip", "forwarded", "x-forwarded-host", "proxy"} & set(arrived))

    def test_the_address_that_the_load_balancer_names_is_passed_on(self):
        gateway = self.other_gateway(GATEWAY_PROXY_NETWORKS="127.0.0.0/8")
        for source in ("198.51.100.7", "2001:db8::7"):
            arrived, _ = self.sent(("X-Forwarded-For", "203.0.113.9"), source=source, gateway=gateway)
            self.assertEqual(arrived["x-forwarded-for"], [source])

    def test_no_connection_is_switched_to_another_protocol(self):
        key = ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
        arrived, _ = self.sent(("Upgrade", "websocket"), ("Connection", "Upgrade"), key)
        self.assertNotIn("upgrade", arrived)
        settings = ("HTTP2-Settings", "AAMA")
        arrived, _ = self.sent(("Upgrade", "h2c"), ("Connection", "Upgrade, HTTP2-Settings"), settings)
        self.assertNotIn("upgrade", arrived)

    def test_what_services_need_is_passed_on(self):
        wanted = {"idempotency-key": "k-1", "transfa-approval": "pin abc", "if-none-match": '"a"',
                  "last-event-id": "7", "svix-signature": "v1,abc", "x-anchor-signature": "abc", "accept": "image/png"}
        arrived, _ = self.sent(*wanted.items())
        self.assertEqual({name: arrived[name][0] for name in wanted}, wanted)


class Answers(Case):
    def test_every_answer_has_the_security_headers(self):
        wanted = {
            "strict-transport-security": "max-age=31536000; includeSubDomains", "x-content-type-options": "nosniff",
            "content-security-policy": "default-src 'none'; frame-ancestors 'none'", "x-frame-options": "DENY",
            "referrer-policy": "no-referrer", "cache-control": "no-store",
        }
        for answer in (ask(self.gateway, "GET", "/wallet"), call(self.gateway, "GET", "/wallet"),
                       call(self.gateway, "GET", "/nowhere"), call(self.gateway, "GET", "/health")):
            self.assertEqual({name: answer.headers.get(name) for name in wanted}, wanted)
            self.assertNotIn("server", answer.headers)
            self.assertIn("x-request-id", answer.headers)

    def test_pages_keep_their_own_policy(self):
        for path in ("/console", "/", "/docs/", "/docs/first-payment"):
            answer = call(self.gateway, "GET", path)
            self.assertEqual(answer.headers["content-security-policy"], PAGE_POLICY)
            self.assertEqual(answer.headers["cache-control"], "no-cache")
            self.assertEqual(answer.headers["x-frame-options"], "DENY")

    def test_an_error_of_a_service_reaches_the_client_as_it_is(self):
        self.services["transaction"].mode = "fail once"
        answer = call(self.gateway, "GET", "/wallet", [bearer()])
        self.assertEqual((answer.status, answer.json["service"]), (500, "transaction"))
