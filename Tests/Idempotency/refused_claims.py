"""Refused claims of money drops, which nobody approves: what passes by itself, and what may be otherwise later."""

import asyncio

from orders import Order
from people import moment
from supplies import data

AMOUNT_PER_CLAIM = 5
# So often a claim is sent that is told to wait, when its answer is lost or the service is busy.
TRIES = 10


def is_same(one, other):
    return (one.status, one.body, one.headers.get("location")) == (other.status, other.body, other.headers.get("location"))


class RefusedClaims:
    async def claim(self, creator, early, late):
        """A drop of one slot: too early for the first, too late for the second until the first one's payment fails."""
        await self.world.sandbox("PATCH", "/sandbox/switches", {"transferOutcome": "never"})
        try:
            body = data({"amount_per_claim": AMOUNT_PER_CLAIM, "slots": 1, "expires_at": moment(7)})
            drop = (await self.ask(Order(self.operations["createMoneyDrop"], creator, body=body), 0)).json()
            operation, number = self.operations["claimMoneyDrop"], drop["money_drop_id"]
            path = operation.path.format(id=number)
            first, second = (Order(operation, person, path, b"{}") for person in (early, late))
            await self.come_early(drop, first)
            await self.come_late(second)
            await self.decide(first.answers[0].json()["transaction_id"], "failed")
        finally:
            await self.world.sandbox("PATCH", "/sandbox/switches", {"transferOutcome": "completed"})
        await self.slot_is_open(number)
        later = [await self.ask(second, replica) for replica in (0, 1)]
        self.holds_once("it is granted under its key when the slot is open again", later)
        later = [*first.answers[:1], await self.ask(first, 0), await self.ask(first, 1)]
        self.holds_once("a claim whose payment has failed is answered as it was", later)
        claims = self.world.number("transaction", "SELECT count(*) FROM transfers WHERE type = 'drop_claim' AND parent_id = %s",
                                   number)
        self.check("one payment of each claim", claims == 2, str(claims))

    async def come_early(self, drop, claim):
        told = [await self.is_told_to_wait(claim, replica, "drop_pending") for replica in (0, 1)]
        self.check("a claim while the drop's money is on its way is told to come again", all(told), str(told))
        await self.decide(drop["transaction_id"], "completed")
        await self.slot_is_open(drop["money_drop_id"])
        self.holds_once("the same claim is granted afterwards", [await self.ask(claim, replica) for replica in (1, 0)])

    async def come_late(self, claim):
        refused = [await self.ask(claim, replica) for replica in (1, 0)]
        self.holds("where nobody approves, a refusal that may be otherwise later is not kept",
                   all((one.status, one.code()) == (422, "drop_exhausted") and not one.is_replayed for one in refused), *refused)

    def holds_once(self, title, answers):
        """Whether the first of them was granted, and all others are its repetitions."""
        first, *others = answers
        is_once = self.is_new(first) and all(one.is_replayed and is_same(one, first) for one in others)
        self.holds(title, first.status == 202 and is_once, *answers)

    async def is_told_to_wait(self, order, replica, code):
        for _ in range(TRIES):
            met = self.sender.counts[f"409 {code}"]
            said, pause = await self.sender.attempt(order, replica)
            if said is None or self.sender.counts[f"409 {code}"] > met:
                return said is not None
            await asyncio.sleep(pause)
        return False

    async def decide(self, transfer, outcome):
        """The bank decides about a transfer, once it has it."""
        path = f"/sandbox/references/trf-{transfer}"

        async def has_it():
            return (await self.world.sandbox("GET", path))["accepted"]

        await self.world.eventually("the bank to have a transfer", has_it)
        await self.world.sandbox("POST", f"/sandbox/transfers/trf-{transfer}/outcome", {"outcome": outcome})

    async def slot_is_open(self, drop):
        is_open = ("SELECT count(*) FROM money_drops d JOIN drop_slots s ON s.drop_id = d.id WHERE d.id = %s AND"
                   " d.state = 'open' AND s.state = 'open'")
        await self.world.eventually("a slot to be open", lambda: self.world.number("transaction", is_open, drop))
