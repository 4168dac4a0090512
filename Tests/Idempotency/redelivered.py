"""Events that come again: what each of them costs, with Redis and without, and that none has its effect twice, also after a
restore of a database."""

import asyncio
import base64
import json
import os
import subprocess
import time
import urllib.parse
import urllib.request

import storm
from effects import check_books

# Who hears the events again, and the kinds that both of them hear.
LISTENERS = ("analytics", "notification")
KINDS = ("transaction.completed", "money_drop.claimed")
# What analytics hears besides: after a restore all that it has ever heard comes again.
ALL_KINDS = {"transaction": (*KINDS, "transaction.reversed"), "auth": ("user.created", "user.erased")}
NAMES = ("payUser", "createMoneyDrop", "claimMoneyDrop")
# The rows that are made of events alone; of sums only what they are together.
DERIVED = {
    "facts": ("analytics", "SELECT id, state FROM facts"),
    "movements": ("analytics", "SELECT fact_id, user_id, direction, amount, counterparty_id, day FROM movements"),
    "totals": ("analytics", "SELECT user_id, day, sum(in_wallet), sum(in_bank), sum(money_out), sum(fees) FROM day_totals"
                            " GROUP BY 1, 2"),
    "categories": ("analytics", "SELECT user_id, day, category, sum(money_in), sum(money_out) FROM day_categories"
                                " GROUP BY 1, 2, 3"),
    "names": ("analytics", "SELECT user_id, username FROM names"),
    "messages": ("notification", "SELECT event_id, user_id, kind, body, position FROM notifications"),
    "inboxes": ("notification", "SELECT user_id, last_position, unread FROM inboxes"),
}
IDLE = 20


class Cost:
    """What the databases and processes of the listeners have used up."""

    def __init__(self, world):
        self.at = time.monotonic()
        self.transactions = {name: world.transactions((name,)) for name in LISTENERS}
        self.service = {name: sum(world.seconds_of(world.pid(name, number)) for number in (0, 1)) for name in LISTENERS}
        self.backends = {name: {pid: world.seconds_of(pid) for pid in world.backends(name)} for name in LISTENERS}

    def since(self, before):
        """By listener: transactions, seconds of its processes, seconds of Postgres; and how long it was."""
        found = {}
        for name in LISTENERS:
            database = sum(max(0, seconds - before.backends[name].get(pid, 0)) for pid, seconds in self.backends[name].items())
            found[name] = (self.transactions[name] - before.transactions[name], self.service[name] - before.service[name],
                           database)
        return found, self.at - before.at


class Redelivery:
    def __init__(self, world, options, results):
        self.world, self.options, self.results = world, options, results

    # The broker

    def queue(self, service):
        """How many messages wait, and how many were ever acknowledged."""
        url = urllib.parse.urlsplit(self.world.servers["management"])
        host = urllib.parse.quote(urllib.parse.urlsplit(self.world.servers["rabbitmq"]).path.lstrip("/") or "/", safe="%")
        request = urllib.request.Request(f"http://{url.hostname}:{url.port}/api/queues/{host}/{service}.p0")
        login = f"{urllib.parse.unquote(url.username)}:{urllib.parse.unquote(url.password)}".encode()
        request.add_header("Authorization", "Basic " + base64.b64encode(login).decode())
        with urllib.request.urlopen(request, timeout=30) as answer:
            queue = json.load(answer)
        return queue.get("messages", 0), queue.get("message_stats", {}).get("ack", 0)

    async def acknowledged(self, wanted):
        """Until both have acknowledged so many, and nothing waits."""
        def is_over():
            return all(self.queue(name)[0] == 0 and self.queue(name)[1] >= wanted[name] for name in LISTENERS)

        await self.world.eventually("events to be acknowledged", is_over, 600, 1)

    # Sending again

    def unsend(self, kinds_by_service, limit=None):
        """Marks events unsent, as the operator's `outbox resend` does: the relay publishes the very bytes again."""
        total = 0
        for service, kinds in kinds_by_service.items():
            total += self.world.number(
                service, "WITH chosen AS (SELECT day, id FROM outbox WHERE sent_at IS NOT NULL AND type = ANY (%s)"
                " ORDER BY position LIMIT %s), again AS (UPDATE outbox o SET sent_at = NULL FROM chosen c WHERE o.day = c.day AND"
                " o.id = c.id RETURNING 1) SELECT count(*) FROM again", list(kinds), limit)
        return total

    async def send_again(self, events):
        """So many, the same ones in rounds when there are fewer. How many there were."""
        sent = 0
        while sent < events:
            before = {name: self.queue(name)[1] for name in LISTENERS}
            count = self.unsend({"transaction": KINDS}, events - sent)
            unsent = "SELECT count(*) FROM outbox WHERE sent_at IS NULL"
            await self.world.eventually("events to be sent", lambda: not self.world.number("transaction", unsent), 300)
            await self.acknowledged({name: before[name] + count for name in LISTENERS})
            sent += count
        return sent

    async def measured(self, title, act):
        """What an event costs that comes again, less what passes without any. Nothing has happened for a while."""
        before = Cost(self.world)
        events = await act()
        await asyncio.sleep(storm.TOLD_AFTER)
        used, length = Cost(self.world).since(before)
        print(f"{title}: {events} events again in {length:.0f} s; of each")
        for name in LISTENERS:
            share = length / self.idle_length
            transactions, service, database = (
                (with_ - share * without) / events for with_, without in zip(used[name], self.idle[name]))
            print(f"  {name:<13} {transactions:7.3f} transactions, {1000 * service:7.3f} ms of the service,"
                  f" {1000 * database:7.3f} ms of Postgres")
        self.check_derived(title)

    async def measure_idle(self):
        await asyncio.sleep(storm.TOLD_AFTER)
        before = Cost(self.world)
        await asyncio.sleep(IDLE)
        self.idle, self.idle_length = Cost(self.world).since(before)

    # Derived rows

    def derived(self):
        return {
            name: self.world.rows(service, f"SELECT count(*), md5(string_agg(x::text, ',' ORDER BY x::text)) FROM ({sql}) x")[0]
            for name, (service, sql) in DERIVED.items()
        }

    def check_derived(self, title):
        found = self.derived()
        wrong = [f"{name}: {found[name]} and not {self.right[name]}" for name in DERIVED if found[name] != self.right[name]]
        self.results.check(f"{title}: every event has had its effect once", not wrong, "; ".join(wrong))

    # A restore

    def tool(self, name, *words, **more):
        program = os.path.join(self.programs, name)
        done = subprocess.run([program, *words], capture_output=True, text=True, timeout=600, check=False, **more)
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr[-500:]}")
        return done.stdout

    @property
    def programs(self):
        return os.environ["POSTGRES_PROGRAMS"]

    def dump(self):
        return self.tool("pg_dump", "--create", self.world.databases["analytics"]["superuser"])

    def restore(self, dump):
        """As after the loss of the database: it is gone while the service runs, and what comes back is older."""
        self.world.forget_connections()
        postgres = self.world.servers["postgres"]
        self.tool("psql", postgres, "-Xq", "-v", "ON_ERROR_STOP=1", "-c", "DROP DATABASE transfa_analytics WITH (FORCE)")
        self.tool("psql", postgres, "-Xq", "-v", "ON_ERROR_STOP=1", input=dump)

    async def restored(self, dump):
        """All that analytics has ever heard comes again, and what is missing takes its effect."""
        await asyncio.to_thread(self.restore, dump)
        lost = [name for name, found in self.derived().items() if found != self.right[name]]
        self.results.check("a restore loses what came after the backup", "facts" in lost, str(lost))
        before = self.queue("analytics")[1]
        count = self.unsend(ALL_KINDS)
        await self.world.eventually("the facts to come back", lambda: self.derived()["facts"] == self.right["facts"], 300, 1)
        await self.acknowledged({"analytics": before + count, "notification": 0})
        await self.world.settle()
        self.check_derived(f"after a restore and {count} events again")


async def run(world, options, results):
    payments = max(100, min(options.events // 4, 10_000))
    makers = await storm.prepared(world, payments, options.seed, results)
    if makers is None:
        return
    redelivery = Redelivery(world, options, results)
    ordering = storm.Storm(world, makers, options.seed, options.workers, NAMES)
    await ordering.run(payments // 2)
    await world.settle()
    dump = redelivery.dump()
    await ordering.run(payments)
    await world.settle()
    known = world.number("transaction", "SELECT count(*) FROM outbox WHERE type = ANY (%s)", list(KINDS))
    print(f"{known} events of {len(KINDS)} kinds")
    redelivery.right = redelivery.derived()
    await redelivery.measure_idle()
    share = options.events // 3
    await redelivery.measured("with Redis", lambda: redelivery.send_again(share))

    async def flushed():
        sent = await redelivery.send_again(share // 2)
        world.way.flush()
        return sent + await redelivery.send_again(share - share // 2)

    await redelivery.measured("emptied in the middle", flushed)
    world.way.kill()
    try:
        await redelivery.measured("without Redis", lambda: redelivery.send_again(share))
    finally:
        world.way.start_again()
    await redelivery.restored(dump)
    await check_books(results, world)
