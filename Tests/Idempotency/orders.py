"""An order: one request under one key, which is sent more than once, and what was answered each time."""

import asyncio
import collections
import time
import uuid

from client import Lost

IN_USE = "idempotency_key_in_use"
NOT_TOLD = "409 without a Retry-After that counts seconds"
# Of one person. A sixth PIN while five are looked at is refused, also with a key whose answer is known.
PINS_AT_ONCE = 2
# So long a client goes on asking, with the same key and the same bytes.
PATIENCE = 60


class Order:
    def __init__(self, operation, person, path=None, body=b"", effects=1, kind="application/json", token=None, then=None):
        self.operation, self.person, self.body = operation, person, body
        self.path = path or operation.path
        # How many rows it adds to what its operation's effects are counted by.
        self.effects = effects
        # What becomes possible by it; called once, with the first answer.
        self.then = then
        self.has_pin = b'"pin"' in body
        self.key = str(uuid.uuid4())
        self.headers = {"Authorization": f"Bearer {token or person.token}", "Idempotency-Key": self.key}
        if body:
            self.headers["Content-Type"] = kind
        if operation.is_approved and person.device:
            self.headers["Transfa-Approval"] = person.approved(operation.method, self.path, body)
        self.answers = []
        self.unanswered = []

    @property
    def name(self):
        return self.operation.name

    @property
    def is_granted(self):
        return any(answer.is_good for answer in self.answers)

    def disagreement(self):
        """What differs between the answers; None when they are one answer.

        Where the description promises 202 until the outside world has spoken, the answer after that is another one, of the
        same thing.
        """
        settled = [a for a in self.answers if not (self.operation.goes_on and a.status == 202)] or self.answers
        different = {(a.status, a.body, a.headers.get("location")) for a in settled}
        things = {a.json().get("id") for a in self.answers if self.operation.goes_on and a.is_good}
        if len(different) > 1 or len(things) > 1:
            return f"{self.shown()}: " + " | ".join(sorted({a.shown() for a in self.answers})[:4])
        first = [a for a in self.answers if a.is_good and not a.is_replayed]
        if len(first) > 1:
            numbers = [number for number, a in enumerate(self.answers, 1) if a in first]
            return f"{self.shown()}: of {len(self.answers)} answers, numbers {numbers} do not say that they are repetitions"
        return None

    def shown(self):
        return f"{self.name} {self.operation.method} {self.path} key {self.key}"


class Sender:
    """Sends orders as clients do that do not give up, and counts what they meet."""

    def __init__(self, world):
        self.world = world
        self.counts = collections.Counter()
        self.gates = collections.defaultdict(lambda: asyncio.Semaphore(PINS_AT_ONCE))

    async def send(self, order, replica):
        """Once, or again and again until there is an answer that counts."""
        if not order.has_pin:
            return await self.send_until_answered(order, replica)
        async with self.gates[order.person.id]:
            return await self.send_until_answered(order, replica)

    async def send_until_answered(self, order, replica):
        deadline = time.monotonic() + PATIENCE
        self.counts["requests"] += 1
        while True:
            said, pause = await self.attempt(order, replica)
            if said is None:
                return
            if time.monotonic() > deadline:
                order.unanswered.append(said)
                return
            await asyncio.sleep(min(pause, max(0, deadline - time.monotonic())))

    async def attempt(self, order, replica):
        """(None, 0) when the answer counts; otherwise what was said, and how long to wait."""
        operation = order.operation
        address = self.world.address(operation.service, replica)
        try:
            answer = await self.world.client.send(address, operation.method, order.path, order.headers, order.body)
        except Lost as problem:
            self.counts["lost"] += 1
            return str(problem), 0.3
        pause = answer.headers.get("retry-after", "")
        if answer.status == 409 and (pause or answer.code() == IN_USE):
            # It passes by itself, and nothing is kept of it.
            self.counts[f"409 {answer.code()}"] += 1
            if not pause.isdigit():
                self.counts[NOT_TOLD] += 1
            return answer.shown(), float(pause) if pause.isdigit() else 1
        if answer.status == 429 or answer.status >= 500:
            self.counts[f"{answer.status} {answer.code()}"] += 1
            return answer.shown(), 1
        order.answers.append(answer)
        return None, 0

    async def race(self, order, replicas):
        """At the same moment at all of these."""
        await asyncio.gather(*(self.send(order, replica) for replica in replicas))

    @staticmethod
    def settle(order):
        """What the order makes possible, once it is known what became of it."""
        if order.then and order.answers:
            order.then(next((a for a in order.answers if a.is_good), order.answers[0]))
