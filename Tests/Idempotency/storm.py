"""The storm: orders of every operation with a key, a third of them sent more than once, at two processes of each service."""

import asyncio
import collections
import pathlib
import random
import time

import effects
from operations import unknown
from orders import NOT_TOLD, Sender
from people import People
from refusals import Refusals
from telling import Makers
from world import OUTCOMES

ROOT = pathlib.Path(__file__).parents[2]
# Of all requests, so many are repetitions.
REPEATED = 0.3
# How a repetition comes: at the same moment at both; some seconds later; after the answer, at the other.
MANNERS = ("at once", "later", "elsewhere")
LATER = (1.0, 5.0)
# Of those that were repeated, so many must have been answered without a transaction of Postgres.
BY_METRICS, BY_DATABASES = 0.95, 0.70
# A service that waits in vain for Redis does without for a second, and what it answers then leaves no copy: itself and so
# many repetitions are excused, of all of them half at most. On a machine that stalls it happens; a Redis that is well
# answers nearly all, also when it is asked for nothing but repetitions.
EXCUSED, MOST_EXCUSED = 2, 0.5
MOST_UNANSWERED, MOST_UNANSWERED_REPEATS = 0.15, 0.25
# Postgres tells of what a backend did at the latest ten seconds after.
TOLD_AFTER = 11
REPEATS_MEASURED = 2000


class Storm:
    def __init__(self, world, makers, seed, workers, names=None):
        self.world, self.makers, self.workers = world, makers, workers
        self.sender, self.chance = Sender(world), random.Random(seed)
        # Also without those that only make what these use up.
        self.names = sorted(names or makers.operations)
        self.weights = [makers.operations[name].known.weight for name in self.names]
        self.orders, self.later = [], []
        self.manners = collections.Counter()

    # Orders

    async def next_order(self, name=None):
        """The next order, of this operation or of any; None when nothing can be had for a long time."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            await self.makers.replenish()
            for _ in range(30):
                wish = name or self.chance.choices(self.names, self.weights)[0]
                order = self.makers.make(wish)
                if order:
                    self.orders.append(order)
                    return order
            await asyncio.sleep(0.2)
        return None

    async def give(self, order):
        """One order, as often and in the manner that chance says."""
        first = self.chance.randrange(2)
        manner = self.chance.choice(MANNERS) if self.chance.random() < REPEATED / (1 - REPEATED) else None
        self.manners[manner] += 1
        await self.sender.race(order, (0, 1) if manner == "at once" else (first,))
        self.sender.settle(order)
        if manner == "elsewhere":
            await self.sender.send(order, 1 - first)
        elif manner == "later":
            pause, replica = self.chance.uniform(*LATER), self.chance.randrange(2)
            self.later.append(asyncio.create_task(self.send_later(order, pause, replica)))

    async def send_later(self, order, pause, replica):
        await asyncio.sleep(pause)
        await self.sender.send(order, replica)

    async def run(self, requests):
        """Sends about so many requests, repetitions included, and at least one order of each operation."""
        began = time.monotonic()
        await self.makers.ripening.beside(self.give_all(requests))
        self.seconds = time.monotonic() - began

    async def give_all(self, requests):
        async def work():
            while self.sender.counts["requests"] < requests:
                order = await self.next_order()
                if order is None:
                    return
                await self.give(order)

        await asyncio.gather(*(work() for _ in range(self.workers)))
        for name in self.names:
            # What it uses up may have to be made first, and to ripen.
            for _ in range(20):
                if any(order.name == name and order.is_granted for order in self.orders):
                    break
                order = await self.next_order(name)
                if order is None:
                    break
                await self.give(order)
                await asyncio.sleep(0 if order.name == name else 1)
        await asyncio.gather(*self.later)

    # What came of them

    def report(self):
        counts = self.sender.counts
        print(f"{len(self.orders)} orders, {counts['requests']} requests in {self.seconds:.0f} s,"
              f" {counts['requests'] / self.seconds:.0f} a second; repeated: "
              + ", ".join(f"{self.manners[manner]} {manner}" for manner in MANNERS))
        met = {what: count for what, count in sorted(counts.items()) if what != "requests"}
        print("met and sent again: " + (", ".join(f"{count} x {what}" for what, count in met.items()) or "nothing"))
        by_name = collections.defaultdict(collections.Counter)
        for order in self.orders:
            outcome = "granted" if order.is_granted else order.answers[0].code() if order.answers else "unanswered"
            by_name[order.name][outcome] += 1
        for name in self.names:
            others = {code: count for code, count in by_name[name].items() if code != "granted"}
            print(f"  {name:<28} {by_name[name]['granted']:>6} {others or ''}")
        return by_name

    def judge(self, results, before, after):
        by_name = self.report()
        wrong = [text for text in (order.disagreement() for order in self.orders) if text]
        results.check("all answers to one key are one answer", not wrong, "\n    ".join(["", *wrong[:8]]))
        lost = [f"{order.shown()}: {order.unanswered[0]}" for order in self.orders if order.unanswered]
        results.check("everything was answered in the end", not lost, "\n    ".join(["", *lost[:8]]))
        never = [name for name in self.names if not by_name[name]["granted"]]
        results.check("each operation was granted", not never, ", ".join(never))
        refused = [order for order in self.orders if order.answers and not order.is_granted]
        shown = "\n    ".join(["", *(f"{order.shown()}: {order.answers[0].shown()}" for order in refused[:8])])
        results.check("what was asked for was granted", len(refused) * 50 <= len(self.orders), shown)
        results.check("who is to come again is told when", not self.sender.counts[NOT_TOLD])
        effects.check(results, before, after, self.orders)

    # What repetitions cost

    async def measure_repeats(self, results):
        """Transactions of all databases while there are only repetitions, less those of as many requests from nobody known.

        These are turned away at the door, in the same time: what is left is what services do by themselves, and the journal
        of requests. Each order was repeated once before, unmeasured: copies stay for ten minutes, and now all have one.
        """
        granted = [order for order in self.orders if order.is_granted]
        chosen = [self.chance.choice(granted) for _ in range(min(REPEATS_MEASURED, max(1500, 2 * len(granted))))]
        replicas = [self.chance.randrange(2) for _ in chosen]
        await self.send_all(list(dict.fromkeys(chosen)), replicas, self.sender.send)
        await self.world.settle()
        self.world.forget_connections()
        await asyncio.sleep(TOLD_AFTER)
        unanswered = await self.unanswered()
        repeating, seconds = await self.transactions_of(chosen, replicas, self.sender.send)
        unanswered = await self.unanswered() - unanswered
        turned_away, _ = await self.transactions_of(chosen, replicas, self.come_unknown, seconds / len(chosen))
        excused = min((1 + EXCUSED) * unanswered, MOST_EXCUSED * len(chosen))
        without = 1 - max(0, repeating - turned_away - excused) / len(chosen)
        print(f"{len(chosen)} repetitions, {len(chosen) / seconds:.0f} a second: {repeating} transactions, and {turned_away} for"
              f" as many requests that are turned away; {unanswered:.0f} without an answer of Redis")
        results.check(f"Redis answered {len(chosen) - unanswered:.0f} of {len(chosen)} repetitions",
                      unanswered <= MOST_UNANSWERED_REPEATS * len(chosen))
        results.check(f"{100 * without:.0f} % of repetitions ran no transaction, by the databases", without >= BY_DATABASES,
                      f"{100 * BY_DATABASES:.0f} % were wanted")

    async def unanswered(self):
        return (await self.world.answers_by_outcome()).get("redis_unknown", 0)

    async def transactions_of(self, chosen, replicas, send, pause=0.0):
        """How many there are while these are sent; and how long sending took."""
        begun, clock = self.world.transactions(), time.monotonic()
        await self.send_all(chosen, replicas, send, pause)
        seconds = time.monotonic() - clock
        await asyncio.sleep(TOLD_AFTER)
        return self.world.transactions() - begun, seconds

    async def send_all(self, chosen, replicas, send, pause=0.0):
        """One each `pause` seconds at most."""
        waiting, clock = list(zip(chosen, replicas)), time.monotonic()

        async def work():
            while waiting:
                order, replica = waiting.pop()
                due = clock + pause * (len(chosen) - len(waiting))
                await asyncio.sleep(max(0, due - time.monotonic()))
                await send(order, replica)

        await asyncio.gather(*(work() for _ in range(self.workers)))

    async def come_unknown(self, order, replica):
        """The same request with a session token that nobody has given out."""
        operation = order.operation
        headers = order.headers | {"Authorization": "Bearer nobody"}
        address = self.world.address(operation.service, replica)
        answer = await self.world.client.send(address, operation.method, order.path, headers, order.body)
        if answer.status != 401:
            raise RuntimeError(f"{order.shown()} of nobody was answered {answer.shown()}")


def judge_metrics(results, before, after):
    """By the services' own account."""
    missing = [outcome for outcome in OUTCOMES if outcome not in before or outcome not in after]
    results.check("every process counts its answers", not missing, ", ".join(missing))
    if missing:
        return
    grown = {outcome: int(after[outcome] - before[outcome]) for outcome in OUTCOMES}
    print("outcomes: " + ", ".join(f"{count} {outcome}" for outcome, count in grown.items()))
    without, unanswered = grown["repeat_redis"] + grown["waited"], grown["redis_unknown"]
    repeats = without + grown["repeat_postgres"]
    all_of_them = grown["first"] + repeats
    results.check(f"Redis answered {all_of_them - unanswered} of {all_of_them} requests",
                  unanswered <= MOST_UNANSWERED * all_of_them)
    excused = min(EXCUSED * unanswered, MOST_EXCUSED * repeats, grown["repeat_postgres"])
    share = without / (repeats - excused) if repeats else 0
    results.check(f"{100 * share:.1f} % of repetitions were answered without Postgres, by the metrics", share >= BY_METRICS,
                  f"{100 * BY_METRICS:.0f} % were wanted")


async def prepared(world, requests, seed, results):
    """The makers of orders, with everybody who gives them; None when there is an operation that nobody can call."""
    began = time.monotonic()
    people = await People(world, requests).make()
    makers = Makers(world, people, ROOT, seed)
    strange = unknown(makers.operations, makers)
    results.check(f"all {len(makers.operations)} operations with a key are known here", not strange,
                  f"{', '.join(strange)}: operations.py says what a new one needs")
    await world.settle()
    results.check(f"services have written to Redis, by the way {world.way.name}", world.way.is_used())
    print(f"{sum(people.counts.values())} people in {time.monotonic() - began:.0f} s", flush=True)
    return None if strange else makers


async def run(world, options, results):
    makers = await prepared(world, options.requests, options.seed, results)
    if makers is None:
        return
    await Refusals(world, makers, results).run()
    await world.settle()
    storm = Storm(world, makers, options.seed, options.workers, options.only)
    before, counts = effects.counted(world), await world.answers_by_outcome()
    await storm.run(options.requests)
    outcomes = await world.answers_by_outcome()
    await world.settle()
    storm.judge(results, before, effects.counted(world))
    judge_metrics(results, counts, outcomes)
    await effects.check_books(results, world)
    effects.check_final(results, world, makers.final())
    await storm.measure_repeats(results)
    wrong = [text for text in (order.disagreement() for order in storm.orders) if text]
    results.check("and much later the answers are the same", not wrong, "\n    ".join(["", *wrong[:5]]))
    repeated = effects.counted(world)
    effects.check(results, before, repeated, storm.orders)
