"""Each rule about migrations with what it refuses, and with what it lets pass."""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib/delivery"))

import migrations
from results import Results

FOLDER = "Services/Sample/Migrations"
FIRST = f"{FOLDER}/0001_first.sql"
SECOND = f"{FOLDER}/0002_second.sql"
THIRD = f"{FOLDER}/0003_third.sql"

# What runs already.
BASE = """
CREATE TABLE people (id uuid PRIMARY KEY, name text NOT NULL, age integer, code varchar(10), price numeric(10, 2));
CREATE TABLE orders (id bigint PRIMARY KEY, person uuid NOT NULL, note text, CONSTRAINT noted CHECK (note IS NOT NULL));
CREATE TABLE days (day date NOT NULL, id uuid NOT NULL, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);
CREATE TABLE events_1 (day date NOT NULL, id uuid NOT NULL);
CREATE INDEX people_name ON people (name);
CREATE UNIQUE INDEX people_code ON people (code);
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE VIEW names AS SELECT name FROM people;
CREATE FUNCTION tell(p_id uuid) RETURNS text LANGUAGE sql AS $$ SELECT name FROM people WHERE id = p_id $$;
CREATE FUNCTION clear_all() RETURNS void LANGUAGE plpgsql AS $$ BEGIN DELETE FROM people; END $$;
CREATE FUNCTION transfa_now() RETURNS timestamptz LANGUAGE sql AS $$ SELECT clock_timestamp() $$;
CREATE POLICY own ON people TO ${handler} USING (true);
GRANT SELECT, UPDATE ON people TO ${handler};
"""

REFUSED = [
    ("drop", "DROP TABLE people;"),
    ("drop", "ALTER TABLE people DROP COLUMN age;"),
    ("drop", "DROP FUNCTION tell(uuid);"),
    ("drop", "DROP FUNCTION tell(uuid); CREATE FUNCTION tell(p_id uuid, p_more text) RETURNS text LANGUAGE sql AS 'SELECT 1';"),
    ("drop", "DROP TYPE mood;"),
    ("drop", "DROP VIEW names;"),
    ("drop", "ALTER TABLE people DROP CONSTRAINT people_pkey;"),
    ("rename", "ALTER TABLE people RENAME TO persons;"),
    ("rename", "ALTER TABLE people RENAME COLUMN name TO title;"),
    ("rename", "ALTER FUNCTION tell(uuid) RENAME TO say;"),
    ("rename", "ALTER TYPE mood RENAME TO temper;"),
    ("rename", "ALTER TYPE mood RENAME VALUE 'good' TO 'fine';"),
    ("rename", "ALTER TABLE people SET SCHEMA elsewhere;"),
    ("signature", "CREATE FUNCTION tell(p_id uuid, p_more text DEFAULT '') RETURNS text LANGUAGE sql AS 'SELECT 1';"),
    ("signature", "CREATE OR REPLACE FUNCTION tell(p_id uuid) RETURNS uuid LANGUAGE sql AS 'SELECT p_id';"),
    ("not-null", "ALTER TABLE people ADD COLUMN mail text NOT NULL;"),
    ("not-null", "ALTER TABLE people ALTER COLUMN age SET NOT NULL;"),
    ("not-null", "ALTER TABLE people ADD CONSTRAINT aged CHECK (age IS NOT NULL) NOT VALID; "
                 "ALTER TABLE people ALTER COLUMN age SET NOT NULL;"),
    ("constraint", "ALTER TABLE people ADD CHECK (age > 0);"),
    ("constraint", "ALTER TABLE people ADD COLUMN size integer CHECK (size > 0);"),
    ("constraint", "ALTER TABLE orders ADD FOREIGN KEY (person) REFERENCES people (id);"),
    ("constraint", "ALTER TABLE orders ADD UNIQUE (note);"),
    ("constraint", "ALTER TABLE orders ADD COLUMN mark text UNIQUE;"),
    ("constraint", "ALTER TABLE orders ADD EXCLUDE USING gist (note WITH =);"),
    ("constraint", "ALTER TABLE people ADD CONSTRAINT c CHECK (age > 0) NOT VALID; ALTER TABLE people VALIDATE CONSTRAINT c;"),
    ("index", "CREATE INDEX people_age ON people (age);"),
    ("index", "CREATE UNIQUE INDEX people_age ON people (age);"),
    ("index", "CREATE INDEX days_id ON days (id);"),
    ("index", "DROP INDEX people_name;"),
    ("transaction", "CREATE INDEX CONCURRENTLY people_age ON people (age);"),
    ("transaction", "COMMIT;"),
    ("type", "ALTER TABLE people ALTER COLUMN age TYPE bigint;"),
    ("type", "ALTER TABLE people ALTER COLUMN code TYPE varchar(5);"),
    ("type", "ALTER TABLE people ALTER COLUMN price TYPE numeric(12, 3);"),
    ("type", "ALTER TABLE people ALTER COLUMN name TYPE uuid USING name::uuid;"),
    ("rewrite", "ALTER TABLE people ADD COLUMN token uuid DEFAULT gen_random_uuid();"),
    ("rewrite", "ALTER TABLE people ADD COLUMN seen timestamptz DEFAULT transfa_now();"),
    ("rewrite", "ALTER TABLE people ADD COLUMN number bigserial;"),
    ("rewrite", "ALTER TABLE people ADD COLUMN double integer GENERATED ALWAYS AS (age * 2) STORED;"),
    ("rewrite", "ALTER TABLE people SET UNLOGGED;"),
    ("partition", "ALTER TABLE days ATTACH PARTITION events_1 FOR VALUES FROM ('2026-01-01') TO ('2026-01-02');"),
    ("partition", "ALTER TABLE days DETACH PARTITION events_1;"),
    ("lock", "LOCK TABLE people IN ACCESS EXCLUSIVE MODE;"),
    ("data", "UPDATE people SET age = 1;"),
    ("data", "UPDATE people SET age = 1 WHERE age IS NULL;"),
    ("data", "DELETE FROM days WHERE id = '00000000-0000-0000-0000-000000000001';"),
    ("data", "DELETE FROM people WHERE id = id;"),
    ("data", "INSERT INTO orders (id, person) SELECT 1, id FROM people;"),
    ("data", "CREATE TABLE copy AS SELECT * FROM people;"),
    ("data", "SELECT clear_all();"),
    ("data", "DO $$ BEGIN UPDATE people SET age = 1; END $$;"),
    ("data", "DO $$ BEGIN PERFORM clear_all(); END $$;"),
    ("drop", "DO $$ BEGIN EXECUTE 'DROP TABLE people'; END $$;"),
    ("rewrite", "DO $$ DECLARE t text := 'people'; BEGIN EXECUTE format('ALTER TABLE %I SET UNLOGGED', t); END $$;"),
    ("unread", "DO $$ DECLARE q text := 'DROP ' || 'TABLE people'; BEGIN EXECUTE q; END $$;"),
    ("truncate", "TRUNCATE people;"),
    ("maintenance", "VACUUM FULL people;"),
    ("maintenance", "CLUSTER people USING people_name;"),
    ("maintenance", "REINDEX TABLE people;"),
    ("rights", "REVOKE UPDATE ON people FROM ${handler};"),
    ("rights", "REVOKE ALL ON FUNCTION tell(uuid) FROM PUBLIC;"),
    ("rights", "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${handler};"),
    ("rights", "DROP POLICY own ON people;"),
    ("rights", "ALTER POLICY own ON people USING (false);"),
    ("rights", "CREATE POLICY less ON people AS RESTRICTIVE USING (false);"),
    ("rights", "ALTER TABLE people ENABLE ROW LEVEL SECURITY;"),
    ("waiver", "-- safe: yes\nDROP TABLE people;"),
    ("unparsed", "CREATE TABEL people;"),
]

PASSES = [
    "CREATE TABLE more (id uuid PRIMARY KEY, size integer NOT NULL CHECK (size > 0), UNIQUE (size)); CREATE INDEX more_size "
    "ON more (size); ALTER TABLE more ADD COLUMN x text NOT NULL; UPDATE more SET x = ''; DROP TABLE more;",
    "ALTER TABLE people ADD COLUMN mail text;",
    "ALTER TABLE people ADD COLUMN mail text NOT NULL DEFAULT '', ADD COLUMN at timestamptz DEFAULT now();",
    "ALTER TABLE people ADD COLUMN token uuid; ALTER TABLE people ALTER COLUMN token SET DEFAULT gen_random_uuid();",
    "ALTER TABLE people ADD COLUMN friend uuid REFERENCES people (id);",
    "ALTER TABLE people ADD CHECK (age > 0) NOT VALID;",
    "ALTER TABLE orders ADD FOREIGN KEY (person) REFERENCES people (id) NOT VALID;",
    "ALTER TABLE orders ALTER COLUMN note SET NOT NULL;",
    "ALTER TABLE orders VALIDATE CONSTRAINT noted;",
    "ALTER TABLE orders DROP CONSTRAINT noted;",
    "ALTER TABLE people ADD CONSTRAINT one_code UNIQUE USING INDEX people_code;",
    "CREATE INDEX days_id ON ONLY days (id);",
    "ALTER TABLE people ALTER COLUMN code TYPE varchar(20), ALTER COLUMN price TYPE numeric(12, 2);",
    "ALTER TABLE people ALTER COLUMN code TYPE text;",
    "ALTER TABLE people ALTER COLUMN name DROP NOT NULL;",
    "ALTER TYPE mood ADD VALUE 'calm';",
    "UPDATE people SET age = 1 WHERE id = '00000000-0000-0000-0000-000000000001';",
    "UPDATE people SET age = 1 WHERE id IN (SELECT id FROM people WHERE age IS NULL LIMIT 1000);",
    "DELETE FROM days WHERE day = '2026-01-01' AND id = '00000000-0000-0000-0000-000000000001';",
    "INSERT INTO orders (id, person) VALUES (1, '00000000-0000-0000-0000-000000000001');",
    "CREATE OR REPLACE FUNCTION tell(p_id uuid) RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$;",
    "CREATE FUNCTION tell_more(p_id uuid) RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$; "
    "REVOKE ALL ON FUNCTION tell_more(uuid) FROM PUBLIC;",
    "CREATE FUNCTION later() RETURNS void LANGUAGE plpgsql AS $$ BEGIN DELETE FROM people; END $$;",
    "CREATE POLICY more ON people TO ${worker} USING (true); GRANT DELETE ON people TO ${worker};",
    "SELECT tell('00000000-0000-0000-0000-000000000001');",
    "DO $$ BEGIN INSERT INTO orders (id, person) VALUES (1, gen_random_uuid()); END $$;",
    "COMMENT ON TABLE people IS 'who there is';",
]

PATIENT = "SET LOCAL lock_timeout = '3s';\n"


def rules(new, old=None):
    _, found = migrations.check(ROOT, old or {FIRST: BASE}, new)
    return {finding.rule for finding in found if not finding.waiver}, found


def with_base(text):
    return {FIRST: BASE, SECOND: text}


def main():
    results = Results()
    for rule, text in REFUSED:
        got, _ = rules(with_base(PATIENT + text))
        results.check(f"{rule} refuses {text}", rule in got, got)
        if rule not in ("waiver", "transaction", "unparsed"):
            waived, found = rules(with_base(f"{PATIENT}-- safe: nobody uses it since 1.4\n" + text.replace(
                "; ", ";\n-- safe: nobody uses it since 1.4\n")))
            results.check(f"a waiver lets pass {text}", not waived, waived)
            results.check("the waiver is printed", any("nobody uses it since 1.4" in f.text() for f in found))
    for text in PASSES:
        got, _ = rules(with_base(PATIENT + text))
        results.check(f"nothing is said of {text}", not got, got)
    files(results)
    places(results)
    excused(results)
    sys.exit(results.end())


def files(results):
    _, found = migrations.check(ROOT, {}, {FIRST: BASE})
    results.check("a first migration passes: nothing was there before", not found, [f.text() for f in found])
    column = "ALTER TABLE people ADD COLUMN mail text;"
    cases = {
        "changed": {FIRST: BASE + "-- more"},
        "removed": {},
        "renumbered": {SECOND: BASE},
        "number": {FIRST: BASE, f"{FOLDER}/0001_again.sql": "SELECT 1;"},
        "lock-timeout": with_base(column),
    }
    for rule, new in cases.items():
        got, _ = rules(new)
        results.check(f"{rule} is noticed", rule in got, got)
    got, _ = rules({FIRST: BASE, f"{FOLDER}/2_second.sql": "SELECT 1;"})
    results.check("a name without a number is noticed", "number" in got, got)
    got, _ = rules({FIRST: BASE, THIRD: BASE, SECOND: "SELECT 1;"}, {FIRST: BASE, THIRD: BASE})
    results.check("a number below what is applied is noticed", "number" in got, got)
    got, _ = rules(with_base("-- safe: whatever you say\nCOMMIT;"))
    results.check("what the server refuses cannot be waived", "transaction" in got, got)
    # A check added by one migration, validated by the next, makes SET NOT NULL of a third cheap.
    step = {SECOND: PATIENT + "ALTER TABLE people ADD CONSTRAINT aged CHECK (age IS NOT NULL) NOT VALID;",
            THIRD: PATIENT + "ALTER TABLE people VALIDATE CONSTRAINT aged;",
            f"{FOLDER}/0004_last.sql": PATIENT + "ALTER TABLE people ALTER COLUMN age SET NOT NULL;"}
    got, _ = rules({FIRST: BASE, **step})
    results.check("NOT VALID, VALIDATE and SET NOT NULL in three migrations pass", not got, got)


def places(results):
    text = PATIENT + "-- é, of two bytes, in a comment\nSELECT 1;\n\n-- why\nALTER TABLE people\n    DROP COLUMN age;\n"
    _, found = rules(with_base(text))
    results.check("file and line are those of the statement",
                  [(f.file, f.line) for f in found] == [(SECOND, 6)], [(f.file, f.line) for f in found])
    told = found[0].text()
    results.check("statement, reason and what to do are told",
                  all(part in told for part in ("ALTER TABLE people DROP COLUMN age", "is dropped", "instead: ")), told)
    got, _ = rules(with_base(PATIENT + "DROP TABLE orders; -- safe: unused since release 1.4\nDROP TABLE people;"))
    results.check("a waiver covers its own statement alone", got == {"drop"}, got)


def excused(results):
    accepted = json.loads((ROOT / migrations.ACCEPTED).read_text())
    here = migrations.files_here(ROOT)
    _, found = migrations.history(here)
    left, stale, _ = migrations.accept(found, accepted)
    results.check("history passes with what is excused", not [f for f in left if not f.waiver] and not stale)
    left, _, _ = migrations.accept(found, accepted[1:])
    results.check("history fails without an excuse", bool(left))
    _, stale, _ = migrations.accept(found, accepted + [{"file": FIRST, "rule": "drop", "count": 1, "reason": "none"}])
    results.check("an excuse for nothing is noticed", bool(stale))


main()
