"""The suite that docker-compose runs: its addresses, people who can pay each other, and what its databases say."""

import json
import pathlib
import secrets
import sys

import requests

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Contract"))

from suite import AUTHORIZED_PARTY, Refused, approval, eventually, new_key  # noqa: E402

SERVICES = ("auth", "customer", "account", "transaction", "subscription", "notification", "analytics", "console")
PIN = "482193"
TOKEN_SECONDS = 4 * 3600
EVENTS = HERE.parent.parent / "deploy/events/asyncapi.json"


def settings(path):
    lines = (line for line in pathlib.Path(path).read_text().splitlines() if "=" in line and not line.startswith("#"))
    return dict(line.split("=", 1) for line in lines)


class Composed:
    def __init__(self, environment):
        self.settings = settings(environment)
        self.session = requests.Session()
        self.tokens = {}

    @property
    def certificate(self):
        return self.settings["COMPOSE_SECRETS"] + "/gateway.pem"

    @property
    def internal_token(self):
        """The first of several, as services have them while one is being replaced."""
        return self.settings["INTERNAL_TOKEN"].split(",")[0]

    def port(self, name):
        return int(self.settings[f"{name.upper()}_PORT"])

    def sandbox(self, method, path, body=None):
        return self.send(method, f"http://127.0.0.1:{self.port('sandbox')}{path}", json=body)

    def operate(self, service, path):
        url = f"http://127.0.0.1:{self.port(service + '_internal')}{path}"
        return self.send("GET", url, headers={"Authorization": f"Bearer {self.internal_token}"}).json()

    def gateway(self, person, method, path, body=None, wanted=(200, 201, 202, 204)):
        """In a person's name, by the one door from outside."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token(person)}", "Content-Type": "application/json"}
        if method != "GET":
            headers["Idempotency-Key"] = secrets.token_hex(16)
        if person.get("device") and method != "GET":
            headers["Transfa-Approval"] = approval(person, method, path, data or b"")
        url = f"https://localhost:{self.port('gateway')}{path}"
        return self.send(method, url, wanted, data=data, headers=headers, verify=self.certificate)

    def send(self, method, url, wanted=(200, 201, 202, 204), **options):
        answer = self.session.request(method, url, timeout=30, **options)
        if wanted is not None and answer.status_code not in wanted:
            raise Refused(f"{method} {url} was answered {answer.status_code} {answer.text[:300]}")
        return answer

    def token(self, person):
        subject = person["subject"]
        if subject not in self.tokens:
            order = {"subject": subject, "azp": AUTHORIZED_PARTY, "lifetime_seconds": TOKEN_SECONDS}
            self.tokens[subject] = self.sandbox("POST", "/sandbox/clerk/tokens", order).json()["jwt"]
        return self.tokens[subject]

    # People

    def join(self, kobo):
        """Somebody with a device, a wallet, and money in it."""
        digits = f"{secrets.randbelow(10**7):07d}"
        username = f"composed{digits}"
        person = {"username": username, "subject": f"user_compose_{username}"}
        person["id"] = self.gateway(person, "POST", "/onboarding", sign_up(username, digits)).json()["user_id"]
        self.gateway(person, "PUT", "/pin", {"pin": PIN})
        key, public = new_key()
        phone = {"name": "Invented phone", "public_key": public, "pin": PIN}
        person |= {"device": self.gateway(person, "POST", "/devices", phone).json()["id"], "key": key}
        person["account"] = eventually("an account number", lambda: self.account_number(person), 90)
        self.sandbox("POST", f"/sandbox/accounts/{person['account']}/fund", {"amount": kobo})
        eventually("the money", lambda: self.has(person, kobo), 90)
        return person

    def account_number(self, person):
        answer = self.gateway(person, "GET", "/accounts/me", wanted=None)
        return answer.ok and answer.json().get("account_number")

    def has(self, person, kobo):
        answer = self.gateway(person, "GET", "/wallet", wanted=None)
        return answer.ok and answer.json()["posted"] >= kobo

    def pay(self, payer, payee, kobo):
        """Repeated until the news that a payment needs has arrived: for the time before the load."""
        body = {"recipient_username": payee["username"], "amount": kobo}

        def is_taken():
            return self.gateway(payer, "POST", "/transactions/p2p", body, None).status_code == 202

        return eventually("a first payment", is_taken, 60)


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


def consumers():
    """Which services hear a kind of event."""
    listening = {}
    for operation in json.loads(EVENTS.read_text())["operations"].values():
        if operation["action"] == "receive":
            kind = operation["title"].split(" receives ")[1]
            listening.setdefault(kind, set()).add(operation["x-service"])
    return listening
