"""Where requests go, and where they never go."""

import json
import pathlib
import subprocess

from cases import Case, ask, bearer, call, configured


class Routing(Case):
    def test_every_documented_operation_arrives_at_its_service_as_it_was_sent(self):
        operations = list(configured.documented())
        self.assertGreater(len(operations), 80)
        for method, path, service, needs_token in operations:
            with self.subTest(f"{method} {path}"):
                body = b"{}" if method in ("POST", "PUT") else None
                target = path + "?cursor=a%2Fb&x=1"
                answer = call(self.gateway, method, target, [bearer()] if needs_token else [], body)
                self.assertAnsweredBy(answer, service)
                self.assertEqual((answer.json["method"], answer.json["target"]), (method, target))

    def test_each_operation_that_needs_a_token_is_refused_without_one(self):
        for method, path, _, needs_token in configured.documented():
            if needs_token:
                with self.subTest(f"{method} {path}"):
                    answer = call(self.gateway, method, path)
                    self.assertRefused(answer, 401, "unauthenticated", www_authenticate="Bearer")
        self.assertNothingArrived()

    def test_the_operators_page_and_what_it_asks_for(self):
        for method, path in (
            ("GET", "/console"), ("GET", "/console/assets/main.js"), ("POST", "/console/api/session"),
            ("DELETE", "/console/api/session"), ("GET", "/console/api/archive/traces/trf-019aa36c-5d5c-7cc5"),
            ("POST", "/console/api/services/transaction/transfers/019aa36c-5d5c-7cc5/proposals"),
        ):
            with self.subTest(path):
                answer = call(self.gateway, method, path, body=b"{}" if method == "POST" else None)
                self.assertAnsweredBy(answer, "console")

    def test_pages_to_read_and_their_files(self):
        for path in (
            "/", "/docs", "/docs/", "/docs/first-payment", "/docs/assets/site.css", "/docs/assets/icon.svg",
            "/docs/reference/swagger-ui-bundle.js", "/asyncapi.json",
        ):
            with self.subTest(path):
                self.assertAnsweredBy(call(self.gateway, "GET", path), "console")
                answer = call(self.gateway, "POST", path, body=b"{}")
                self.assertRefused(answer, 405, "method_not_allowed", allow="GET, HEAD")

    def test_inventing_people_is_posted(self):
        for path in ("/docs/sandbox/tokens", "/docs/sandbox/money"):
            self.assertAnsweredBy(call(self.gateway, "POST", path, body=b"{}"), "console")
            self.assertRefused(ask(self.gateway, "GET", path), 405, "method_not_allowed", allow="POST")

    def test_what_lies_near_pages_goes_nowhere(self):
        for path in (
            "//", "/docs//", "/docs/assets", "/docs/assets/", "/docs/first-payment/", "/docs/other", "/docs/index.html",
            "/docs/assets/../first-payment", "/docs/assets/%2e%2e", "/docs/reference/a.b.c", "/asyncapi.json/",
            "/asyncapi", "/asyncapiXjson", "/docs/sandbox", "/docs/sandbox/faults", "/docs/sandbox/tokens/",
        ):
            with self.subTest(path):
                self.assertRefused(ask(self.gateway, "GET", path), 404, "unknown_route")
        self.assertNothingArrived()

    def test_the_operators_page_and_the_events_are_for_networks_of_ours(self):
        gateway = self.other_gateway(GATEWAY_CONSOLE_NETWORKS="192.0.2.0/24 2001:db8::/32",
                                     GATEWAY_PROXY_NETWORKS="127.0.0.1")
        for source, allowed in (("192.0.2.7", True), ("2001:db8::7", True), ("198.51.100.7", False), ("::7", False)):
            for path in ("/console", "/asyncapi.json", "/docs/sandbox/tokens"):
                with self.subTest(f"{path} from {source}"):
                    is_read = path != "/docs/sandbox/tokens"
                    answer = call(gateway, "GET" if is_read else "POST", path, source=source)
                    if allowed:
                        self.assertAnsweredBy(answer, "console")
                    else:
                        self.assertRefused(answer, 404, "unknown_route")
            for path in ("/", "/docs/"):
                self.assertAnsweredBy(call(gateway, "GET", path, source=source), "console")

    def test_what_is_internal_is_nowhere_in_any_spelling(self):
        for inside in (*configured.INSIDE, "/internal/keys/019aa36c-5d5c-7cc5-a5a9-5f3a2f1f0b11"):
            for spelling in configured.spellings(inside):
                for target in (spelling, "https://auth:9080" + spelling):
                    with self.subTest(target):
                        headers = [bearer(), ("Transfa-Operator", "ada")]
                        self.assertIn(call(self.gateway, "GET", target, headers).status, (400, 404))
        self.assertNothingArrived()

    def test_a_forwarded_path_or_an_overriding_header_changes_nothing(self):
        for name in ("X-Original-URL", "X-Rewrite-URL", "X-HTTP-Method-Override", "X-Forwarded-Prefix"):
            answer = ask(self.gateway, "GET", "/wallet", [(name, "/internal/users")])
            self.assertAnsweredBy(answer, "transaction")
            self.assertEqual((answer.json["method"], answer.json["target"]), ("GET", "/wallet"))

    def test_an_absolute_target_is_sent_on_as_a_path(self):
        answer = ask(self.gateway, "GET", "https://api.example/wallet?a=b")
        self.assertAnsweredBy(answer, "transaction")
        self.assertEqual(answer.json["target"], "/wallet?a=b")

    def test_unknown_paths_and_methods_are_refused_by_the_gateway(self):
        for path in ("/wallets", "/wallet/", "/Wallet", "/users/ada/..", "/d/x", "/favicon.ico", "/users/a%2fb"):
            self.assertRefused(ask(self.gateway, "GET", path), 404, "unknown_route")
        answer = ask(self.gateway, "POST", "/wallet", body=b"{}")
        self.assertRefused(answer, 405, "method_not_allowed", allow="GET, HEAD")
        for method in ("PATCH", "TRACE", "OPTIONS", "PROPFIND", "PUT"):
            answer = ask(self.gateway, method, "/money-drops")
            self.assertRefused(answer, 405, "method_not_allowed", allow="GET, POST, HEAD")
        self.assertNothingArrived()

    def test_head_is_answered_as_get_without_a_body(self):
        answer = ask(self.gateway, "HEAD", "/wallet")
        self.assertEqual((answer.status, answer.body), (200, b""))
        for path, kind in (("/openapi.yaml", "application/yaml"), ("/health", "application/json")):
            answer = call(self.gateway, "HEAD", path)
            self.assertEqual((answer.status, answer.headers["content-type"], answer.body), (200, kind, b""))
        self.assertEqual(call(self.gateway, "HEAD", "/nowhere").status, 404)
        self.assertRefused(ask(self.gateway, "POST", "/images/a-1", body=b"{}"), 405, "method_not_allowed", allow="GET, HEAD")

    def test_the_document_of_all_paths_is_served_whole(self):
        document = (pathlib.Path(configured.GATEWAY) / "openapi.yaml").read_bytes()
        answer = call(self.gateway, "GET", "/openapi.yaml")
        self.assertEqual((answer.status, answer.headers["content-type"]), (200, "application/yaml"))
        self.assertEqual(answer.body, document)
        self.assertRefused(call(self.gateway, "DELETE", "/openapi.yaml"), 405, "method_not_allowed", allow="GET, HEAD")

    def test_the_gateway_says_that_it_lives_and_shows_its_metrics_inside_only(self):
        self.assertEqual(call(self.gateway, "GET", "/health").json, {"status": "live"})
        base = f"http://127.0.0.1:{self.gateway.ports['internal']}"
        asked = [subprocess.run(["curl", "-s", base + path], capture_output=True, timeout=10, check=True).stdout
                 for path in ("/metrics", "/health/live", "/health/ready", "/wallet")]
        self.assertIn(b"haproxy_backend_http_responses_total", asked[0])
        self.assertEqual([json.loads(text)["status"] for text in asked[1:3]], ["live", "ready"])
        self.assertEqual(json.loads(asked[3])["errors"][0]["code"], "unknown_route")
