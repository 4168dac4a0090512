"""Each rule about migrations with what it refuses, and with what it lets pass."""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib/delivery"))

import functions_test
import migrations
import sources
from results import Results

FOLDER = "Services/Sample/Migrations"
FUNCTIONS = "Services/Sample/Functions"
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
CREATE TYPE place AS (street text, number integer);
CREATE POLICY own ON people TO ${handler} USING (true);
GRANT SELECT, UPDATE ON people TO ${handler};
"""
SETS = {
    f"{FUNCTIONS}/tables.sql": """
CREATE OR REPLACE FUNCTION transfa_now() RETURNS timestamptz LANGUAGE sql AS $$ SELECT clock_timestamp() $$;
CREATE OR REPLACE FUNCTION clear_all() RETURNS void LANGUAGE plpgsql AS $$ BEGIN DELETE FROM people; END $$;
""",
    f"{FUNCTIONS}/people.sql": """
CREATE OR REPLACE FUNCTION tell(p_id uuid) RETURNS text LANGUAGE sql AS $$ SELECT name FROM people WHERE id = p_id $$;
""",
}
RUNS = {FIRST: BASE, **SETS}

REFUSED = [
    ("drop", "DROP TABLE people;"),
    ("drop", "ALTER TABLE people DROP COLUMN age;"),
    ("drop", "DROP FUNCTION tell(uuid);"),
    ("drop", "DROP TYPE mood;"),
    ("drop", "DROP VIEW names;"),
    ("drop", "ALTER TABLE people DROP CONSTRAINT people_pkey;"),
    ("rename", "ALTER TABLE people RENAME TO persons;"),
    ("rename", "ALTER TABLE people RENAME COLUMN name TO title;"),
    ("rename", "ALTER FUNCTION tell(uuid) RENAME TO say;"),
    ("rename", "ALTER TYPE mood RENAME TO temper;"),
    ("rename", "ALTER TYPE mood RENAME VALUE 'good' TO 'fine';"),
    ("rename", "ALTER TABLE people SET SCHEMA elsewhere;"),
    ("place", "CREATE FUNCTION more() RETURNS text LANGUAGE sql AS 'SELECT 1';"),
    ("place", "CREATE OR REPLACE PROCEDURE more() LANGUAGE sql AS 'SELECT 1';"),
    ("drop", "ALTER TYPE place DROP ATTRIBUTE number;"),
    ("type", "ALTER TYPE place ALTER ATTRIBUTE number TYPE bigint;"),
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
    ("drop", "DO $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM (VALUES ('days', 1), ('orders', 2)) AS x(name, n) LOOP "
             "EXECUTE format('DROP TABLE %I', r.name); END LOOP; END $$;"),
    ("drop", "DO $$ DECLARE r record; BEGIN FOR r IN SELECT relname FROM pg_class LOOP "
             "EXECUTE format('DROP TABLE %I', r.relname); END LOOP; END $$;"),
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
    "CREATE TYPE spot AS (x integer); ALTER TYPE spot DROP ATTRIBUTE x; ALTER TYPE place ADD ATTRIBUTE city text;",
    "CREATE TABLE more (id uuid); CREATE TABLE less (id uuid); DO $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM (VALUES "
    "('more'), ('less')) AS x(name) LOOP EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', r.name); "
    "EXECUTE format('CREATE POLICY p ON %1$I USING (%2$s) -- 100%%', r.name, 'true'); END LOOP; END $$;",
    "CREATE POLICY more ON people TO ${worker} USING (true); GRANT DELETE ON people TO ${worker};",
    "SELECT tell('00000000-0000-0000-0000-000000000001');",
    "DO $$ BEGIN INSERT INTO orders (id, person) VALUES (1, gen_random_uuid()); END $$;",
    "COMMENT ON TABLE people IS 'who there is';",
]

PATIENT = "SET LOCAL lock_timeout = '3s';\n"


def rules(new, old=None, **more):
    _, found = migrations.check({**SETS, **(old or {FIRST: BASE})}, {**SETS, **new}, **more)
    return {finding.rule for finding in found if not finding.waiver}, found


def with_base(text):
    return {FIRST: BASE, SECOND: text}


def main():
    results = Results()
    for rule, text in REFUSED:
        got, _ = rules(with_base(PATIENT + text))
        results.check(f"{rule} refuses {text}", rule in got, got)
        if rule not in ("waiver", "transaction", "unparsed", "place"):
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
    rewritten(results)
    bases(results)
    functions_test.run(results)
    sys.exit(results.end())


def files(results):
    _, found = migrations.check({}, RUNS)
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
    _, found = migrations.history(sources.files_here(ROOT))
    left, stale, _ = migrations.accept(found, accepted)
    results.check("history passes with what is excused", not [f for f in left if not f.waiver] and not stale)
    _, found = migrations.history(with_base("DROP TABLE people; DROP TABLE orders;"))
    results.check("history judges a migration against those before it", [f.rule for f in found] == ["drop", "drop"], found)
    entry = {"file": SECOND, "rule": "drop", "count": 1, "reason": "none"}
    left, stale, excused = migrations.accept(found, [entry])
    results.check("an excuse is for as many as it says", (len(left), stale, excused) == (1, [], 1), left)
    _, stale, _ = migrations.accept(found, [{**entry, "count": 3}])
    results.check("an excuse for nothing is noticed", bool(stale))


def rewritten(results):
    """Until the first release history may change, and what changed is new as a whole."""
    changed = {FIRST: f"{BASE}DROP TABLE days;"}
    got, _ = rules(changed)
    results.check("an applied migration that changed is refused after a release", got == {"changed"}, got)
    for title, new in (("changed", changed), ("gone", {SECOND: "SELECT 1;"}), ("split", {FIRST: "SELECT 1;", SECOND: BASE})):
        got, _ = rules(new, is_released=False)
        results.check(f"one that is {title} is as good as new before", not got, got)
    got, _ = rules({FIRST: f"{BASE}-- more", SECOND: "SELECT 1;"}, {FIRST: BASE, SECOND: "SELECT 1;"}, is_released=False)
    results.check("one that others follow may change too", not got, got)
    judgement, _ = migrations.check(RUNS, {**RUNS, **changed}, is_released=False)
    results.check("and is told", judgement.rewritten == [FIRST], judgement.rewritten)
    got, _ = rules({FIRST: BASE, SECOND: "DROP TABLE people;"}, is_released=False)
    results.check("what did not change is in use all the same", got == {"drop"}, got)


def bases(results):
    """Which commit is judged against, and that without it nothing passes."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "whole"

        def git(*words, at=root):
            return subprocess.run(["git", "-C", at, "-c", "user.name=t", "-c", "user.email=t@example.com", *words], check=True,
                                  capture_output=True, text=True).stdout.strip()

        def commit(files):
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            git("add", ".")
            git("commit", "-qm", "more")
            return git("rev-parse", "HEAD")

        def told(*words, at=root):
            done = subprocess.run([sys.executable, "-B", ROOT / "scripts/lib/delivery/migrations.py", at, "check", *words],
                                  capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr

        root.mkdir()
        git("init", "-q")
        first = commit({**RUNS, migrations.ACCEPTED: "[]", "Shared/A.swift": 'let sql = "SELECT tell($1)"'})
        code, text = told()
        results.check("without a release and a named commit nothing passes", code == 1 and "does not name" in text, text)
        commit({migrations.BASE: f"{first}\n"})
        code, text = told()
        results.check("the named commit is the base", code == 0 and f"0 migrations are new since {first}" in text, text)
        commit({f"{FUNCTIONS}/people.sql": ""})
        code, text = told()
        results.check("what Swift of the base calls is looked for", code == 1 and "people.sql:1 gone: tell(uuid)" in text, text)
        commit({f"{FUNCTIONS}/people.sql": SETS[f"{FUNCTIONS}/people.sql"], FIRST: BASE + "-- more"})
        code, text = told()
        results.check("without a release history may change, and it is said",
                      code == 0 and "ok      history may change until the first release" in text and FIRST in text, text)
        git("clone", "-q", "--depth", "1", f"file://{root}", f"{folder}/shallow")
        code, text = told(at=pathlib.Path(folder) / "shallow")
        results.check("a shallow clone fails", code == 1 and text.startswith(f"FAILED  {first}, which") and
                      text.endswith("0 passed, 1 failed\n") and "Traceback" not in text, text)
        code, text = told("nowhere")
        results.check("a base that is no commit fails", code == 1 and "nowhere is no commit" in text, text)
        code, text = told(migrations.NO_COMMIT)
        results.check("no commit as the base: all is new", code == 0 and "1 migrations are new since the beginning" in text, text)
        git("tag", "v1.0.0")
        commit({FIRST: BASE})
        code, text = told()
        results.check("a release is the base, and history stays",
                      code == 1 and "new since v1.0.0" in text and "changed: an applied migration" in text, text)


main()
