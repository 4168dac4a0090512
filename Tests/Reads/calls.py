"""The reads of the merged description of the API, each with its worst cases for the heaviest user."""
import datetime
import io
import itertools
import json
import time
import urllib.parse

import yaml

# A day and a year with both their ends, as the endpoints allow at most.
YEAR, QUARTER = 365, 91
# As long as somebody's history: it is read part by part, each by its key, and never by a query.
WHOLE = {"getExportFile"}


class Call:
    """One request. `name` is what the table shows."""

    def __init__(self, operation, service, path, query=()):
        self.operation, self.service = operation, service
        self.name = path + (f"?{urllib.parse.urlencode(query)}" if query else "")
        self.path, self.query = path, tuple(query)

    def url(self, **more):
        query = dict(self.query) | more
        return self.path + (f"?{urllib.parse.urlencode(query)}" if query else "")


class Reads:
    """Every GET of the description. What it cannot fill in is in `uncovered`."""

    def __init__(self, description, world):
        with open(description, encoding="utf-8") as file:
            self.document = yaml.safe_load(file)
        self.world = world
        self.calls, self.lists, self.uncovered = [], [], []
        for path, item in self.document["paths"].items():
            if "get" in item:
                self.add(path, item)

    def parameters(self, item):
        found = [*item.get("parameters", []), *item["get"].get("parameters", [])]
        return [self.document["components"]["parameters"][p["$ref"].rsplit("/", 1)[1]] if "$ref" in p else p for p in found]

    def add(self, path, item):
        operation, service = item["get"]["operationId"], item["get"]["tags"][0]
        if operation in WHOLE:
            return
        parameters = self.parameters(item)
        paths = [path]
        for p in (p for p in parameters if p["in"] == "path"):
            values = [v for v in self.world.places.get((operation, p["name"]), []) if v is not None]
            paths = [q.replace("{%s}" % p["name"], str(v)) for q in paths for v in values]
        required = {p["name"]: self.world.queries.get((operation, p["name"])) for p in parameters
                    if p["in"] == "query" and p.get("required")}
        if not paths or None in required.values():
            self.uncovered.append(f"GET {path} ({operation})")
            return
        # What always is one of some words makes as many reads and lists; a filter, which may be absent, is tried with each
        # of its words alone. And the worst that we know of.
        words = [[(p["name"], word) for word in p["schema"]["enum"]] for p in parameters
                 if p["in"] == "query" and "enum" in p["schema"]]
        always = {p["name"] for p in parameters if p.get("required") or "default" in p["schema"]}
        filters = [pair for each in words for pair in each if pair[0] not in always]
        kinds = [list(required.items()) + list(choice)
                 for choice in itertools.product(*(each for each in words if each[0][0] in always))]
        queries = [kind + one for kind in kinds for one in ([], *([pair] for pair in filters))]
        worst = [list((required | query).items()) for query in self.world.worst.get(operation, [])]
        for each in paths:
            for query in queries + worst:
                self.calls.append(Call(operation, service, each, query))
        limit = next((p["schema"] for p in parameters if p["name"] == "limit"), None)
        if any(p["name"] == "cursor" for p in parameters):
            for query in kinds:
                if dict(query).get("format", "json") == "json":
                    self.lists.append((Call(operation, service, paths[0], query + self.world.long_lists.get(operation, [])),
                                       limit["maximum"]))


class World:
    """What of the heaviest user the calls are about: ids by operation and parameter, and worst cases."""

    def __init__(self, suite, admin_url_of, today):
        import psycopg
        self.suite = suite
        self.databases = {s: psycopg.connect(admin_url_of(s), autocommit=True) for s in ("transaction", "customer", "notification", "auth")}
        me = suite.user
        self.day = today - datetime.timedelta(days=45)
        self.begin = self.day.replace(day=1)
        self.end = (self.begin + datetime.timedelta(days=31)).replace(day=1) - datetime.timedelta(days=1)
        ledger = self.databases["transaction"]
        payment = self.one(ledger, "SELECT id FROM transfers WHERE sender_id = %s AND type = 'p2p' AND state = 'completed'"
                           " AND description IS NOT NULL ORDER BY id OFFSET 50 LIMIT 1", me)
        received = self.one(ledger, "SELECT id FROM transfers WHERE recipient_id = %s AND type = 'p2p' AND state = 'completed'"
                            " ORDER BY id OFFSET 50 LIMIT 1", me)
        drop = self.one(ledger, "SELECT id FROM money_drops WHERE creator_id = %s ORDER BY slots DESC LIMIT 1", me)
        claimed = self.one(ledger, "SELECT drop_id FROM drop_slots WHERE claimant_id = %s ORDER BY drop_id LIMIT 1", me)
        asked = self.one(ledger, "SELECT id FROM payment_requests WHERE owner_id = %s AND state = 'open' LIMIT 1", me)
        incoming = self.one(ledger, "SELECT id FROM payment_requests WHERE payer_id = %s AND state = 'fulfilled' LIMIT 1", me)
        friend = self.one(ledger, "SELECT u.username FROM users u WHERE u.id = (SELECT recipient_id FROM transfers WHERE sender_id = %s"
                          " AND type = 'p2p' GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)", me)
        bank = self.one(self.databases["customer"], "SELECT id FROM beneficiaries WHERE user_id = %s LIMIT 1", me)
        document = self.one(self.databases["customer"], "SELECT id FROM documents WHERE user_id = %s LIMIT 1", me)
        sales = [self.one(ledger, f"SELECT reference FROM payment_requests WHERE {side} = %s AND reference IS NOT NULL"
                          " ORDER BY position LIMIT 1", me) for side in ("owner_id", "payer_id")]
        self.friend = friend
        self.places = {
            ("getCategory", "id"): [payment], ("getTransaction", "id"): [payment, received], ("getReceipt", "id"): [payment],
            ("getMoneyDrop", "id"): [drop, claimed], ("listClaims", "id"): [drop], ("getMoneyDropCode", "id"): [drop],
            ("getPaymentRequest", "id"): [asked, incoming], ("getPaymentRequestCode", "id"): [asked],
            ("getRequestImage", "key"): [self.show_image("transaction", f"/payment-requests/{asked}/image", "image_url")],
            ("listDisputes", "id"): [self.report(payment)], ("getDocument", "id"): [document],
            ("getBeneficiary", "id"): [bank], ("getNameEnquiry", "id"): [self.enquire()], ("getProfile", "username"): [friend],
            ("getImage", "key"): [self.show_image("customer", "/users/me/image", "profile_image_url")],
        }
        self.queries = {("searchUsers", "query"): "ada"}
        year, quarter = ({"from": today - datetime.timedelta(days=n), "to": today} for n in (YEAR, QUARTER))
        month = {"from": self.begin, "to": self.end}
        past = {"from": today - datetime.timedelta(days=400), "to": today - datetime.timedelta(days=400)}
        self.worst = {
            "getSummary": [year], "getCategories": [year], "getSeries": [year | {"period": p} for p in ("day", "week", "month")],
            "getCounterparties": [quarter | {"direction": d, "limit": 50} for d in ("in", "out")],
            "getStatement": [month | {"format": f} for f in ("csv", "pdf")] + [year | {"limit": 500}],
            "listTransactions": [{"limit": 100}, past, past | {"state": "failed"}, {"type": "subscription_charge", "state": "failed"}],
            "listNotifications": [{"limit": 100}], "listMoneyDrops": [{"limit": 50, "filter": f} for f in ("created", "claimed")],
            "listPaymentRequests": [{"limit": 50, "direction": d} for d in ("outgoing", "incoming")]
            + [{"limit": 50, "direction": d, "reference": r} for d, r in zip(("outgoing", "incoming"), sales)],
            "getProfile": [{"limit": 50}], "searchUsers": [{"query": "a" * 3}],
        }
        self.long_lists = {"getStatement": list(year.items())}
        self.add_push_token()
        self.collect_export()
        # After all that people are told of.
        self.newest = self.one(self.databases["notification"], "SELECT last_position FROM inboxes WHERE user_id = %s", me)

    @staticmethod
    def one(database, sql, *values):
        row = database.execute(sql, values).fetchone()
        return row[0] if row else None

    # What cannot be loaded, because only the services can make it

    def collect_export(self):
        """All that is held about the user, which is many pages of every service."""
        self.suite.call("POST", "customer", "/users/me/export", "")
        until = time.monotonic() + 300
        while self.suite.call("GET", "customer", "/users/me/export", "").json()["state"] != "ready":
            if time.monotonic() > until:
                raise TimeoutError("the export is not ready")
            time.sleep(0.5)

    def enquire(self):
        body = json.dumps({"account_number": "0123456789", "bank_code": "000014"})
        answer = self.suite.call("POST", "customer", "/beneficiaries/verify", body)
        return answer.json().get("id")

    def show_image(self, service, path, field):
        from PIL import Image
        file = io.BytesIO()
        Image.new("RGB", (64, 64), "teal").save(file, "PNG")
        answer = self.suite.call("PUT", service, path, file.getvalue(), "image/png")
        return answer.json()[field].rsplit("/", 1)[1] if answer.status == 200 else None

    def report(self, payment):
        answer = self.suite.call("POST", "transaction", f"/transactions/{payment}/disputes",
                                 json.dumps({"reason": "not_received", "text": "Nothing has arrived"}))
        # Reported before, when the suite was kept.
        return payment if answer.status in (201, 409) else None

    def add_push_token(self):
        self.suite.call("POST", "notification", "/push-tokens", json.dumps({"token": "8f" * 32}))
