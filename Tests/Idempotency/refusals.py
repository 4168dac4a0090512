"""What a refusal under a key is: told again to the same approval, decided anew under another one or where there is none,
kept when it can never be otherwise; and over for good once the request has taken effect."""

from orders import Order, Sender
from refused_claims import RefusedClaims, is_same
from supplies import data

AMOUNT = 60


class Refusals(RefusedClaims):
    """Their story, before anything else happens. At both processes, one request after the other."""

    def __init__(self, world, makers, results):
        self.world, self.operations, self.check = world, makers.operations, results.check
        self.people, self.sender = makers.people, Sender(world)
        self.sent_twice = set()

    async def run(self):
        creator, early, late = self.people.payers[:3]
        # First, while no other transfer is on its way: the bank is told to keep all that it gets.
        await self.claim(creator, early, late)
        await self.pay_in_vain(await self.people.one("refused"), creator)
        await self.pay_oneself(creator)

    async def ask(self, order, replica, approval=None):
        """The answer of one process, under this approval or the last one."""
        if approval:
            order.headers["Transfa-Approval"] = approval
        known, met = len(order.answers), self.sender.counts.total()
        await self.sender.send(order, replica)
        if len(order.answers) == known:
            raise RuntimeError(f"{order.shown()}: {order.unanswered[-1]}")
        # The request itself is counted, and each answer that did not count.
        if self.sender.counts.total() > met + 1:
            self.sent_twice.add(order.answers[-1])
        return order.answers[-1]

    def is_new(self, answer):
        """Whether it was decided now. Of what had to be sent twice the first may have been decided, and its answer lost."""
        return not answer.is_replayed or answer in self.sent_twice

    def approved(self, order):
        return order.person.approved(order.operation.method, order.path, order.body)

    def holds(self, title, is_good, *answers):
        self.check(title, is_good, " | ".join(answer.shown() for answer in answers))

    # Payments

    def payment(self, payer, payee):
        return Order(self.operations["payUser"], payer, body=data({"recipient_username": payee.username, "amount": AMOUNT}))

    async def pay_in_vain(self, poor, payee):
        """Under one key: refused twice for want of money, then granted."""
        order = self.payment(poor, payee)
        approvals = [order.headers["Transfa-Approval"], self.approved(order)]
        first, again = await self.ask(order, 0), await self.ask(order, 1)
        self.holds("who has too little money is refused, and the same request again, at the other process, by the same bytes",
                   (first.status, first.code()) == (422, "insufficient_funds") and self.is_new(first)
                   and is_same(first, again) and again.is_replayed, first, again)
        anew = await self.ask(order, 1, approvals[1])
        self.holds("approved anew it is decided anew, and refused", self.is_new(anew)
                   and (anew.status, anew.code()) == (422, "insufficient_funds"), anew)
        await poor.fund(100 * AMOUNT)
        approvals.append(self.approved(order))
        granted = await self.ask(order, 0, approvals[2])
        self.holds("the same key is good when the money is there", granted.status == 202 and self.is_new(granted), granted)
        later = [await self.ask(order, replica, approval) for approval in approvals for replica in (1, 0)]
        self.holds("from then on that is the answer, whichever approval comes with the key",
                   all(is_same(one, granted) and one.is_replayed for one in later), granted, *later)
        counts = [self.world.number("transaction", f"SELECT count(*) FROM {table} = %s", poor.id)
                  for table in ("transfers WHERE sender_id", "approval_nonces WHERE user_id")]
        self.check("one payment, of three approvals", counts == [1, 3], str(counts))

    async def pay_oneself(self, payer):
        order = self.payment(payer, payer)
        first, again = await self.ask(order, 0), await self.ask(order, 1)
        anew = await self.ask(order, 1, self.approved(order))
        self.holds("who pays themself is refused for good, also when it is approved anew",
                   (first.status, first.code()) == (422, "recipient_self") and self.is_new(first)
                   and all(is_same(first, one) and one.is_replayed for one in (again, anew)), first, again, anew)
