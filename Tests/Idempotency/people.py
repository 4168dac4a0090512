"""People who call: made through the API and the sandbox, with PIN, phone, wallet, money and bank accounts as they need."""

import asyncio
import datetime
import json
import secrets
import uuid

from client import Answer, Lost
from suite import approval, new_key

PIN = "482193"
PLAN = "plus"
# Access Bank, as the sandbox knows it.
BANK = "000014"


def digits():
    return f"{secrets.randbelow(10**7):07d}"


def account_number():
    """A number that the sandbox's banks know and treat well."""
    return f"00{digits()}7"


def moment(days):
    later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
    return later.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def contact(name, number, gender="Female"):
    details = {
        "email": f"{name}@example.com", "phone": f"000{number}1",
        "address": {"line_1": "1 Example Street", "city": "Lagos", "state": "Lagos", "postal_code": "100001"},
    }
    return details | ({"gender": gender} if gender else {})


def sign_up(name, bvn=None):
    number = digits()
    kyc = {"full_name": "Ada Testperson", "bvn": bvn or f"221{number}7", "date_of_birth": "1990-01-01"}
    return {"username": name, "account_type": "personal", "kyc_details": kyc, "contact_details": contact(name, number)}


def shop(name):
    """A business of which the provider wants to see two documents."""
    number = digits()
    director = {"full_name": "Ada Testperson", "bvn": f"221{number}7", "date_of_birth": "1990-01-01"}
    kyb = {
        "business_name": "Invented Shop", "rc_number": f"RC{number}", "registration_type": "Private_Incorporated",
        "industry": "Agriculture-AgriculturalCooperatives", "date_of_registration": "2015-06-01",
        "business_bvn": f"{number}9992", "description": "Sells what nobody needs", "director": director,
    }
    return {"username": name, "account_type": "merchant", "kyb_details": kyb, "contact_details": contact(name, number, None)}


def new_name(role):
    return f"{role[:8]}{secrets.randbelow(36**7):09d}"[:20]


class Person:
    def __init__(self, world, role):
        self.world, self.role = world, role
        self.username = new_name(role)
        self.subject = f"user_twice_{self.username}"
        self.id = self.key = self.device = self.account = self.token = None
        self.pin = PIN
        # Bank accounts, the first of which is the default one.
        self.banks = []

    def approved(self, method, path, body):
        return approval({"key": self.key, "device": self.device, "id": self.id}, method, path, body)

    async def call(self, method, service, path, body=None, wanted=True):
        """One request of the preparation, under a key of its own and sent once more when it was not taken yet."""
        data = b"" if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if method != "GET":
            headers["Idempotency-Key"] = str(uuid.uuid4())
            if self.device:
                headers["Transfa-Approval"] = self.approved(method, path, data)
        for _ in range(10):
            try:
                answer = await self.world.client.send(self.world.address(service), method, path, headers, data)
                if answer.status not in (429, 503):
                    break
            except Lost as problem:
                answer = Answer(0, {}, str(problem).encode())
            await asyncio.sleep(1)
        if wanted and not answer.is_good:
            raise RuntimeError(f"{self.role}: {method} {path}: {answer.shown()}")
        return answer

    async def join(self, body):
        self.token = await self.world.new_token(self.subject)
        self.id = (await self.call("POST", "auth", "/onboarding", body)).json()["user_id"]
        return self

    async def get_phone(self):
        await self.call("PUT", "auth", "/pin", {"pin": PIN})
        key, public = new_key()
        phone = {"name": "Invented phone", "public_key": public, "pin": PIN}
        device = (await self.call("POST", "auth", "/devices", phone)).json()["id"]
        self.key, self.device = key, device

    async def get_wallet(self):
        async def number():
            answer = await self.call("GET", "account", "/accounts/me", wanted=False)
            return answer.json().get("account_number") if answer.is_good else None

        async def is_known():
            answer = await self.call("GET", "transaction", "/limits", wanted=False)
            return answer.is_good and answer.json()["tier"] > 0

        self.account = await self.world.eventually("an account number", number)
        await self.world.eventually("transaction to know a person", is_known)

    async def fund(self, amount):
        await self.world.sandbox("POST", f"/sandbox/accounts/{self.account}/fund", {"amount": amount})

        async def has_it():
            return (await self.call("GET", "transaction", "/wallet")).json()["posted"] >= amount

        await self.world.eventually("money", has_it)

    async def get_plan(self):
        order = {"user_id": self.id, "plan": PLAN, "until": moment(20), "reason": "for a test"}
        await self.world.operate("POST", "subscription", "/internal/subscriptions/activate", order)
        until = "SELECT count(*) FROM users WHERE id = %s AND plan_until IS NOT NULL"
        await self.world.eventually("customer to know of the plan", lambda: self.world.number("customer", until, self.id))

    async def add_bank(self):
        order = {"account_number": account_number(), "bank_code": BANK}
        bank = (await self.call("POST", "customer", "/beneficiaries", order)).json()["id"]
        verified = "SELECT count(*) FROM beneficiaries WHERE id = %s AND status = 'verified'"
        await self.world.eventually("a bank account", lambda: self.world.number("customer", verified, bank))
        self.banks.append(bank)


class People:
    """Everybody who is needed, by role. How many there are follows from what one person may do."""

    def __init__(self, world, requests):
        more = requests // 1000
        self.world = world
        self.counts = {
            "payer": max(8, min(60, 8 + more)), "keeper": 2 + more // 10, "banker": 3 + more // 5, "chooser": 2,
            "setter": 3 + more // 10, "subscriber": 2 + more // 20, "reader": 2, "detailer": 2,
        }
        self.by_role = {}

    def __getattr__(self, name):
        """`people.payers`: those of a role."""
        try:
            return self.__dict__["by_role"][name.removesuffix("s")]
        except KeyError:
            raise AttributeError(name) from None

    async def make(self, roles=None):
        gate = asyncio.Semaphore(6)

        async def one(role):
            async with gate:
                return await self.one(role)

        for role in roles or self.counts:
            self.by_role[role] = await asyncio.gather(*(one(role) for _ in range(self.counts[role])))
        return self

    async def one(self, role):
        person = Person(self.world, role)
        if role == "detailer":
            # The provider never says anything of this BVN, so that details may be corrected for ever.
            return await person.join(sign_up(person.username, bvn=f"{digits()}9994"))
        await person.join(sign_up(person.username))
        await person.get_phone()
        await person.get_wallet()
        if role in ("payer", "subscriber"):
            await person.fund(4_000_000)
        if role in ("banker", "chooser"):
            await person.get_plan()
        for _ in range({"payer": 1, "banker": 1, "chooser": 2}.get(role, 0)):
            await person.add_bank()
        if role == "payer":
            known = "SELECT count(*) FROM beneficiaries WHERE id = %s"
            await self.world.eventually(
                "transaction to know of a bank account", lambda: self.world.number("transaction", known, person.banks[0]))
        return person
