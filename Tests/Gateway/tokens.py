"""Session tokens: what is refused before it reaches a service, and what is not."""

import time

from cases import Case, bearer, call
from client import part, token


class Tokens(Case):
    def test_what_cannot_be_a_session_token_is_refused(self):
        now = int(time.time())
        good = token()
        header, claims, signature = good.split(".")
        nothing = part({"alg": "none"}) + "." + claims + "."
        tokens = {
            "garbage": "garbage", "two parts": f"{header}.{claims}", "four parts": good + ".x", "empty": "",
            "three parts that are no base64": "!!.??.**", "a header that is no base64": f"a!b.{claims}.{signature}",
            "parts that are no JSON": "YWJj.YWJj.YWJj", "an empty signature": f"{header}.{claims}.",
            "alg none": token({"alg": "none"}), "alg none without signature": nothing,
            "alg HS256": token({"alg": "HS256"}), "alg ES256": token({"alg": "ES256"}),
            "alg in small letters": token({"alg": "rs256"}), "no alg": token({"kid": "x"}), "alg 1": token({"alg": 1}),
            "expired": token(exp=now - 6), "expired long ago": token(exp=1), "expired below zero": token(exp=-5),
            "no exp": token(claims={"sub": "x"}), "exp as a text": token(exp=str(now + 60)),
            "exp as a list": token(exp=[now + 60]), "exp null": token(exp=None),
            "exp elsewhere": token(claims={"more": {"exp": now + 60}}),
            "claims that are a list": token(claims=[now + 60]),
            "one of 9 KB": token(more="x" * 9000), "one with a blank": good.replace(".", " .", 1),
            "one padded": good + "==",
        }
        for name, text in tokens.items():
            with self.subTest(name):
                answer = call(self.gateway, "GET", "/wallet", [bearer(text)])
                self.assertRefused(answer, 401, "unauthenticated", www_authenticate="Bearer")
        self.assertNothingArrived()

    def test_a_token_elsewhere_or_in_another_scheme_is_none(self):
        good = token()
        for headers in (
            [("Authorization", good)], [("Authorization", f"Basic {good}")], [("Authorization", "Bearer")],
            [("Cookie", f"__session={good}")], [("X-Authorization", f"Bearer {good}")],
            [bearer(good), bearer("garbage")], [bearer("garbage"), bearer(good)], [bearer(good), bearer(good)],
        ):
            with self.subTest([name for name, _ in headers]):
                self.assertRefused(call(self.gateway, "GET", "/wallet", headers), 401, "unauthenticated")
        self.assertRefused(call(self.gateway, "GET", f"/wallet?access_token={good}"), 401, "unauthenticated")
        self.assertNothingArrived()

    def test_a_token_reaches_the_service_unchanged(self):
        now = int(time.time())
        for name, text in {
            "usual": token(), "a fraction": token(exp=now + 60.5), "for long": token(exp=now + 10**8),
            "within the skew": token(exp=now - 2), "with much in it": token(more="x" * 4000),
            "no type": token({"alg": "RS256", "kid": "x"}),
        }.items():
            for scheme in ("Bearer", "bearer"):
                with self.subTest(f"{name}, {scheme}"):
                    answer = call(self.gateway, "GET", "/wallet", [("Authorization", f"{scheme} {text}")])
                    self.assertAnsweredBy(answer, "transaction")
                    self.assertIn(["authorization", f"{scheme} {text}"], answer.json["headers"])

    def test_what_is_open_needs_none_and_takes_any(self):
        key = "A" * 43
        for method, path, service in (
            ("GET", f"/images/{key}", "customer"), ("GET", f"/request-images/{key}", "transaction"),
            ("POST", "/webhooks/anchor", "notification"), ("POST", "/webhooks/clerk", "auth"),
            ("GET", "/console", "console"), ("GET", "/", "console"), ("GET", "/docs/", "console"),
        ):
            for headers in ([], [bearer("garbage")], [bearer(token(exp=1))]):
                with self.subTest(f"{method} {path}"):
                    answer = call(self.gateway, method, path, headers, b"{}" if method == "POST" else None)
                    self.assertAnsweredBy(answer, service)
