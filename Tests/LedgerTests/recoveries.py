"""Recoveries for the stories: begun, looked at, ended, and what the ledger had forgotten."""
import itertools, uuid

import ledger as L
from drops import MINUTE, POOL, told
from stage import DAY, HOUR, NOON, equal

# Each story has a day of its own: recoveries follow each other, and nothing may be sent during any of them.
_days = itertools.count(30)


def day(): return NOON + next(_days) * DAY


def begun(s, now, restored_to=None, c=None):
    return (c or s.worker).execute("SELECT begin_recovery(%s, 'restore', 'the disk is gone', %s)",
                                   [restored_to or now - 10 * MINUTE, now]).fetchone()[0]


def planned(s, now): return s.one("SELECT continue_recovery(%s, %s)", POOL, now)[0]


def noted(s, recovery, account, now, differences=0, detail="balance"):
    s.worker.execute("SELECT note_recovered(%s, %s, %s, %s, %s)",
                     [recovery, account, now, differences, detail if differences else None])


def mark(s, recovery, account):
    """What differs on an account, as the recovery names it."""
    found = s.owner.execute("SELECT difference_mark(differences, detail) FROM recovery_accounts WHERE recovery_id = %s AND account = %s",
                            [recovery, account]).fetchone()
    return (found and found[0]) or "00000000"


def accepted(s, recovery, account, now, who="eve", c=None, seen=None):
    """An operator accepts what differs on an account, or what was seen of it."""
    return acceptance(s, recovery, account, now, who, c, seen)[0]


def acceptance(s, recovery, account, now, who="eve", c=None, seen=None):
    """The same, with what the act is told with where something was done."""
    return (c or s.worker).execute("SELECT * FROM accept_difference(%s, %s, %s, %s, 'older than the backup', %s)",
                                   [recovery, account, seen or mark(s, recovery, account), who, now]).fetchone()


def all_noted(s, recovery, now):
    s.owner.execute("UPDATE recovery_accounts SET looked_at = %s, differences = 0 WHERE recovery_id = %s", [now, recovery])
    s.owner.execute("UPDATE jobs SET state = 'done' WHERE kind = 'recover_account'")


def ended(s, recovery, now, who="eve", c=None):
    return ending(s, recovery, now, who, c)[0]


def ending(s, recovery, now, who="eve", c=None):
    """The same, with how much had been forgotten where something was done."""
    return (c or s.worker).execute("SELECT * FROM end_recovery(%s, %s, 'all agrees', %s)", [recovery, who, now]).fetchone()


def over(s, recovery, now):
    """Everything agrees and has been asked about; the recovery ends."""
    planned(s, now)
    none_sent(s, now)
    all_noted(s, recovery, now + 3 * MINUTE)
    equal(ended(s, recovery, now + 4 * MINUTE), "ended")


def none_sent(s, now, but=()):
    for moment in (now, now + 2 * MINUTE): absent(s, [i for i in doubts(s) if i not in but], moment)


def doubts(s): return [r[0] for r in s.worker.execute("SELECT doubtful(ARRAY(SELECT id FROM transfers))").fetchall()]


def doubted(s, ids): return len(set(doubts(s)) & set(ids))


def absent(s, ids, now): s.worker.execute("SELECT note_absent(%s::uuid[], %s)", [list(ids), now])


def missing(s, recovery): return s.one("SELECT * FROM recovery_missing(%s)", recovery)


def reference(id): return f"trf-{id}"


def booked(s, made, source, to=None, bank=None, amount=100, status="completed", id=None, provider=None, name=None, now=None, c=None):
    """A transfer that the provider lists. (what came of it, its id)"""
    id = id or L.v7(made)
    word = (c or s.worker).execute(
        "SELECT recover_transfer(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [provider or f"{uuid.uuid4().hex}-anc_trsf", name or reference(id), source, to, bank, amount, status, made, id, POOL,
         now or made + HOUR]).fetchone()[0]
    return word, id


def account(s, user): return s.one("SELECT provider_account FROM users WHERE id = %s", user)[0]


def expected(s, user):
    """What the user's account at the provider should hold; without a user that of drops."""
    return s.one("SELECT expected FROM expected_at_provider(%s, %s)", account(s, user) if user else POOL, user)[0]


def transfer(s, id, *columns):
    return s.one(f"SELECT {', '.join(columns)} FROM transfers WHERE id = %s", id)


def given(s, id, now=NOON):
    """Two operators give money in suspense to the person whose account has it."""
    release = L.v7()
    equal(s.one("SELECT result FROM propose_release(%s, %s, 'credit', 'theirs', 'eve', %s)", release, id, now)[0], "proposed")
    equal(s.one("SELECT result FROM decide_release(%s, 'adam', true, %s)", release, now)[0], "approved")
    return release


def returned(s, user, amount, payment, name, now, c=None):
    """Account tells of money that carries a reference."""
    return (c or s.worker).execute(
        "SELECT result FROM credit_inbound(ARRAY[%s], ARRAY[%s], ARRAY[%s::bigint], ARRAY[%s], ARRAY[%s::uuid], ARRAY['funding'],"
        " ARRAY[NULL::uuid], %s)", [payment, account(s, user), amount, name, L.v7(now), now]).fetchone()[0]
