#!/usr/bin/env python3
"""Stories of the name that a database has as long as nothing of it was lost: database_epoch(), on servers that are killed,
copied, promoted and restored.

usage: epoch_test.py [part of a name ...]
"""
import os, signal, sys

sys.dont_write_bytecode = True

import ledger as L
from clusters import Folder, run
from stage import equal, story, tell_each

DATABASE = "service"


def epoch(server, database=DATABASE): return server.one("SELECT database_epoch()", database)


def timeline(server): return server.one("SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)")


def number(server): return server.one("SELECT system_identifier FROM pg_control_system()")


def different(*epochs):
    assert len(set(epochs)) == len(epochs), f"some are the same: {epochs}"


def prepare(server):
    """The database of a service: the tables and functions that all have."""
    with server.connect() as c:
        for role in L.ROLES.values(): c.execute(f"CREATE ROLE {role}")
        c.execute(f"CREATE DATABASE {DATABASE} OWNER {L.ROLES['owner']}")
    with server.connect(DATABASE, "owner") as c:
        for name, sql in L.chain():
            if name.startswith("Shared/Messaging/"):
                with c.transaction(): c.execute(sql)


def changed(server, *statements):
    """Both names: before and after the owner's statements."""
    before = epoch(server)
    with server.connect(DATABASE, "owner") as c:
        for statement in statements: c.execute(statement)
    return before, epoch(server)


@story("whoever asks whenever gets the same name, whatever the settings of the session, and whatever was written")
def _(s):
    names = {s.primary.one("SELECT database_epoch()", DATABASE, role) for role in (None, "owner", "handler", "worker")}
    with s.primary.connect(DATABASE, "worker") as c:
        for setting in ("timezone = 'Africa/Lagos'", "datestyle = 'German'", "extra_float_digits = -5",
                        "intervalstyle = 'iso_8601'", "default_transaction_read_only = on"):
            c.execute(f"SET {setting}")
            names.add(c.execute("SELECT database_epoch()").fetchone()[0])
    key = "INSERT INTO idempotency_keys VALUES (gen_random_uuid(), 'r', 'k', '', 201, NULL, '', now())"
    event = "INSERT INTO inbox VALUES (current_date, gen_random_uuid(), 's', 't', 'u', 1, NULL, 'handled', 1, now())"
    names |= set(changed(s.primary, key, event, "DELETE FROM idempotency_keys"))
    s.primary.one("SELECT count(*) FROM pg_switch_wal()")
    with s.primary.connect() as c: c.execute("CHECKPOINT")
    equal(len(names | {epoch(s.primary)}), 1)


@story("a backend that was killed takes the name with it: the log was read again, in the same server")
def _(s):
    started = "SELECT pg_postmaster_start_time()"
    before, since = epoch(s.primary), s.primary.one(started)
    victim, other = s.primary.connect(), s.primary.connect()
    os.kill(victim.info.backend_pid, signal.SIGKILL)
    # Once the others are ended nobody is let in before the log was read.
    try: other.execute("SELECT pg_sleep(60)")
    except L.psycopg.OperationalError: pass
    else: raise AssertionError("the other backend lives")
    s.primary.until_there()
    equal(s.primary.one(started), since)
    different(before, epoch(s.primary))


@story("a server that was killed and started again has another name")
def _(s):
    before, cluster = epoch(s.primary), number(s.primary)
    s.primary.kill()
    s.primary.start()
    different(before, epoch(s.primary))
    equal(number(s.primary), cluster)


@story("a server that was stopped in order and started again has another name, and so has a copy of its files")
def _(s):
    before = epoch(s.primary)
    s.primary.stop(signal.SIGINT)
    cold = s.folder.again("cold", s.primary)
    for server in (s.primary, cold): server.start()
    different(before, epoch(s.primary), epoch(cold))
    cold.stop()


@story("a standby has a new name for whoever asks, and when it is promoted one that neither it nor its primary had before")
def _(s):
    standby = s.folder.copied("standby", s.primary, "--write-recovery-conf")
    standby.start()
    waiting = [epoch(standby) for _ in range(3)]
    assert all(name.startswith("recovery-") for name in waiting), waiting
    equal(standby.one("SELECT pg_promote(true, 60)"), True)
    promoted = epoch(standby)
    different(epoch(s.primary), promoted, *waiting)
    # At once, before a checkpoint has written the new timeline down, and after it.
    equal(timeline(standby), "00000002")
    with standby.connect() as c: c.execute("CHECKPOINT")
    equal(epoch(standby), promoted)
    equal(number(standby), number(s.primary))
    standby.stop()


@story("restores of one copy have names of their own, also where their timelines have the same number or none is begun")
def _(s):
    copy = s.folder.copied("copy", s.primary)
    twins = [s.folder.again(f"twin{n}", copy) for n in (1, 2)]
    for twin in twins:
        (twin.data / "recovery.signal").touch()
        with open(twin.data / "postgresql.auto.conf", "a") as settings: settings.write("restore_command = 'false'\n")
        twin.start()
        twin.until_open()
    copy.start()
    equal([timeline(server) for server in (*twins, copy, s.primary)], ["00000002", "00000002", "00000001", "00000001"])
    equal(len({number(server) for server in (*twins, copy, s.primary)}), 1)
    names = [epoch(server) for server in (*twins, copy, s.primary)]
    different(*names)
    equal(names, [epoch(server) for server in (*twins, copy, s.primary)])
    for server in (*twins, copy): server.stop()


@story("an inbox that was dropped and made again, emptied, or has lost a day, has another name; so have the keys of requests")
def _(s):
    again = "SELECT pg_get_functiondef('database_epoch()'::regprocedure)"
    definition = s.primary.one(again, DATABASE)
    different(*changed(s.primary, "TRUNCATE inbox"))
    different(*changed(s.primary, "TRUNCATE idempotency_keys"))
    different(*changed(s.primary, "CALL drop_partitions((now() AT TIME ZONE 'UTC')::date)"))
    for table in ("inbox", "idempotency_keys"):
        different(*changed(s.primary, f"CREATE TABLE other (LIKE {table} INCLUDING ALL)", f"DROP TABLE {table}",
                           f"ALTER TABLE other RENAME TO {table}"))
    different(*changed(s.primary, "DROP TABLE idempotency_keys"))
    equal(s.primary.one(again, DATABASE), definition)


@story("a database that was dropped and restored from a dump has another name, and so has a copy of it")
def _(s):
    before, dump = epoch(s.primary), s.folder.path / "dump"
    run("pg_dump", "--host", s.primary.folder, "--username=postgres", "--format=custom", "--file", dump, DATABASE)
    with s.primary.connect() as c: c.execute(f"DROP DATABASE {DATABASE}")
    run("pg_restore", "--host", s.primary.folder, "--username=postgres", "--create", "--dbname=postgres", dump)
    restored = epoch(s.primary)
    with s.primary.connect() as c: c.execute(f"CREATE DATABASE twin TEMPLATE {DATABASE}")
    different(before, restored, epoch(s.primary, "twin"))
    equal(epoch(s.primary), restored)


@story("another cluster has another name")
def _(s):
    other = s.folder.made("other")
    prepare(other)
    different(epoch(s.primary), epoch(other))


class Scene:
    """A primary with the database of a service, and room for more servers."""

    def __init__(self, folder):
        self.folder, self.primary = folder, folder.made("primary")
        prepare(self.primary)


if __name__ == "__main__":
    with Folder() as folder:
        tell_each("epoch", Scene(folder))
