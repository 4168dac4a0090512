"""Makers of orders about people: sign-up, phones, PINs, bank accounts, documents, images, settings, blocks."""

import collections
import hashlib
import time

from orders import Order
from people import BANK, PIN, Person, account_number, contact, digits, shop, sign_up
from suite import new_key
from supplies import Turns, data, picture

# A person has ten phones, twenty bank accounts with a plan, and may ask thirty names in an hour.
PHONES, BANKS, ENQUIRIES = 8, 16, 27
OTHER_PIN = "905317"
# So many seconds a sign-in counts as a fresh one here; the services take twice as much.
FRESH = 300


class ProfileMakers:
    def begin_profile(self):
        people = self.people
        self.documents, self.removable, self.newcomers = collections.deque(), collections.deque(), collections.deque()
        self.banks, self.enquiries = collections.Counter(), collections.Counter()
        self.correcting = Turns(people.detailers)
        self.phones = Turns({"person": person, "devices": []} for person in people.keepers)
        self.pins = Turns({"person": person} for person in people.readers)
        self.choosing = Turns({"person": person, "chosen": 0} for person in people.choosers)
        self.settled = Turns({"person": person, "wish": "everyone"} for person in people.setters)
        others = people.choosers
        self.blocking = Turns({"person": person, "other": others[number % len(others)], "blocked": False}
                              for number, person in enumerate(people.setters))
        self.faces = Turns({"person": person, "has": False} for person in people.setters)
        self.sign_ups = 0
        # Who resets a PIN or takes a device away has signed in a moment ago.
        self.fresh, self.refreshed = {}, -FRESH
        self.ripening.kind("document", "customer", "SELECT d.user_id, array_agg(d.id::text || ' ' || d.format) FROM documents d"
                           " JOIN users u ON u.id = d.user_id WHERE d.user_id = ANY (%s) AND d.state = 'wanted' AND"
                           " u.verification_status = 'awaiting_document' GROUP BY 1 HAVING count(*) = 2")
        self.ripening.kind("bank", "customer", "SELECT id FROM beneficiaries WHERE id = ANY (%s) AND status = 'verified'")

    async def replenish(self):
        """People who are about to sign up have a token already."""
        while len(self.newcomers) < 6:
            person = Person(self.world, "newcomer")
            person.token = await self.world.new_token(person.subject)
            self.newcomers.append(person)
        if {"resetPIN", "revokeDevice"} & set(self.operations) and time.monotonic() > self.refreshed + FRESH:
            self.refreshed = time.monotonic()
            for person in [*self.people.readers, *self.people.keepers]:
                self.fresh[person.id] = await self.world.new_token(person.subject)

    # auth

    def signUp(self, operation):
        if not self.newcomers:
            return None
        person = self.newcomers.popleft()
        self.sign_ups += 1
        is_shop = self.sign_ups % 2

        def then(answer):
            if answer.is_good and is_shop:
                person.id = answer.json()["user_id"]
                self.ripening.add("document", person.id, lambda found: self.documents.extend((person, one) for one in found))

        body = shop(person.username) if is_shop else sign_up(person.username, bvn=f"{digits()}9994")
        return Order(operation, person, body=data(body), then=then)

    def provideDetails(self, operation):
        person = self.correcting.take()
        if person is None:
            return None
        body = data({"contact_details": contact(person.username, digits())})
        return Order(operation, person, body=body, then=lambda _: self.correcting.give(person))

    def registerDevice(self, operation):
        item = self.phones.take(lambda one: len(one["devices"]) < PHONES)
        if item is None:
            return None

        def then(answer):
            if answer.is_good:
                item["devices"].append(answer.json()["id"])
            self.phones.give(item)

        body = data({"name": "Another phone", "public_key": new_key()[1], "pin": PIN})
        return Order(operation, item["person"], body=body, then=then)

    def revokeDevice(self, operation):
        item = self.phones.take(lambda one: one["devices"] and one["person"].id in self.fresh)
        if item is None:
            return None
        person = item["person"]
        path = operation.path.format(id=item["devices"].pop())
        return Order(operation, person, path, token=self.fresh[person.id], then=lambda _: self.phones.give(item))

    def new_pin(self, operation, names_current):
        item = self.pins.take(lambda one: names_current or one["person"].id in self.fresh)
        if item is None:
            return None
        person = item["person"]
        wanted = OTHER_PIN if person.pin == PIN else PIN

        def then(answer):
            if answer.is_good:
                person.pin = wanted
            self.pins.give(item)

        body = {"pin": wanted} | ({"current_pin": person.pin} if names_current else {})
        token = None if names_current else self.fresh[person.id]
        return Order(operation, person, body=data(body), token=token, then=then)

    def setPIN(self, operation):
        return self.new_pin(operation, names_current=True)

    def resetPIN(self, operation):
        return self.new_pin(operation, names_current=False)

    def issueApproval(self, operation):
        person = self.chance.choice(self.people.keepers)
        digest = hashlib.sha256(digits().encode()).hexdigest()
        body = {"pin": PIN, "method": "POST", "path": "/transactions/p2p", "body_sha256": digest}
        return Order(operation, person, body=data(body))

    # customer

    def addBeneficiary(self, operation):
        person = self.chance.choice(self.people.bankers)
        if self.banks[person.id] >= BANKS:
            return None
        self.banks[person.id] += 1

        def then(answer):
            if answer.is_good:
                bank = answer.json()["id"]
                self.ripening.add("bank", bank, lambda: self.removable.append((bank, person)))

        return Order(operation, person, body=data({"account_number": account_number(), "bank_code": BANK}), then=then)

    def removeBeneficiary(self, operation):
        if not self.removable:
            return None
        bank, person = self.removable.popleft()

        def then(answer):
            self.banks[person.id] -= answer.is_good

        return Order(operation, person, operation.path.format(id=bank), then=then)

    def chooseDefaultBeneficiary(self, operation):
        item = self.choosing.take()
        if item is None:
            return None
        wanted = 1 - item["chosen"]

        def then(answer):
            if answer.is_good:
                item["chosen"] = wanted
            self.choosing.give(item)

        return Order(operation, item["person"], operation.path.format(id=item["person"].banks[wanted]), then=then)

    def enquireName(self, operation):
        free = [one for one in (*self.people.payers, *self.people.bankers) if self.enquiries[one.id] < ENQUIRIES]
        if not free:
            return None
        person = self.chance.choice(free)
        self.enquiries[person.id] += 1
        return Order(operation, person, body=data({"account_number": account_number(), "bank_code": BANK}))

    def handInDocument(self, operation):
        if not self.documents:
            return None
        person, document = self.documents.popleft()
        identity, form = document.split()
        body, kind = (b"RC0000001", "text/plain") if form == "text" else (picture(), "image/png")
        return Order(operation, person, operation.path.format(id=identity), body, kind=kind)

    def setProfileImage(self, operation):
        item = self.faces.take()
        return item and self.picture_order(operation, self.faces, item, operation.path, True)

    def removeProfileImage(self, operation):
        item = self.faces.take(lambda one: one["has"])
        return item and self.picture_order(operation, self.faces, item, operation.path, False)

    def changeSettings(self, operation):
        """Always something else than before, so that each change is told of once."""
        item = self.settled.take()
        if item is None:
            return None
        wish = self.chance.choice([one for one in ("everyone", "contacts", "nobody") if one != item["wish"]])

        def then(answer):
            if answer.is_good:
                item["wish"] = wish
            self.settled.give(item)

        return Order(operation, item["person"], body=data({"who_may_request": wish}), then=then)

    def block_order(self, operation, is_blocked):
        item = self.blocking.take(lambda one: one["blocked"] != is_blocked)
        if item is None:
            return None

        def then(answer):
            if answer.is_good:
                item["blocked"] = is_blocked
            self.blocking.give(item)

        return Order(operation, item["person"], operation.path.format(username=item["other"].username), then=then)

    def blockUser(self, operation):
        return self.block_order(operation, True)

    def unblockUser(self, operation):
        return self.block_order(operation, False)

    def final_profile(self):
        for item in self.settled.all:
            yield ("settings", "customer", "SELECT who_may_request FROM users WHERE id = %s", (item["person"].id,),
                   [(item["wish"],)])
        for item in self.faces.all:
            yield ("profile images", "customer", "SELECT image_key IS NOT NULL FROM users WHERE id = %s",
                   (item["person"].id,), [(item["has"],)])
        for item in self.blocking.all:
            yield ("blocks", "customer", "SELECT count(*)::int FROM blocks WHERE user_id = %s AND blocked_id = %s",
                   (item["person"].id, item["other"].id), [(int(item["blocked"]),)])
        for item in self.choosing.all:
            yield ("default bank accounts", "customer", "SELECT id::text FROM beneficiaries WHERE user_id = %s AND is_default",
                   (item["person"].id,), [(item["person"].banks[item["chosen"]],)])
