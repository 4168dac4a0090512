"""The people of seed-data: who they are, and what is sealed about them."""
import base64
import datetime
import hashlib
import hmac
import json
import os
import random
import uuid

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

# The namespace of user ids, see UserID.
USERS = uuid.UUID("6f1c0e52-9a3b-4d7e-8c15-2b64d0f7a938")
NAMES = ["ada", "bola", "chidi", "dayo", "emeka", "funke", "gozie", "halima", "ife", "jide", "kemi", "lanre", "musa", "ngozi",
         "obi", "pelumi", "sade", "tunde", "uche", "yemi"]
BANKS = [("000013", "GTBANK PLC"), ("000014", "ACCESS BANK"), ("000015", "ZENITH BANK"), ("000016", "FIRST BANK OF NIGERIA")]
BLOCKS = 1000
WORDS = ["Lunch", "Rent for May", "Bolt to the island", "Airtime", "Asoebi", "School fees", "Groceries", "Thank you!", "Light bill"]


def text_of(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class Seals:
    """The keys that a run of the services has: those of its people are made here, under its master key."""

    def __init__(self, master_keys, blind_index_key):
        self.master_id, key = master_keys.split(",")[0].split(":", 1)
        self.master = AESGCM(base64.b64decode(key))
        self.blind_index_key = base64.b64decode(blind_index_key)
        self.keys = {}

    def new_key(self, user):
        """Makes a person's data key; returns it wrapped."""
        key, nonce = AESGCM.generate_key(256), os.urandom(12)
        self.keys[user] = AESGCM(key)
        associated = b"transfa-data-key-1" + user.bytes + self.master_id.encode()
        return f"k1.{self.master_id}.{text_of(nonce + self.master.encrypt(nonce, key, associated))}"

    def seal(self, user, field, text):
        nonce = os.urandom(12)
        associated = b"transfa-field-1" + user.bytes + (1).to_bytes(8, "big") + field.encode()
        return "s1." + text_of(nonce + self.keys[user].encrypt(nonce, text.encode(), associated))

    def blind_index(self, field, value):
        message = f"transfa-index-1:{len(field)}:{field}{value}".encode()
        return hmac.new(self.blind_index_key, message, hashlib.sha256).hexdigest()


class Person:
    def __init__(self, rank, seed, joined):
        chance = random.Random(f"{seed} person {rank}")
        self.rank = rank
        self.subject = f"user_seed_{rank}"
        self.id = uuid.uuid5(USERS, self.subject)
        self.username = f"{NAMES[rank % len(NAMES)]}{rank}"
        self.account_type = "merchant" if rank % 20 == 5 else "personal"
        # Three of ten have a plan, three receive in their wallet; the first has and does both.
        self.has_plan = rank == 1 or rank % 10 < 3
        self.to_wallet = rank == 1 or rank % 10 > 6
        self.joined = joined
        self.account = f"{17600000000000 + rank}-seed_acc"
        self.number = f"9{rank:09}"
        # Without a plan one bank account, with it several; and old phones.
        self.banks = [self._id(chance, joined) for _ in range(20 if rank == 1 else 3 if self.has_plan else 1)]
        self.devices = [self._id(chance, joined) for _ in range(40 if rank == 1 else 1)]

    @staticmethod
    def _id(chance, moment):
        value = int(moment.timestamp() * 1000) << 80 | 7 << 76 | chance.getrandbits(12) << 64 | 2 << 62 | chance.getrandbits(62)
        return uuid.UUID(int=value)

    def counterparty(self, number):
        return f"{17500000000000 + self.rank * 100 + number}-seed_ctp"

    def device_key(self, number):
        """A point in form only: nobody has its other half."""
        return b"\4" + hashlib.sha512(f"{self.subject} {number}".encode()).digest()


def bvn(person):
    """Of everybody one of their own."""
    return f"229{person.rank:08}"


def details(person):
    """What a sign-up holds, all of it made up."""
    identity = {"full_name": f"Seeded Person {person.rank}", "bvn": bvn(person), "date_of_birth": "1990-01-01"}
    address = {"line1": "1 Example Street", "city": "Lagos", "state": "Lagos", "postal_code": "100001"}
    contact = {"email": f"{person.username}@example.com", "phone": f"000{person.rank:08}", "gender": "Female", "address": address}
    return json.dumps(identity), json.dumps(contact)


def rows(people, seals):
    """Rows by service, table and columns. The transaction service's books are made from them elsewhere."""
    tables = {}

    def add(service, table, **row):
        tables.setdefault((service, table, tuple(row)), []).append(tuple(row.values()))

    for p in people:
        wrapped = seals.new_key(p.id)
        kyc, contact = (seals.seal(p.id, f, t) for f, t in zip(("kyc_details", "contact_details"), details(p)))
        told = {"kyc_details": kyc if p.account_type == "personal" else None, "contact_details": contact}
        add("auth", "users", id=p.id, clerk_subject=p.subject, username=p.username, account_type=p.account_type,
            status="onboarding_initiated", created_at=p.joined, updated_at=p.joined, verification_status="approved",
            notification_sequence=1, details_sequence=1, identity_index=seals.blind_index("identity.bvn", bvn(p)), **told)
        add("auth", "data_keys", user_id=p.id, wrapped=wrapped, master_key_id=seals.master_id, created_at=p.joined)
        add("customer", "users", id=p.id, created_at=p.joined, updated_at=p.joined, username=p.username,
            account_type=p.account_type, auth_sequence=1, verification_status="approved", notification_sequence=1,
            anchor_customer_id=f"{17400000000000 + p.rank}-seed_cst", receiving_preference="wallet" if p.to_wallet else "external",
            plan_until=datetime.datetime(2999, 1, 1, tzinfo=datetime.timezone.utc) if p.has_plan else None, **told)
        add("account", "accounts", id=uuid.uuid5(p.id, "account"), user_id=p.id, created_at=p.joined, updated_at=p.joined,
            account_type=p.account_type, anchor_customer_id=f"{17400000000000 + p.rank}-seed_cst", customer_sequence=1,
            verified_at=p.joined, anchor_account_id=p.account, status="open", opened_at=p.joined, bank_name="ANCHOR MFB",
            account_number=seals.seal(p.id, "account.account_number", p.number),
            account_name=seals.seal(p.id, "account.account_name", f"SEEDED PERSON {p.rank}"))
        add("notification", "users", id=p.id, username=p.username, auth_sequence=1)
        add("notification", "customers", user_id=p.id, anchor_customer_id=f"{17400000000000 + p.rank}-seed_cst", status="approved",
            created_at=p.joined, verified_at=p.joined)
        add("analytics", "names", user_id=p.id, username=p.username)
        for n, bank in enumerate(p.banks):
            code, name = BANKS[(p.rank + n) % len(BANKS)]
            number = f"{n:02}{p.rank:08}"
            add("customer", "beneficiaries", id=bank, user_id=p.id, bank_code=code, bank_name=name,
                account_number=seals.seal(p.id, "beneficiary.account_number", number),
                account_name=seals.seal(p.id, "beneficiary.account_name", f"SEEDED PERSON {p.rank}"),
                number_index=seals.blind_index("beneficiary.account_number", f"{code}:{number}"),
                anchor_counterparty_id=p.counterparty(n), status="verified", is_default=n == 0, created_at=p.joined)
            add("transaction", "beneficiaries", id=bank, user_id=p.id, counterparty_id=p.counterparty(n), verified=True,
                is_default=n == 0, customer_sequence=1)
        for n, device in enumerate(p.devices):
            key = p.device_key(n)
            gone = None if n == len(p.devices) - 1 else p.joined
            add("auth", "devices", id=device, user_id=p.id, name=seals.seal(p.id, "device.name", f"Phone {n + 1}"),
                public_key=key, activated_at=p.joined, revoked_at=gone)
            add("transaction", "devices", id=device, user_id=p.id, public_key=key, activated_at=p.joined, revoked_at=gone,
                auth_sequence=1)
            add("subscription", "devices", id=device, user_id=p.id, public_key=key, revoked_at=gone)
    first = people[0]
    add("customer", "documents", id=uuid.uuid5(first.id, "document"), user_id=first.id, anchor_document_id="seed_doc",
        type="PROOF_OF_ADDRESS", format="file", state="approved", updated_at=first.joined)
    # As many as one may block, of those who have little to do with others.
    for p in people[max(1, len(people) - min(BLOCKS, len(people) // 4)):]:
        add("customer", "blocks", user_id=first.id, blocked_id=p.id, created_at=first.joined)
        add("transaction", "blocks", user_id=first.id, blocked_id=p.id, is_active=True, customer_sequence=1)
    return tables
