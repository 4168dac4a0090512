"""Races under faults: equal requests at once at both processes, while Redis goes, forgets, fails over or has another time,
or while the process that has the lease stands still."""

import asyncio
import os
import random
import signal
import time

import effects
import storm
from orders import PATIENCE, Sender

# What is raced for: money in all its forms, and some of what is not.
NAMES = ("payUser", "withdraw", "createMoneyDrop", "createPaymentRequest", "payPaymentRequest", "cancelPaymentRequest",
         "registerPushToken", "changeSettings", "provideDetails", "setLimits")
# The lease of a request in Redis lasts 15 s; some processes stand still for longer than that.
LEASE = 16
HOUR = 3600


class Fault:
    """One injection, beside the races that go on. It returns when everything is as before."""

    def __init__(self, faults):
        self.faults, self.way, self.chance = faults, faults.world.way, faults.chance

    @staticmethod
    async def apart(act, *words):
        """What waits for a server holds up no races."""
        return await asyncio.to_thread(act, *words)

    async def gone(self, number):
        """Redis is killed, is away for a while, and comes back empty."""
        await self.apart(self.way.kill)
        await asyncio.sleep(self.chance.uniform(0.2, 3))
        await self.apart(self.way.start_again)

    async def flushed(self, number):
        """Redis forgets everything, leases of requests that run too."""
        await self.apart(self.way.flush)

    async def failover(self, number):
        """Another Redis takes over, which has not heard of the last leases and copies."""
        await self.apart(self.way.prepare_failover)
        await self.apart(self.way.cut_off)
        await asyncio.sleep(self.chance.uniform(0.05, 0.5))
        await self.apart(self.way.fail_over)

    async def clock(self, number):
        """The clock of Redis jumps an hour ahead or back, and later to where it was."""
        await self.apart(self.way.serving.move_clock, HOUR if number % 2 else -HOUR)
        await asyncio.sleep(self.chance.uniform(0.2, 1.5))
        await self.apart(self.way.serving.move_clock, 0)

    async def stopped(self, number):
        """The process that has just been asked, and so mostly has the lease, stands still; the other is asked the same."""
        order = await self.faults.storm.next_order()
        if order is None:
            raise RuntimeError("there was nothing to race for")
        replica = self.chance.randrange(2)
        pid = self.faults.world.pid(order.operation.service, replica)
        # Every fourth for longer than the lease, and the first of all.
        length = LEASE if number % 4 == 0 else self.chance.uniform(0.2, 3)
        first = asyncio.create_task(self.faults.sender.send(order, replica))
        await asyncio.sleep(self.chance.uniform(0.001, 0.02))
        os.kill(pid, signal.SIGSTOP)
        try:
            others = [asyncio.create_task(self.faults.sender.send(order, 1 - replica)) for _ in range(self.chance.randint(1, 3))]
            await asyncio.sleep(length)
        finally:
            os.kill(pid, signal.SIGCONT)
        await asyncio.gather(first, *others)
        self.faults.end(order)


KINDS = ("gone", "flushed", "failover", "clock", "stopped")


class Faults:
    def __init__(self, world, makers, options):
        self.world, self.options = world, options
        self.chance = random.Random(options.seed)
        self.storm = storm.Storm(world, makers, options.seed, options.workers, NAMES)
        self.sender = self.storm.sender = Sender(world)
        self.slowest = 0.0

    def end(self, order):
        self.sender.settle(order)

    async def race(self):
        """Two to four equal requests at once, at both processes; and the same again a little later."""
        order = await self.storm.next_order()
        if order is None:
            raise RuntimeError("there was nothing to race for")
        began = time.monotonic()
        first = self.chance.randrange(2)
        await self.sender.race(order, [(first + number) % 2 for number in range(self.chance.randint(2, 4))])
        self.slowest = max(self.slowest, time.monotonic() - began)
        self.end(order)
        if self.chance.random() < 0.3:
            await self.sender.send(order, self.chance.randrange(2))

    async def run(self, name):
        """The races of one fault, with its injections spread evenly among them."""
        races, injections = self.options.races, self.options.injections
        begun, over, act = 0, 0, getattr(Fault(self), name)

        async def work():
            nonlocal begun
            while begun < races:
                # Each injection has its share of the races, half of them before it begins.
                if begun < races * (over + 1) / injections:
                    begun += 1
                    await self.race()
                else:
                    await asyncio.sleep(0.01)

        async def inject():
            nonlocal over
            for number in range(injections):
                while begun < races * (number + 0.5) / injections:
                    await asyncio.sleep(0.002)
                await act(number)
                over = number + 1

        began = time.monotonic()
        # Few at a time, so that the races meet the injections and not the queue before the services.
        await asyncio.gather(inject(), *(work() for _ in range(min(8, self.options.workers))))
        # Once more, when everything is as before.
        for order in self.chance.sample(self.storm.orders, min(len(self.storm.orders), 2 * injections + 20)):
            await self.sender.send(order, self.chance.randrange(2))
        self.storm.seconds = time.monotonic() - began

    def judge(self, results, name, before, after):
        orders, counts = self.storm.orders, self.sender.counts
        met = ", ".join(f"{count} x {what}" for what, count in sorted(counts.items()) if what != "requests")
        print(f"{name}: {len(orders)} races, {counts['requests']} requests in {self.storm.seconds:.0f} s, the longest took"
              f" {self.slowest:.1f} s; met and sent again: {met or 'nothing'}")
        wrong = [text for text in (order.disagreement() for order in orders) if text]
        results.check(f"{name}: all answers to one key are one answer", not wrong, "\n    ".join(["", *wrong[:8]]))
        lost = [f"{order.shown()}: {order.unanswered[0]}" for order in orders if order.unanswered]
        results.check(f"{name}: everything was answered within {PATIENCE} s", not lost, "\n    ".join(["", *lost[:8]]))
        refused = [f"{order.shown()}: {order.answers[0].shown()}" for order in orders if order.answers and not order.is_granted]
        results.check(f"{name}: nothing was refused", not refused, "\n    ".join(["", *refused[:8]]))
        effects.check(results, before, after, orders)


async def run(world, options, results):
    names = options.names or KINDS
    # So many that nobody is asked too often.
    makers = await storm.prepared(world, options.races * len(names), options.seed, results)
    if makers is None:
        return
    await makers.ripening.beside(run_each(world, makers, options, names, results))
    await effects.check_books(results, world)
    effects.check_final(results, world, makers.final())


async def run_each(world, makers, options, names, results):
    for name in names:
        if name == "failover" and world.way.name == "plain":
            print("failover: left out, for services that reach Redis directly stay with it")
            continue
        if name == "clock":
            print("clock: all keys of Redis end as by a clock that is an hour ahead, or behind")
        one = Faults(world, makers, options)
        before = effects.counted(world)
        await one.run(name)
        await world.settle()
        one.judge(results, name, before, effects.counted(world))
