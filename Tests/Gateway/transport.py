"""TLS, HTTP/2, and plain HTTP."""

import http.client
import json
import ssl
import subprocess

from cases import Case, Connection, ask, bearer
from client import context
from proxy import free_port


class Transport(Case):
    def version(self, lowest, highest, ciphers=None):
        tls = context.__wrapped__(lowest, highest)
        if ciphers:
            tls.set_ciphers(ciphers + ":@SECLEVEL=0")
        with Connection(self.gateway, tls=tls) as connection:
            return connection.socket.version()

    def test_old_versions_of_tls_are_refused(self):
        versions = ssl.TLSVersion
        for old in (versions.TLSv1, versions.TLSv1_1):
            with self.subTest(old), self.assertRaises(ssl.SSLError) as caught:
                self.version(old, old)
            # Said by the gateway, and not by the library on this side.
            self.assertIn("ALERT_PROTOCOL_VERSION", str(caught.exception))
        self.assertEqual(self.version(versions.TLSv1_2, versions.TLSv1_2), "TLSv1.2")
        self.assertEqual(self.version(versions.TLSv1_2, None), "TLSv1.3")

    def test_old_ciphers_are_refused(self):
        v12 = ssl.TLSVersion.TLSv1_2
        for cipher in ("AES128-SHA", "AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384",
                       "ECDHE-ECDSA-NULL-SHA"):
            with self.subTest(cipher), self.assertRaises(ssl.SSLError):
                self.version(v12, v12, cipher)
        for cipher in ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"):
            self.assertEqual(self.version(v12, v12, cipher), "TLSv1.2")

    def curl(self, *arguments, body=None, token=True):
        allowed = ["-H", ": ".join(bearer())] if token else []
        asked = subprocess.run(
            ["curl", "-sk", "--max-time", "10", *allowed, "-w", "\n%{http_version} %{http_code}", *arguments],
            capture_output=True, input=body, timeout=20, check=False,
        )
        text, _, line = asked.stdout.rpartition(b"\n")
        version, status = line.decode().split()
        return version, int(status), json.loads(text) if text.strip() else {}

    def test_http_2(self):
        base = f"https://127.0.0.1:{self.gateway.ports['https']}"
        with Connection(self.gateway, tls=context(protocols=("h2", "http/1.1"))) as connection:
            self.assertEqual(connection.socket.selected_alpn_protocol(), "h2")
        version, status, body = self.curl("--http2", base + "/wallet?a=b")
        self.assertEqual((version, status, body["service"], body["target"]), ("2", 200, "transaction", "/wallet?a=b"))
        for path in ("/internal/users", "/%69nternal/users", "//internal/users", "/users/../internal/users"):
            version, status, body = self.curl("--http2", "--path-as-is", base + path)
            self.assertEqual((version, status, body["errors"][0]["code"]), ("2", 404, "unknown_route"))
        version, status, body = self.curl("--http2", base + "/wallet", token=False)
        self.assertEqual((version, status, body["errors"][0]["code"]), ("2", 401, "unauthenticated"))
        orders = base + "/transactions/p2p"
        version, status, body = self.curl("--http2", "--data-binary", "@-", orders, body=b"x" * 65_537)
        self.assertEqual((version, status, body["errors"][0]["code"]), ("2", 413, "body_too_large"))
        self.services["transaction"].seen.clear()
        # Of uploads too, which have not come in when they are refused.
        for method, path, size, status in (("POST", "/transactions/p2p", 1_000_000, 413), ("POST", "/webhooks/anchor",
                                           1_000_000, 413), ("PUT", "/users/me/image", 200_000, 401)):
            found = self.curl("--http2", "-X", method, "--data-binary", "@-", base + path, body=b"x" * size,
                              token=status != 401)
            self.assertEqual((found[1], found[2]["errors"][0]["status"]), (status, str(status)))
        # A stream without a length: what curl reads while it sends.
        version, status, body = self.curl("--http2", "-X", "POST", "-T", "-", base + "/transactions/p2p", body=b"{}")
        self.assertEqual((version, status, body["errors"][0]["code"]), ("2", 411, "length_required"))
        self.assertNothingArrived()

    def test_plain_http_is_sent_to_https_at_our_own_name(self):
        for method, path in (("GET", "/wallet?a=b"), ("POST", "/webhooks/anchor"), ("GET", "/internal/users")):
            plain = http.client.HTTPConnection("127.0.0.1", self.gateway.ports["http"], timeout=10)
            plain.request(method, path, headers={"Host": "evil.example"})
            answer = plain.getresponse()
            self.assertEqual((answer.status, answer.getheader("location")),
                             (308, f"https://api.example:{self.gateway.ports['https']}{path}"))
            self.assertIsNone(answer.getheader("strict-transport-security"))
            plain.close()
        self.assertNothingArrived()

    def test_in_the_sandbox_profile_plain_http_is_served_and_promises_no_tls(self):
        port = free_port()
        for certificate in ("", None):
            settings = {"GATEWAY_PLAIN_BIND": f"127.0.0.1:{port}"}
            if certificate is not None:
                settings["GATEWAY_TLS_CERTIFICATE"] = certificate
            gateway = self.other_gateway(**settings)
            plain = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            plain.request("GET", "/wallet", headers=dict([bearer()]))
            answer = plain.getresponse()
            self.assertEqual((answer.status, json.loads(answer.read())["service"]), (200, "transaction"))
            self.assertIsNone(answer.getheader("strict-transport-security"))
            self.assertIn(("x-forwarded-proto", "http"), self.services["transaction"].seen[-1]["headers"])
            plain.close()
            if certificate is None:
                self.assertAnsweredBy(ask(gateway, "GET", "/wallet"), "transaction")
            gateway.__exit__()

    def test_a_connection_serves_many_requests(self):
        with Connection(self.gateway) as connection:
            for _ in range(5):
                self.assertAnsweredBy(connection.call("GET", "/wallet", [bearer()]), "transaction")
            self.assertRefused(connection.call("GET", "/wallet"), 401, "unauthenticated")
            self.assertAnsweredBy(connection.call("GET", "/wallet", [bearer()]), "transaction")
        self.assertAnsweredBy(ask(self.gateway, "GET", "/wallet"), "transaction")
