"""Breaks, on purpose, all that the checks look at: each of them must notice (scripts/failover-test --break)."""

import copy
import time
import uuid

STATEMENTS = (
    ("transaction", "UPDATE transfers SET state = 'unknown' WHERE id = %(one)s"),
    (
        "transaction",
        "UPDATE balances SET posted = posted + 1 WHERE account_id = (SELECT max(account_id) FROM balances WHERE posted > 0)",
    ),
    # Nobody relays for console, which publishes nothing.
    (
        "console",
        """INSERT INTO outbox (day, id, type, subject, sequence, time, data)
            VALUES (uuid_v7_day(%(event)s), %(event)s, 'user.created', 'nobody', 1, now(), '{}')""",
    ),
    ("analytics", "DELETE FROM inbox WHERE subject = %(one)s::text"),
    (
        "transaction",
        """UPDATE inbox SET handled_at = handled_at + interval '1 hour' WHERE id =
            (SELECT id FROM inbox WHERE type = 'user.restricted' ORDER BY sequence LIMIT 1)""",
    ),
    (
        "analytics",
        """INSERT INTO parked_events (subject, id, type, body, reason, parked_at)
            VALUES ('nobody', gen_random_uuid(), 'user.created', '{}', 'unknown', now())""",
    ),
    ("notification", "UPDATE notifications SET subject = %(one)s::text WHERE subject = %(other)s::text"),
    ("analytics", "UPDATE day_totals SET in_wallet = in_wallet + 1 WHERE user_id = %(payee)s"),
    ("console", "DELETE FROM archived_events WHERE subject = %(one)s::text"),
)


def everything(suite, load):
    one, other = (payment.transfer for payment in load.payments[:2])
    stamp = time.time_ns() // 1_000_000
    event = str(uuid.UUID(int=stamp << 80 | 7 << 76 | 2 << 62 | uuid.uuid4().int & (1 << 62) - 1))
    values = {"one": one, "other": other, "payee": load.payee["id"], "event": event}
    for service, sql in STATEMENTS:
        with suite.database(service) as connection:
            # Whoever watches over these tables is not to be in the way.
            connection.execute("SET session_replication_role = replica")
            done = connection.execute(sql, values)
            if done.rowcount < 1:
                raise RuntimeError(f"nothing was broken in {service} by: {sql}")
    # Money that nobody has received, and a payment that was acknowledged and is nowhere.
    load.fundings += 1
    lost = copy.copy(load.payments[-1])
    lost.key, lost.transfer = f"failover-{uuid.uuid4()}", str(uuid.uuid4())
    load.payments.append(lost)
