"""Makers of orders about money: payments, withdrawals, drops, requests, disputes, limits."""

import collections

from orders import Order
from people import moment
from supplies import Turns, data, picture

# What one person may ask another, all others in an hour, and report.
ASKED_OF_ONE, ASKED_OF_ALL, REPORTED = 3, 50, 18


class MoneyMakers:
    """Each method of an operation's name makes an order that can be granted, or None when what it needs is not there."""

    def begin_money(self):
        self.paid, self.to_categorise = collections.deque(), Turns()
        self.to_claim, self.to_end = collections.deque(), collections.deque()
        self.to_cancel, self.to_decline, self.to_pay = (collections.deque() for _ in range(3))
        self.pictured = Turns()
        self.asked, self.reported = collections.Counter(), collections.Counter()
        self.drops = self.requests = 0
        self.limited = Turns({"person": person} for person in self.people.setters)
        self.ripening.kind("drop", "transaction", "SELECT id FROM money_drops WHERE id = ANY (%s) AND state = 'open'")
        self.ripening.kind("payment", "analytics", "SELECT id FROM facts WHERE id = ANY (%s) AND state = 'counted'")

    def amount(self):
        """Mostly less than banks take, now and then more."""
        return self.chance.randint(100, 150) if self.chance.random() < 0.15 else self.chance.randint(1, 99)

    def payUser(self, operation):
        payer = self.chance.choice(self.people.payers)
        payees = self.people.readers if self.chance.random() < 0.2 else self.people.payers
        payee = self.chance.choice([other for other in payees if other is not payer])

        def then(answer):
            if not answer.is_good:
                return
            payment = answer.json()["transaction_id"]
            self.paid.append((payment, payer))
            if len(self.to_categorise.all) < 200:
                item = {"id": payment, "person": payer, "chosen": None}
                self.ripening.add("payment", payment, lambda: self.to_categorise.add(item))

        return Order(operation, payer, body=data({"recipient_username": payee.username, "amount": self.amount()}), then=then)

    def withdraw(self, operation):
        payer = self.chance.choice(self.people.payers)
        order = {"beneficiary_id": payer.banks[0], "amount": self.chance.randint(100, 150)}
        return Order(operation, payer, body=data(order))

    def createMoneyDrop(self, operation):
        creator = self.chance.choice(self.people.payers)
        body = data({"amount_per_claim": self.chance.randint(1, 5), "slots": 6, "expires_at": moment(7)})
        self.drops += 1
        is_to_end = self.drops % 2

        def then(answer):
            if answer.is_good:
                drop = answer.json()["money_drop_id"]
                self.ripening.add("drop", drop, lambda: self.open_drop(drop, creator, is_to_end))

        return Order(operation, creator, body=body, then=then)

    def open_drop(self, drop, creator, is_to_end):
        if is_to_end:
            self.to_end.append((drop, creator))
            return
        others = [person for person in self.people.payers if person is not creator]
        self.to_claim.extend((drop, person) for person in self.chance.sample(others, min(5, len(others))))

    def claimMoneyDrop(self, operation):
        if not self.to_claim:
            return None
        drop, person = self.to_claim.popleft()
        return Order(operation, person, operation.path.format(id=drop), b"{}")

    def endMoneyDrop(self, operation):
        if not self.to_end:
            return None
        drop, creator = self.to_end.popleft()
        return Order(operation, creator, operation.path.format(id=drop))

    # Requests

    def createPaymentRequest(self, operation):
        """What will become of it is decided in turn, so that there is something of each kind."""
        owner, payer = self.chance.sample(self.people.payers, 2)
        self.requests += 1
        fate = ("pay", "cancel", "decline", "pay", "picture")[self.requests % 5]
        body = {"amount": self.chance.randint(1, 60)}
        pair = (owner.id, payer.id)
        if fate == "decline":
            if self.asked[pair] >= ASKED_OF_ONE or self.asked[owner.id] >= ASKED_OF_ALL:
                fate = "pay"
            else:
                self.asked[pair] += 1
                self.asked[owner.id] += 1
                body["payer_username"] = payer.username

        def then(answer):
            if not answer.is_good:
                return
            request = answer.json()["id"]
            if fate == "picture":
                self.pictured.add({"id": request, "person": owner, "has": False})
            else:
                person = owner if fate == "cancel" else payer
                {"pay": self.to_pay, "cancel": self.to_cancel, "decline": self.to_decline}[fate].append((request, person))

        return Order(operation, owner, body=data(body), then=then)

    def of_request(self, operation, waiting, body=b""):
        if not waiting:
            return None
        request, person = waiting.popleft()
        return Order(operation, person, operation.path.format(id=request), body)

    def cancelPaymentRequest(self, operation):
        return self.of_request(operation, self.to_cancel)

    def declinePaymentRequest(self, operation):
        return self.of_request(operation, self.to_decline)

    def payPaymentRequest(self, operation):
        return self.of_request(operation, self.to_pay, b"{}")

    def picture_order(self, operation, turns, item, path, is_set):
        """An image that takes the place of another, or the end of one: a replaced one is what can be counted."""
        def then(answer):
            if answer.is_good:
                item["has"] = is_set
            turns.give(item)

        body = picture() if is_set else b""
        return Order(operation, item["person"], path, body, effects=int(item["has"]), kind="image/png", then=then)

    def setPaymentRequestImage(self, operation):
        item = self.pictured.take()
        return item and self.picture_order(operation, self.pictured, item, operation.path.format(id=item["id"]), True)

    def removePaymentRequestImage(self, operation):
        item = self.pictured.take(lambda one: one["has"])
        return item and self.picture_order(operation, self.pictured, item, operation.path.format(id=item["id"]), False)

    # What else there is to a payment

    def reportProblem(self, operation):
        for _ in range(len(self.paid)):
            payment, payer = self.paid.popleft()
            if self.reported[payer.id] < REPORTED:
                self.reported[payer.id] += 1
                body = data({"reason": "not_received", "text": "Nothing has arrived"})
                return Order(operation, payer, operation.path.format(id=payment), body)
        return None

    def setLimits(self, operation):
        item = self.limited.take()
        if item is None:
            return None
        limits = {"per_transfer": self.chance.randint(10**6, 10**7), "per_day": self.chance.randint(10**6, 10**7)}

        def then(answer):
            if answer.is_good:
                item["last"] = limits
            self.limited.give(item)

        return Order(operation, item["person"], body=data(limits), then=then)

    def final_money(self):
        for item in self.limited.all:
            if "last" in item:
                yield ("limits", "transaction", "SELECT per_transfer, per_day FROM user_limits WHERE user_id = %s",
                       (item["person"].id,), [tuple(item["last"].values())])
