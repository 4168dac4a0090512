"""A scratch ledger for the tests: databases with the real migrations, users, funds, and the calls of the two roles.

The server comes from TRANSFA_TEST_POSTGRES_URL (a superuser's URL to any database of it). Databases made here are dropped
when the program ends.
"""
import atexit, collections, datetime as dt, hashlib, os, pathlib, re, sys, time, uuid

try:
    import psycopg
except ImportError:
    sys.exit("these tests need psycopg: pip install 'psycopg[binary]'")

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A mutation: the file of the repository that is broken, and where its broken text is. Its ledger is made once or twice:
# its last steps are run, and no template is kept of them.
BROKEN, _, BROKEN_TEXT = os.environ.get("TRANSFA_LEDGER_MUTATION", "").partition("=")
ROLES = {"owner": "ledger_test_owner", "handler": "ledger_test_handler", "worker": "ledger_test_worker"}
P2P = "POST /transactions/p2p"
SOURCES = ("auth", "customer", "subscription")
UTC = dt.timezone.utc
_made = []


def server_url():
    url = os.environ.get("TRANSFA_TEST_POSTGRES_URL")
    if not url:
        sys.exit("set TRANSFA_TEST_POSTGRES_URL to a superuser's URL of a scratch Postgres server")
    return url


def url_of(database):
    return re.sub(r"/[^/?]*(\?|$)", rf"/{database}\1", server_url().replace("://", ":##", 1), count=1).replace(":##", "://", 1)


def admin():
    return psycopg.connect(server_url(), autocommit=True)


def drop(database):
    with admin() as c:
        c.execute(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')


def parts():
    """What makes a ledger, in order: files of Messaging and of the transaction service. Functions that tables need come
    before the tables, all others after them, and rights last."""
    bases = [ROOT / "Shared/Messaging", ROOT / "Services/Transaction"]
    for base in bases:
        yield from (file for file in [base / "Functions/tables.sql"] if file.exists())
        yield from sorted((base / "Migrations").glob("*.sql"))
    for base in bases:
        others = [file for file in sorted((base / "Functions").glob("*.sql")) if file.stem not in ("tables", "rights")]
        yield from (*others, base / "Functions/rights.sql")


def chain():
    """The steps of a ledger: names and SQL. A broken function replaces the whole one, in a ledger that is made already;
    anything else that is broken is broken from its step on."""
    files = {str(file.relative_to(ROOT)): file.read_text() for file in parts()}
    again = "/Functions/" in BROKEN and not BROKEN.endswith(("/rights.sql", "/tables.sql"))
    steps = {name: text if name != BROKEN or again else pathlib.Path(BROKEN_TEXT).read_text() for name, text in files.items()}
    # Tests live on days of their own. Their limits are round numbers; tier 3 has none that matter. Banks take a kobo, but
    # before 2026 as little as the service comes with. Rooms count by the kobo and a kobo takes a slot, until 2027.
    steps["tests"] = """
        CREATE TABLE outbox_other_days PARTITION OF outbox DEFAULT;
        DELETE FROM tier_limits;
        INSERT INTO tier_limits VALUES (0, '-infinity', 500, 4000, 9000, 6000), (1, '-infinity', 5000, 30000, 200000, 400000),
            (2, '-infinity', 1000000000, 1000000000000, 1000000000000, 90000),
            (3, '-infinity', 1000000000000, 1000000000000, 1000000000000, NULL);
        INSERT INTO bank_minimums VALUES ('2026-01-01', 1);
        INSERT INTO slot_minimums VALUES ('2020-01-01', 1), ('2027-01-01', 10000);
        INSERT INTO room_steps VALUES ('2020-01-01', 1, 1000000), ('2027-01-01', 10000, 3)"""
    if again:
        steps["mutation"] = pathlib.Path(BROKEN_TEXT).read_text()
    return [(name, "SET LOCAL check_function_bodies = off;\n" * ("/Functions/" in name or name == "mutation")
             + re.sub(r"\$\{(owner|handler|worker)\}", lambda m: ROLES[m[1]], text)) for name, text in steps.items()]


def templates(steps):
    """The name of the template database after each step: a hash of all SQL up to there."""
    digest, names = hashlib.sha256(), []
    for _, sql in steps:
        digest.update(len(sql).to_bytes(8, "big") + sql.encode())
        names.append(f"ledger_template_{digest.hexdigest()[:16]}")
    return names


def create(prefix="ledger"):
    """A fresh database with all of the chain, copied from the newest template that fits. Returns its name."""
    steps = chain()
    if not BROKEN:
        keep_template(steps)
    name = f"{prefix}_{os.getpid()}_{len(_made)}_{uuid.uuid4().hex[:6]}"
    _made.append(name)
    _make(name, steps)
    return name


def keep_template(steps):
    """Makes the template of these steps, unless it is there."""
    wanted = templates(steps)[-1]
    with admin() as c:
        have = _databases(c, [wanted])
    if have:
        return
    name = f"{wanted}_{uuid.uuid4().hex[:6]}"
    _make(name, steps)
    with admin() as c:
        try:
            c.execute(f'ALTER DATABASE "{name}" RENAME TO "{wanted}"')
        except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
            drop(name)                                          # another test made it at the same moment


def _databases(c, names):
    return {n for n, in c.execute("SELECT datname FROM pg_database WHERE datname = ANY(%s)", [names])}


def _make(name, steps):
    """Creates a database and runs the steps in it that the newest template lacks."""
    with admin() as c:
        for role in ROLES.values():
            if not c.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone():
                try:
                    c.execute(f"CREATE ROLE {role} NOLOGIN")
                except (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
                    pass                                        # another test made it at the same moment
        names = templates(steps)
        have = _databases(c, names)
        done = max((n + 1 for n, template in enumerate(names) if template in have), default=0)
        source = f' TEMPLATE "{names[done - 1]}" STRATEGY file_copy' if done else ""
        c.execute(f'CREATE DATABASE "{name}" OWNER {ROLES["owner"]}{source}')
    if done == len(steps):
        return
    with connect(name, "owner") as c:
        for _, sql in steps[done:]:
            c.execute(sql)
            c.commit()


@atexit.register
def _clean_up():
    for name in _made:
        try:
            drop(name)
        except psycopg.Error:
            pass


def connect(database, role, autocommit=False):
    c = psycopg.connect(url_of(database), autocommit=True)
    c.execute(f"SET SESSION AUTHORIZATION {ROLES[role]}")
    c.autocommit = autocommit
    return c


def v7(moment=None, bits=None):
    """A UUIDv7 of a moment; `bits` is 74 bits of randomness."""
    ms = int((moment.timestamp() if moment else time.time()) * 1000)
    bits = uuid.uuid4().int if bits is None else bits
    return uuid.UUID(int=ms << 80 | 7 << 76 | (bits & 0xFFF) << 64 | 2 << 62 | (bits >> 12) & (1 << 62) - 1)


# People ----------------------------------------------------------------------------------------------------------------

def add_user(c, username, funds=0, tier=3, bank=True, plan=False, **columns):
    """A verified user with a wallet, as worker: `bank` gives a default beneficiary, `plan` an active subscription."""
    user = columns.pop("id", None) or uuid.uuid4()
    c.execute("SELECT ensure_users(ARRAY[%s::uuid])", [user])
    columns = dict(username=username, tier=tier, kyc_status="approved", provider_account=f"{username}-account",
                   active_until=dt.datetime(2999, 1, 1, tzinfo=UTC) if plan else None) | columns
    c.execute(f"UPDATE users SET {', '.join(f'{k} = %s' for k in columns)} WHERE id = %s", [*columns.values(), user])
    if bank:
        c.execute("INSERT INTO beneficiaries (id, user_id, counterparty_id, verified, is_default) VALUES (%s, %s, %s, true, true)",
                  [uuid.uuid4(), user, f"{username}-bank"])
    if funds:
        fund(c, f"{username}-account", funds)
    return user


def fund(c, account, amount, payment=None, now=None):
    tx = v7(now)
    return c.execute("SELECT transfer_id, user_id, result FROM credit_inbound(%s, %s, %s, ARRAY[NULL::text], %s::uuid[],"
                     " ARRAY['funding'], ARRAY[NULL::uuid], %s)",
                     [[payment or f"pay-{tx}"], [account], [amount], [tx], now]).fetchone()


def beat(c, at):
    """All is heard until then, which may be far ahead."""
    c.execute("UPDATE source_heartbeats SET beat_at = greatest(beat_at, %s)", [at])


# Calls -----------------------------------------------------------------------------------------------------------------

FIELDS = ("id", "sender", "recipient", "amount", "description", "route", "key", "hash", "nonce", "device",
          "created", "rerouted", "slot", "correlation", "traceparent", "type", "target", "details")
TYPES = ("uuid", "uuid", "text", "bigint", "text", "text", "text", "bytea", "uuid", "uuid", "uuid", "uuid", "uuid", "uuid", "text",
         "text", "uuid", "text")
PLACE = ("SELECT code, is_replay, transfer_id, route, fee, duty, placed_at FROM place_orders("
         + ", ".join(f"%s::{t}[]" for t in TYPES) + ", %s) ORDER BY ord")
STORED = ("request_hash", "code", "transfer_id", "type", "route", "amount", "fee", "duty", "recipient_username",
          "beneficiary_id", "placed_at", "money_drop_id", "amount_per_claim", "slots", "password_required", "expires_at", "link",
          "answer_version", "kind", "nonce")


def request(sender, recipient, amount, key=None, **more):
    """One payment as the HTTP side would hand it over."""
    q = dict(id=v7(), sender=sender, recipient=recipient, amount=amount, description=None, route=P2P,
             key=key or uuid.uuid4().hex, hash=f"{recipient}/{amount}".encode(), nonce=uuid.uuid4(), device=None,
             created=v7(), rerouted=v7(), slot=v7(), correlation=uuid.uuid4(), traceparent=None,
             type="p2p", target=None, details=None)
    return q | more


# How an order was answered: the outcome, which for a repeated order is idempotent_replay, and the code that it has then;
# route, fee and duty of one that was accepted by this very call.
Placed = collections.namedtuple("Placed", "outcome id route code fee duty")


def place(c, batch, now=None):
    """As handler. How each order of the batch was answered, in their order."""
    rows = c.execute(PLACE, [[q[f] for q in batch] for f in FIELDS] + [now]).fetchall()
    return [_placed(*row) for row in rows]


def _placed(code, is_replay, id, route, fee, duty, at):
    if is_replay:
        return Placed("idempotent_replay", id, None, code, None, None)
    return Placed(code, id, route, code, fee, duty) if code == "accepted" else Placed(code, None, None, code, None, None)


def stored(c, user, route, key):
    """As handler. What stands under a key, by name; None when nothing does."""
    row = c.execute(f"SELECT {', '.join(STORED)} FROM stored_order(%s, %s, %s)", [user, route, key]).fetchone()
    return row and dict(zip(STORED, row))


def settle(c, items, now=None):
    """As worker. items: (transaction id, outcome[, event id]); evidence is made up. Returns the results."""
    items = [(*i, v7(now)) if len(i) == 2 else i for i in items]
    n = len(items)
    rows = c.execute(
        "SELECT result FROM settle_payments(%s::uuid[], %s::text[], %s::text[], %s::text[], %s::text[], %s::uuid[], %s::uuid[],"
        " 'test', %s) ORDER BY ord",
        [[i[0] for i in items], [i[1] for i in items], ["because" if i[1] == "failed" else None for i in items],
         ["seen by the test"] * n, [None] * n, [i[2] for i in items], [None] * n, now]).fetchall()
    return [r[0] for r in rows]


def submit(c, ids, now=None):
    """As worker. The verdicts of begin_submission."""
    return [r[0] for r in c.execute("SELECT verdict FROM begin_submission(%s::uuid[], 'test', '10 seconds', %s) ORDER BY ord",
                                    [list(ids), now]).fetchall()]


def broken_invariants(c):
    return c.execute("SELECT name, detail FROM check_invariants()").fetchall()


def wallet(c, user):
    """(posted, held) of a user, as worker."""
    return c.execute("SELECT posted, held FROM wallets WHERE user_id = %s", [user]).fetchone()
