"""People and things that are there before the calls begin: what operations need to say yes."""

import concurrent.futures
import datetime
import hashlib
import json
import secrets
import time
import uuid

import psycopg
from schemathesis.core.file_samples import FILE_SAMPLES

from suite import Refused, anchor_signature, eventually, new_key

PIN = "482193"
PLAN = "plus"
# Access Bank, as the sandbox knows it.
BANK = "000014"
# How many of each thing that a call uses up.
SPARE = 8


def moment(days):
    later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
    return later.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def account_number():
    """A number that the sandbox's banks know and treat well."""
    return f"00{secrets.randbelow(10**7):07d}7"


def uuid7():
    stamp = time.time_ns() // 1_000_000
    bits = stamp << 80 | 7 << 76 | secrets.randbits(12) << 64 | 2 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=bits))


def sign_up(username, digits):
    return {
        "username": username,
        "account_type": "personal",
        "kyc_details": {"full_name": "Ada Testperson", "bvn": f"221{digits}7", "date_of_birth": "1990-01-01"},
        "contact_details": {
            "email": f"{username}@example.com",
            "phone": f"000{digits}1",
            "gender": "Female",
            "address": {"line_1": "1 Example Street", "city": "Lagos", "state": "Lagos", "postal_code": "100001"},
        },
    }


def shop(username, digits):
    """A business's sign-up."""
    person = sign_up(username, digits)
    return {
        "username": username,
        "account_type": "merchant",
        "contact_details": person["contact_details"],
        "kyb_details": {
            "business_name": "Invented Shop",
            "rc_number": f"RC{digits}",
            "registration_type": "Private_Incorporated",
            "industry": "Agriculture-AgriculturalCooperatives",
            "date_of_registration": "2015-06-01",
            "business_bvn": f"222{digits}7",
            "description": "Sells what nobody needs",
            "director": person["kyc_details"],
        },
    }


def tell_of_unknown_transfers(suite, count):
    """News from the provider of transfers that nobody has ordered; each becomes a job."""
    for _ in range(count):
        transfer = {"id": f"{secrets.randbelow(10**14)}-anc_trsf", "type": "BookTransfer"}
        event = {
            "data": {
                "id": f"{secrets.randbelow(10**14)}-anc_et",
                "type": "book.transfer.successful",
                "attributes": {"createdAt": "2026-11-21T01:07:05"},
                "relationships": {"transfer": {"data": transfer}},
            }
        }
        body = json.dumps(event).encode()
        signature = anchor_signature(suite.webhook_token, body)
        headers = {"Content-Type": "application/json", "x-anchor-signature": signature}
        suite.send("POST", suite.url("notification") + "/webhooks/anchor", data=body, headers=headers)


class World:
    """Made through the API alone, but for an event that nobody can read yet."""

    # Who calls what, and why they are several, is in recipes.py.
    NAMES = (
        "main", "peer", "banker", "keeper", "limited", "subscriber", "member", "restricted", "frozen", "erasable",
        "newcomer", "parked", "leaver", "blocked", "lost", "exporter",
    )
    # Merchants of whom the provider wants documents: a file and a text each.
    SHOPS = ("shop0", "shop1", "shop2")
    FUNDS = {"main": 5_000_000, "peer": 2_000_000, "subscriber": 1_000_000}

    def __init__(self, suite):
        self.suite = suite
        self.people = {}
        self.things = {}

    def make(self):
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            self.people = dict(zip(self.NAMES, pool.map(self.join, self.NAMES)))
            for _ in pool.map(self.fund, self.FUNDS):
                pass
            steps = (
                self.money, self.banks, self.devices, self.suspense, self.parked, self.jobs, self.subscriptions,
                self.shops, self.findings, self.recovery, self.decisions, self.export,
            )
            for step in [pool.submit(step) for step in steps]:
                step.result()
        self.notifications()
        self.archive()
        return {"people": self.people, "things": self.things}

    # People

    def join(self, name):
        digits = f"{secrets.randbelow(10**7):07d}"
        username = f"{name[:10]}{digits}"
        person = {"username": username, "subject": f"user_contract_{username}"}
        order = sign_up(username, digits)
        if name == "newcomer":
            del order["contact_details"]
        suite = self.suite
        person["id"] = suite.call(person, "POST", "auth", "/onboarding", order).json()["user_id"]
        suite.call(person, "PUT", "auth", "/pin", {"pin": PIN})
        key, public = new_key()
        phone = {"name": "Invented phone", "public_key": public, "pin": PIN}
        device = suite.call(person, "POST", "auth", "/devices", phone).json()["id"]
        person |= {"key": key, "device": device}
        if name != "newcomer":
            self.await_wallet(person)
        return person

    def await_wallet(self, person):
        def number():
            answer = self.suite.call(person, "GET", "account", "/accounts/me", wanted=None)
            return answer.ok and answer.json().get("account_number")

        def is_known():
            limits = self.suite.call(person, "GET", "transaction", "/limits", wanted=None)
            return limits.ok and limits.json()["tier"] > 0

        person["account"] = eventually("an account number", number)
        eventually("transaction to know the person", is_known)

    def fund(self, name):
        person = self.people[name]
        amount = self.FUNDS[name]
        self.suite.sandbox("POST", f"/sandbox/accounts/{person['account']}/fund", {"amount": amount})
        eventually("the money", lambda: self.read(name, "/wallet")["posted"] >= amount)

    def read(self, name, path, service="transaction"):
        return self.suite.call(self.people[name], "GET", service, path).json()

    def order(self, name, path, body, service="transaction", method="POST", seconds=30):
        """An order, repeated until the news that it needs has arrived everywhere."""

        def attempt():
            answer = self.suite.call(self.people[name], method, service, path, body, wanted=None)
            if answer.ok:
                return answer
            if answer.status_code not in (403, 404, 409, 422):
                raise Refused(f"{method} {path} was answered {answer.status_code} {answer.text[:400]}")
            self.refusal = answer.text[:300]
            return None

        self.refusal = ""
        try:
            return eventually(f"{method} {path}", attempt, seconds, 0.2)
        except TimeoutError as error:
            raise Refused(f"{error}: {self.refusal}") from error

    # Things

    def money(self):
        """A payment that counts everywhere, drops, requests, an own bank account, an image."""
        peer = self.people["peer"]["username"]
        paid = self.order("main", "/transactions/p2p", {"recipient_username": peer, "amount": 700}).json()
        payment = paid["transaction_id"]
        self.things["payment"] = payment
        mine = self.order("main", "/beneficiaries", {"account_number": account_number(), "bank_code": BANK}, "customer")
        self.things["withdrawal_account"] = mine.json()["id"]
        drop = {"amount_per_claim": 50, "slots": 2, "expires_at": moment(7), "title": "For everybody"}
        drops = [self.order("main", "/money-drops", drop).json()["money_drop_id"] for _ in range(2 * SPARE)]
        self.things |= {"drop": drops[0], "drops_to_claim": drops[1:SPARE], "drops_to_end": drops[SPARE:]}
        request = self.order("main", "/payment-requests", {"amount": 100, "payer_username": peer}).json()
        self.things["request"] = request["id"]
        other = self.order("main", "/payment-requests", {"amount": 100}).json()["id"]
        shown = self.show("main", "transaction", f"/payment-requests/{other}/image")
        self.things["request_image"] = shown["image_url"].removeprefix("/request-images/")
        settled = "/analytics/transactions/{}/category".format(payment)
        eventually("the payment in analytics", lambda: self.knows("main", "analytics", settled))
        for id in drops:
            eventually("the drop to open", lambda: self.read("main", f"/money-drops/{id}")["status"] == "open")
        self.order("peer", f"/money-drops/{drops[0]}/claim", {})
        self.disputes()

    def disputes(self):
        """Payments that a problem may be reported of, and problems that the recipient has reported."""
        peer = self.people["peer"]["username"]
        body = {"recipient_username": peer, "amount": 100}
        paid = [self.order("main", "/transactions/p2p", body).json()["transaction_id"] for _ in range(2 * SPARE + 1)]
        report = {"reason": "not_received", "text": "Nothing has arrived"}
        reported = [
            self.order("peer", f"/transactions/{id}/disputes", report).json()["id"] for id in paid[SPARE:]
        ]
        self.things |= {
            "to_report": paid[:SPARE], "reported": paid[SPARE], "dispute": reported[0], "disputes_to_close": reported[1:],
        }

    def knows(self, name, service, path):
        return self.suite.call(self.people[name], "GET", service, path, wanted=None).ok

    def banks(self):
        banker = self.people["banker"]
        self.give_plan("banker")
        accounts = []
        for _ in range(2 + SPARE):
            body = {"account_number": account_number(), "bank_code": BANK}
            accounts.append(self.order("banker", "/beneficiaries", body, "customer").json()["id"])
        self.things |= {
            "default_account": accounts[0], "other_account": accounts[1], "accounts_to_remove": accounts[2:],
        }
        self.give_plan("keeper")
        reviews = [self.doubtful_account() for _ in range(1 + SPARE)]
        self.things |= {"reviews": reviews, "reviews_to_decide": reviews[:-1]}
        asked = {"account_number": account_number(), "bank_code": BANK}
        enquiry = self.suite.call(banker, "POST", "customer", "/beneficiaries/verify", asked).json()
        self.things["enquiry"] = enquiry["id"]
        eventually("the list of banks", lambda: self.knows("banker", "customer", "/banks"))

    def doubtful_account(self):
        """One whose holder may be its user: people decide."""
        body = {"account_number": account_number(), "bank_code": BANK}
        self.suite.sandbox("PUT", f"/sandbox/banks/accounts/{body['account_number']}/holder", {"name": "ADA TESTPERSO"})
        id = self.order("keeper", "/beneficiaries", body, "customer").json()["id"]
        eventually("a review", lambda: self.suite.operate(
            "GET", "customer", f"/internal/beneficiaries/{id}/review", wanted=None).ok)
        return id

    def give_plan(self, name):
        order = {"user_id": self.people[name]["id"], "plan": PLAN, "until": moment(20), "reason": "for contract tests"}
        self.suite.operate("POST", "subscription", "/internal/subscriptions/activate", order)

    def subscriptions(self):
        self.give_plan("member")
        order = {"replay": str(uuid.uuid4()), "reason": "for contract tests"}
        self.suite.operate("POST", "analytics", "/internal/ops/projections/money/rebuilds", order)

    def show(self, name, service, path):
        headers = {
            "Authorization": f"Bearer {self.suite.token(self.people[name]['subject'])}",
            "Content-Type": "image/jpeg",
        }
        return self.suite.send("PUT", self.suite.url(service) + path, data=FILE_SAMPLES["jpg"], headers=headers).json()

    def devices(self):
        """Devices to revoke, and an image."""
        shown = self.show("peer", "customer", "/users/me/image")
        self.things["image"] = shown["profile_image_url"].removeprefix("/images/")
        self.things["devices"] = []
        for _ in range(4):
            phone = {"name": "Another phone", "public_key": new_key()[1], "pin": PIN}
            device = self.suite.call(self.people["keeper"], "POST", "auth", "/devices", phone).json()["id"]
            self.things["devices"].append(device)

    def suspense(self):
        """Money that arrives for somebody who may not have it."""
        frozen = self.people["frozen"]
        path = f"/internal/users/{frozen['id']}/restriction"
        self.suite.operate("PUT", "customer", path, {"restriction": "frozen", "reason": "contract_tests"})

        def is_frozen():
            body = {"recipient_username": self.people["peer"]["username"], "amount": 1}
            return "sender_restricted" in self.suite.call(
                frozen, "POST", "transaction", "/transactions/p2p", body, wanted=None
            ).text

        eventually("transaction to know of the restriction", is_frozen)
        count = 3 * SPARE
        for _ in range(count):
            self.suite.sandbox("POST", f"/sandbox/accounts/{frozen['account']}/fund", {"amount": 1000})

        def waiting():
            listed = self.suite.operate("GET", "transaction", "/internal/suspense").json()
            mine = [entry["id"] for entry in listed if entry.get("user_id", "").lower() == frozen["id"]]
            return mine if len(mine) >= count else None

        found = eventually("money in suspense", waiting, 60)
        self.things["suspended"] = found[: SPARE]
        releases = []
        for id in found[SPARE:]:
            answer = self.suite.operate(
                "POST", "transaction", f"/internal/suspense/{id}/releases",
                {"disposition": "return", "reason": "nobody may have it"},
            )
            releases.append(answer.json()["id"])
        self.things |= {"to_approve": releases[:SPARE], "to_reject": releases[SPARE:]}

    def decisions(self):
        """Payments that have arrived, about some of which an operator has proposed something."""
        body = {"recipient_username": self.people["peer"]["username"], "amount": 100}
        paid = [self.order("main", "/transactions/p2p", body).json()["transaction_id"] for _ in range(3 * SPARE)]

        def arrived(id):
            return self.suite.operate("GET", "transaction", f"/internal/transfers/{id}").json()["state"] == "completed"

        for id in paid:
            eventually("a payment to arrive", lambda: arrived(id), 60)
        proposals = [
            self.suite.operate(
                "POST", "transaction", f"/internal/transfers/{id}/proposals",
                {"outcome": "reversed", "reason": "the provider took it back"},
            ).json()["id"]
            for id in paid[SPARE:]
        ]
        self.things |= {
            "to_propose": paid[:SPARE], "transfer": paid[0],
            "proposals_to_approve": proposals[:SPARE], "proposals_to_withdraw": proposals[SPARE:],
        }

    def database(self, service):
        return psycopg.connect(self.suite.postgres.replace("/postgres?", f"/transfa_{service}?"), autocommit=True)

    def shops(self):
        """Merchants whose documents are awaited."""
        self.suite.sandbox("PATCH", "/sandbox/switches", {"businessDocuments": True})
        for name in self.SHOPS:
            digits = f"{secrets.randbelow(10**7):07d}"
            username = f"{name}{digits}"
            person = {"username": username, "subject": f"user_contract_{username}"}
            answer = self.suite.call(person, "POST", "auth", "/onboarding", shop(username, digits))
            person["id"] = answer.json()["user_id"]
            self.people[name] = person

        def wanted(name):
            return len(self.read(name, "/users/me/documents", "customer")["data"]) == 2

        for name in self.SHOPS:
            eventually("documents to be wanted", lambda: wanted(name))
            listed = self.read(name, "/users/me/documents", "customer")["data"]
            self.people[name]["documents"] = {document["format"]: document["id"] for document in listed}
        self.suite.sandbox("PATCH", "/sandbox/switches", {"businessDocuments": False})

    def export(self):
        """All that is held about somebody, so that there is a file."""
        self.suite.call(self.people["exporter"], "POST", "customer", "/users/me/export", None)
        eventually("the export", lambda: self.read("exporter", "/users/me/export", "customer")["state"] == "ready")

    def findings(self):
        """What looks at the books and at patterns would find after a quarter of an hour or in a real crowd."""
        kinds = ("many_recipients", "many_senders", "passes_on", "many_drops")
        people = [self.people[name]["id"] for name in ("keeper", "limited")]
        alerts = [uuid7() for _ in range(len(kinds) * len(people))]
        with self.database("transaction") as connection:
            for number, alert in enumerate(alerts):
                kind = kinds[number // len(people)]
                connection.execute(
                    """INSERT INTO risk_alerts (id, user_id, kind, counted, received, sent, first_seen, last_seen)
                    VALUES (%s, %s, %s, %s, %s, %s, clock_timestamp(), clock_timestamp())""",
                    (alert, people[number % len(people)], kind, *((None, 10**7, 10**7) if kind == "passes_on" else (34, None, None))),
                )
            found = connection.execute(
                """INSERT INTO reconciliation_breaks (account, kind, key, theirs, happened_at, first_seen, last_seen,
                    opened_at) VALUES (%s, 'missing_with_us', 'contract-anc_trsf', 'payment 90000',
                    clock_timestamp(), clock_timestamp(), clock_timestamp(), clock_timestamp()) RETURNING id""",
                (f"{secrets.randbelow(10**14)}-anc_acc",),
            )
            self.things |= {"risk_alerts": alerts, "break": found.fetchone()[0]}

    def recovery(self):
        """One that has ended, with a difference that was accepted: an open one would stop the payments that are called
        here. And wallets that are blocked as one may leave them."""
        detail = "balance: they have 1 kobo more than we account for"
        self.things |= {
            "recovery": uuid7(), "accepted": "contract-anc_acc", "blocked": [str(uuid.uuid4()) for _ in range(SPARE)],
            "mark": hashlib.md5(f"1 {detail}".encode()).hexdigest()[:8],
        }
        with self.database("transaction") as connection:
            connection.execute(
                """INSERT INTO recoveries (id, restored_to, begun_at, begun_by, reason, planned_at, ended_at, ended_by,
                    end_reason)
                SELECT %s, m.at - interval '2 hours', m.at - interval '1 hour', 'contract', 'a test', m.at, m.at,
                    'contract', 'a test' FROM (SELECT clock_timestamp() AS at) m""",
                (self.things["recovery"],),
            )
            connection.execute(
                """INSERT INTO recovery_accounts (recovery_id, account, looked_at, differences, detail, accepted_at,
                    accepted_by, accept_reason)
                VALUES (%s, %s, clock_timestamp(), 1, %s, clock_timestamp(), 'contract', 'a test')""",
                (self.things["recovery"], self.things["accepted"], detail),
            )
            connection.execute("SELECT ensure_users(%s::uuid[])", (self.things["blocked"],))
            connection.execute(
                """UPDATE balances b SET debits_blocked = true FROM users u
                WHERE u.wallet_id = b.account_id AND u.id = ANY (%s::uuid[])""",
                (self.things["blocked"],),
            )

    def end_recoveries(self):
        """What was begun for its answer holds up no one."""
        with self.database("transaction") as connection:
            connection.execute(
                """UPDATE recoveries SET planned_at = begun_at, ended_at = clock_timestamp(), ended_by = 'contract',
                    end_reason = 'a test' WHERE ended_at IS NULL"""
            )

    def parked(self):
        """Events about somebody in a version that nobody can read yet."""
        subject = self.people["parked"]["id"]
        events = [uuid7() for _ in range(SPARE)]
        with self.database("customer") as connection:
            for event in events:
                connection.execute(
                    """
                    WITH counted AS (UPDATE event_sequences SET sequence = sequence + 1 WHERE subject = %(subject)s
                        RETURNING sequence)
                    INSERT INTO outbox (day, id, type, version, subject, sequence, time, data)
                    SELECT uuid_v7_day(%(event)s), %(event)s, 'user.restricted', 9, %(subject)s, sequence,
                        clock_timestamp(), '{}' FROM counted
                    """,
                    {"subject": subject, "event": event},
                )

        def are_parked():
            entries = self.suite.operate("GET", "transaction", f"/internal/ops/parked?subject={subject}").text
            return all(event in entries for event in events)

        eventually("the events to be parked", are_parked)
        self.things |= {"parked_subject": subject, "parked_events": events}

    def jobs(self):
        """Jobs that wait."""
        tell_of_unknown_transfers(self.suite, 2 * SPARE)

    def notifications(self):
        def inbox():
            return self.read("main", "/notifications", "notification")["data"]

        self.things["notification"] = eventually("a message", inbox)[0]["id"]

    def archive(self):
        """An event that the archive has, and a line of one for importing."""
        path = f"/internal/archive/events?subject={self.things['payment']}&limit=1"

        def newest():
            return self.suite.operate("GET", "console", path).json()["data"]

        stored = eventually("the payment in the archive", newest)[0]
        self.things |= {"event": stored["event"]["id"], "correlation": stored["event"]["correlationid"]}
        lines = self.suite.operate("GET", "transaction", "/internal/ops/outbox/events?limit=3").text
        self.things["lines"] = lines
