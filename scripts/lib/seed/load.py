"""Loads people and their transactions into the databases of all services. Called by scripts/seed-data, which explains it.

usage: load.py RUN TRANSACTIONS USERS SEED DAY

RUN is the folder of a run of the suite, with databases/<service>.env and the services' settings; DAY is the first that
nothing happens on any more. All databases are filled in one transaction each, which are committed together at the end.
"""
import datetime
import pathlib
import re
import sys
import threading
import time

import psycopg

from people import WORDS, Person, Seals, rows

HERE = pathlib.Path(__file__).resolve().parent
SERVICES = ["auth", "customer", "account", "transaction", "subscription", "notification", "analytics"]
# One table each that has rows as soon as anybody has used the service.
MARKS = {"auth": "users", "customer": "users", "account": "accounts", "transaction": "users", "subscription": "subscriptions",
         "notification": "users", "analytics": "facts"}
DAYS = 730
POOL = "17000000000000-anc_acc"
LINK = "https://transfa.app"
# Rows that a list of person 1 must have so that there is a thousandth page of it, as a share of that person's transactions.
LONG_LIST = 0.204
# The most that one statement may take, in seconds: many times what it takes on a slow machine.
PATIENCE, PATIENCE_PER_TRANSACTION = 120, 0.002


def stop(sentence):
    sys.exit(f"seed-data: {sentence}")


def settings(path):
    """The lines NAME='value' of a file."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        stop(f"there is no {path}; --run names the folder of a run, such as scripts/run makes")
    return dict(re.findall(r"^(\w+)='?(.*?)'?$", "\n".join(lines), re.M))


class Progress:
    """Says what is done and how long it took."""

    def __init__(self):
        self.started = time.monotonic()
        self.lock = threading.Lock()

    def __call__(self, title, begun, count=None):
        rows = f"{count:>12,} rows" if count is not None else " " * 17
        with self.lock:
            print(f"    {title:<44}{rows}{time.monotonic() - begun:>8.1f} s", flush=True)


class Load:
    def __init__(self, run, transactions, users, seed, day):
        self.run, self.say = run, Progress()
        end = datetime.datetime.combine(day, datetime.time(), datetime.timezone.utc)
        # What follows an order, such as the refund of a drop, ends within 27 hours of it.
        begin, last = end - datetime.timedelta(days=DAYS), end - datetime.timedelta(hours=27)
        first = int(begin.timestamp() * 1000)
        heavy = transactions // 10
        self.people = [Person(rank, seed, begin) for rank in range(1, users + 1)]
        self.values = {
            "seed": seed, "users": users, "transactions": transactions, "first": first,
            "span": int(last.timestamp() * 1000) - first, "heavy": heavy, "own_drops": int(heavy * LONG_LIST),
            "claimed_drops": int(heavy * LONG_LIST), "requests": int(heavy * LONG_LIST * 1.15),
            "big_slots": min(1000, users // 2, transactions // 1000), "pool": POOL, "link": LINK, "heavy_id": self.people[0].id,
        }
        self.databases = {}
        self.patience = int(PATIENCE + PATIENCE_PER_TRANSACTION * transactions)

    # Databases

    def connect(self):
        for service in SERVICES:
            url = settings(self.run / "databases" / f"{service}.env").get("MIGRATION_DATABASE_URL")
            try:
                self.databases[service] = psycopg.connect(url)
            except psycopg.OperationalError as problem:
                stop(f"the database of {service} does not answer: {str(problem).splitlines()[0]}")
            try:
                found = self.databases[service].execute(f"SELECT count(*) FROM {MARKS[service]}").fetchone()[0]
            except psycopg.errors.UndefinedTable:
                stop(f"the database of {service} has no tables; run its migrations first")
            if found:
                stop(f"the database of {service} holds other data ({found} rows of {MARKS[service]}); only empty ones are filled:"
                     " scripts/run --empty makes such")
            self.databases[service].execute(
                "SELECT set_config(x.name, x.value, false) FROM (VALUES ('synchronous_commit', 'off'), ('work_mem', '256MB'),"
                " ('jit', 'off'), ('statement_timeout', %s)) AS x(name, value)", [f"{self.patience}s"])

    def sql(self, name):
        """The steps of a file: (title, text)."""
        text = re.sub(r"\$\{(\w+)\}", lambda m: str(self.values[m[1]]), (HERE / f"{name}.sql").read_text())
        parts = re.split(r"^-- step (\w+)\n", text, flags=re.M)
        return list(zip([name, *parts[1::2]], parts[0::2]))

    def steps(self, service, name):
        for title, text in self.sql(name):
            begun = time.monotonic()
            try:
                self.databases[service].execute(text.encode(), prepare=False)
            except psycopg.Error as problem:
                problem.add_note(f"{service}: {title}, after {time.monotonic() - begun:.1f} s")
                raise
            self.say(f"{service}: {title}", begun)
            yield title

    def do(self, service, name):
        for _ in self.steps(service, name):
            pass

    def copied(self, service, table, columns, write):
        """Copies rows into a table, by way of one of the session: COPY does not go past row level security."""
        names, database = ", ".join(columns), self.databases[service]
        database.execute(f"CREATE TEMP TABLE seed_in AS SELECT {names} FROM {table} WITH NO DATA")
        with database.cursor() as cursor:
            with cursor.copy(f"COPY seed_in ({names}) FROM STDIN") as copy:
                write(copy)
            cursor.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM seed_in")
            count = cursor.rowcount
        database.execute("DROP TABLE seed_in")
        return count

    def copy(self, service, table, columns, values):
        def write(copy):
            for row in values:
                copy.write_row(row)
        return self.copied(service, table, columns, write)

    def pipe(self, query, service, table, *columns):
        """Copies what a query of the transaction service's database finds into a table of another."""
        begun = time.monotonic()

        def write(copy):
            with self.databases["transaction"].cursor() as source, source.copy(f"COPY ({query}) TO STDOUT".encode()) as read:
                for data in read:
                    copy.write(data)
        self.say(f"{service}: {table}", begun, self.copied(service, table, columns, write))

    # What is loaded

    def load_people(self):
        begun = time.monotonic()
        run = self.run
        self.seals = Seals(settings(run / "auth.env")["MASTER_KEYS"], settings(run / "customer.env")["BLIND_INDEX_KEY"])
        tables = rows(self.people, self.seals)
        late = []
        for (service, table, columns), values in tables.items():
            if (service, table) in [("transaction", "beneficiaries"), ("transaction", "devices")]:
                late.append((service, table, columns, values))
                continue
            self.copy(service, table, columns, values)
        transaction = self.databases["transaction"]
        transaction.execute(
            "CREATE TEMP TABLE seed_people (rank integer PRIMARY KEY, id uuid NOT NULL, username text, account_type text,"
            " has_plan boolean, to_wallet boolean, account text, counterparty text, beneficiary uuid, device uuid, wallet bigint)")
        self.copy("transaction", "seed_people", ("rank", "id", "username", "account_type", "has_plan", "to_wallet", "account",
                  "counterparty", "beneficiary", "device"),
                  [(p.rank, p.id, p.username, p.account_type, p.has_plan, p.to_wallet, p.account, p.counterparty(0), p.banks[0],
                    p.devices[-1]) for p in self.people])
        transaction.execute("SELECT ensure_users(array_agg(id ORDER BY rank)) FROM seed_people")
        transaction.execute(
            "UPDATE users u SET username = p.username, account_type = p.account_type, auth_sequence = 1, settings_sequence = 1,"
            " receive_preference = CASE WHEN p.to_wallet THEN 'wallet' ELSE 'external' END, kyc_status = 'approved', tier = 3,"
            " kyc_sequence = 1, provider_account = p.account, account_sequence = 1, plan = CASE WHEN p.has_plan THEN 'paid' ELSE"
            " 'free' END, active_until = CASE WHEN p.has_plan THEN timestamptz '2999-01-01' END, subscription_sequence = 1"
            " FROM seed_people p WHERE u.id = p.id")
        transaction.execute("UPDATE seed_people p SET wallet = u.wallet_id FROM users u WHERE u.id = p.id")
        transaction.execute("ANALYZE seed_people")
        for each in late:
            self.copy(*each)
        self.say("people, their keys and bank accounts", begun, len(self.people))

    def load_ledger(self):
        self.do("transaction", "shape")
        for title in self.steps("transaction", "ledger"):
            if title == "ledger":
                self.seal_words()

    def seal_words(self):
        begun, owners = time.monotonic(), {p.rank: p.id for p in self.people}
        transaction = self.databases["transaction"]
        words = transaction.execute("SELECT key, field, owner FROM seed_words").fetchall()
        self.copy("transaction", "seed_texts", ("key", "sealed"),
                  ((key, self.seals.seal(owners[owner], field, WORDS[key.int % len(WORDS)])) for key, field, owner in words))
        transaction.execute("ANALYZE seed_texts")
        self.say("transaction: sealed texts", begun, len(words))

    def load_others(self):
        """What the other services know of it. One after the other: all of it is read from one database."""
        (_, heard), (_, told) = *self.sql("heard"), *self.sql("told")
        self.databases["analytics"].execute(
            "CREATE TEMP TABLE seed_heard (id uuid, type text, sender_id uuid, recipient_id uuid, recipient_type text, amount bigint,"
            " fee bigint, duty bigint, route text, route_reason text, is_back boolean, at timestamptz, drop_id uuid, creator_id uuid,"
            " slots integer, claimed integer)")
        self.pipe(heard, "analytics", "seed_heard", "id", "type", "sender_id", "recipient_id", "recipient_type", "amount", "fee", "duty",
                  "route", "route_reason", "is_back", "at", "drop_id", "creator_id", "slots", "claimed")
        self.databases["notification"].execute(
            "CREATE TEMP TABLE seed_told (user_id uuid, category text, kind text, title text, body text, subject text, at timestamptz)")
        self.pipe(told, "notification", "seed_told", "user_id", "category", "kind", "title", "body", "subject", "at")
        self.pipe("SELECT id, sender_id, recipient_id, least(sender_id, recipient_id), greatest(sender_id, recipient_id), id, type, state,"
                  " route, amount, fee, duty, created_at, ended_at, sequence FROM transfers WHERE type = 'p2p' AND state <> 'failed'"
                  " ORDER BY id", "customer", "transfers", "id", "sender_id", "recipient_id", "low_id", "high_id", "position", "type",
                  "state", "route", "amount", "fee", "duty", "created_at", "ended_at", "transaction_sequence")
        self.pipe("SELECT provider_id, id, destination, recipient_id, amount, created_at, created_at FROM transfers"
                  " WHERE type = 'inbound' ORDER BY id", "account", "inbound_payments", "provider_payment_id", "payment_id",
                  "anchor_account_id", "user_id", "amount", "paid_at", "credited_at")
        self.pipe("SELECT reference, sender_id, 'plus', amount, 1, created_at, 'paid', id, created_at, created_at FROM transfers"
                  " WHERE type = 'subscription_charge'", "subscription", "charges", "reference", "user_id", "plan", "amount", "attempt",
                  "starts_at", "state", "transaction_id", "requested_at", "decided_at")
        self.pipe("SELECT user_id, to_char(month, 'YYYY-MM'), slots_used, event_sequence, transfa_now() FROM receiving_counters"
                  " WHERE event_sequence > 0", "subscription", "usage", "user_id", "month", "used", "sequence", "updated_at")
        self.load_subscriptions()
        together([lambda: self.do("analytics", "analytics"), lambda: self.do("notification", "notification")])

    def load_subscriptions(self):
        joined = self.people[0].joined
        self.copy("subscription", "subscriptions", ("user_id", "created_at", "updated_at"), ((p.id, joined, joined) for p in self.people))
        self.databases["subscription"].execute(
            "UPDATE subscriptions s SET plan = 'plus', renews_as = 'plus', anchored_at = c.last, active_until = c.last + interval"
            " '1 month', grace_until = c.last + interval '1 month 3 days', next_charge_at = c.last + interval '1 month'"
            " FROM (SELECT user_id, max(requested_at) AS last FROM charges GROUP BY 1) c WHERE s.user_id = c.user_id")

    def commit(self):
        begun = time.monotonic()
        for service in SERVICES:
            self.databases[service].commit()
        self.say("commit", begun)
        begun = time.monotonic()
        # What autovacuum would come to within the hour: statistics, and which pages need no second look.
        together([lambda s=service: self.vacuum(s) for service in SERVICES])
        self.say("statistics", begun)

    def vacuum(self, service):
        self.databases[service].autocommit = True
        self.databases[service].execute("VACUUM (ANALYZE)")

    def facts(self):
        transaction = self.databases["transaction"]
        count = transaction.execute("SELECT count(*) FROM transfers").fetchone()[0]
        heavy = transaction.execute("SELECT count(*) FROM transfers WHERE sender_id = %(id)s OR recipient_id = %(id)s",
                                    {"id": self.people[0].id}).fetchone()[0]
        print(f"{count:,} transactions of {len(self.people):,} people in {time.monotonic() - self.say.started:.0f} s; the heaviest,"
              f" {self.people[0].username} ({self.people[0].subject}), takes part in {heavy:,}", flush=True)


def together(jobs):
    failures = []

    def run(job):
        try:
            job()
        except Exception as problem:
            failures.append(problem)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def main():
    run, transactions, users, seed, day = sys.argv[1:]
    load = Load(pathlib.Path(run), int(transactions), int(users), int(seed), datetime.date.fromisoformat(day))
    load.connect()
    try:
        load.load_people()
        load.load_ledger()
        load.load_others()
        load.commit()
    except psycopg.Error as problem:
        where = "".join(f" ({note})" for note in getattr(problem, "__notes__", []))
        stop(f"Postgres refused: {' '.join(str(problem).split())[:400]}{where}")
    load.facts()


if __name__ == "__main__":
    main()
