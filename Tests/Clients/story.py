"""What is done with each client: somebody gets money, asks for a price, pays, and looks at it."""

import time
import uuid

from answer import kind, plain
from phone import Phone

FUNDS, AMOUNT = 500_000, 120_000
# Who has not come by then stays away, in seconds.
PATIENCE = 30


class Story:
    def __init__(self, client, people, payer, friend):
        self.client, self.people, self.payer, self.friend = client, people, payer, friend
        self.phone = Phone(people, payer)

    def checks(self):
        """Yields (is good, sentence)."""
        yield from self.before()
        quote = yield from self.price()
        paid, key, order = yield from self.payment(quote)
        yield from self.again(paid, key, order)
        yield from self.end(paid)
        yield from self.refusals()

    def typed(self, answer, status, name):
        """Whether an answer is what the description calls it."""
        return answer.status == status and isinstance(answer.body, self.client.type(name))

    def before(self):
        wallet = self.client.call(self.phone, "getWallet")
        yield self.typed(wallet, 200, "Wallet"), "the wallet is one"
        yield (plain(wallet.body.available), plain(wallet.body.currency)) == (0, "NGN"), "it is empty"
        limits = self.client.call(self.phone, "getLimits")
        yield self.typed(limits, 200, "Limits") and plain(limits.body.per_transfer) >= FUNDS, "the limits allow it"
        self.people.fund(self.payer, FUNDS)
        wallet = self.client.call(self.phone, "getWallet").body
        yield plain(wallet.available) == FUNDS, f"the money is there: {plain(wallet.available)}"

    def price(self):
        order = self.client.type("QuoteRequest")(recipient_username=self.friend, amount=AMOUNT)
        quote = self.client.call(self.phone, "quote", body=order)
        yield self.typed(quote, 200, "QuoteResponse"), "a quote is one"
        parts = [plain(getattr(quote.body, name)) for name in ("amount", "fee", "duty")]
        yield plain(quote.body.total) == sum(parts) and parts[0] == AMOUNT, "its total is the sum of its parts"
        return quote.body

    def payment(self, quote):
        key = str(uuid.uuid4())
        order = self.client.type("P2PRequest")(
            recipient_username=self.friend, amount=AMOUNT, quote_id=plain(quote.quote_id), description="Lunch",
        )
        paid = self.client.call(self.phone, "payUser", body=order, idempotency_key=key)
        yield self.typed(paid, 202, "P2PResponse"), "the order is accepted"
        yield plain(paid.body.amount) == AMOUNT and plain(paid.body.route) == plain(quote.route), "as it was quoted"
        return paid, key, order

    def again(self, paid, key, order):
        again = self.client.call(self.phone, "payUser", body=order, idempotency_key=key)
        yield self.typed(again, 202, "P2PResponse") and again.body == paid.body, "the same key has the same answer"
        replayed = (paid.headers.get("Idempotency-Replayed"), again.headers.get("Idempotency-Replayed"))
        yield replayed == (None, "true"), f"which says so: {replayed}"

    def end(self, paid):
        id = paid.body.transaction_id
        deadline = time.monotonic() + PATIENCE
        while True:
            found = self.client.call(self.phone, "getTransaction", id=id)
            state = plain(found.body.state)
            if state not in ("accepted", "submitted") or time.monotonic() > deadline:
                break
            time.sleep(0.2)
        yield self.typed(found, 200, "Transaction") and state == "completed", f"the payment is {state}"
        yield (found.body.description, found.body.counterparty_username) == ("Lunch", self.friend), "to whom, and why"
        wallet = self.client.call(self.phone, "getWallet").body
        yield (plain(wallet.posted), plain(wallet.held)) == (FUNDS - AMOUNT, 0), "it was paid once"
        page = self.client.call(self.phone, "listTransactions", limit=10)
        yield self.typed(page, 200, "TransactionPage"), "the list is one"
        listed = [(kind(each), plain(each.direction)) for each in page.body.data]
        yield listed == [("p2p", "out"), ("inbound", "in")] and page.body.data[0].id == id, f"both are in it: {listed}"
        theirs = self.client.call(Phone(self.people, self.friend), "getTransaction", id=id)
        yield plain(theirs.body.direction) == "in" and plain(theirs.body.amount) == AMOUNT, "the friend sees it come in"

    def refused(self, status, code, place, phone, operation, **parameters):
        """Whether the refusal is a typed body that says what is wrong and where."""
        answer = self.client.call(phone, operation, **parameters)
        if not self.typed(answer, status, "Errors"):
            return False
        error = answer.body.errors[0]
        is_named = (error.status, error.code) == (str(status), code)
        return is_named and all(getattr(error.source, name) == value for name, value in place.items())

    def refusals(self):
        nobody = self.client.type("QuoteRequest")(recipient_username="nobodyatall", amount=AMOUNT)
        pointer = {"pointer": "/recipient_username"}
        yield self.refused(422, "recipient_unknown", pointer, self.phone, "quote", body=nobody), "nobody has no price"
        order = self.client.type("P2PRequest")(recipient_username=self.friend, amount=FUNDS)
        new = {"body": order, "idempotency_key": str(uuid.uuid4())}
        yield self.refused(422, "insufficient_funds", {}, self.phone, "payUser", **new), "there is not so much"
        alone = Phone(self.people, self.payer, approves=False)
        new["idempotency_key"] = str(uuid.uuid4())
        header = {"header": "Transfa-Approval"}
        yield self.refused(403, "approval_required", header, alone, "payUser", **new), "nobody pays without the phone"
        # The gateway says this one by itself.
        yield self.refused(401, "unauthenticated", {}, None, "getWallet"), "nobody looks without a token"
