"""Each rule about functions with what it refuses, and with what it lets pass. migrations_test.py runs it."""

import migrations
import sources
from bodies import whole_rows

SHARED = "Shared/Messaging"
SAMPLE = "Services/Sample"
BODY = "LANGUAGE sql AS $$ SELECT 1 $$;"
DEFINER = "SECURITY DEFINER SET search_path = public, pg_temp"

TABLES = """
CREATE TABLE people (id uuid PRIMARY KEY, name text NOT NULL);
CREATE TABLE visits (id uuid PRIMARY KEY, name text NOT NULL);
CREATE TABLE notes (id uuid PRIMARY KEY, name text NOT NULL);
CREATE TYPE place AS (street text, number integer);
CREATE TYPE spot AS (x integer, y integer);
"""
# What runs: Swift calls all of it but quiet().
BASE = {
    f"{SHARED}/Migrations/0001_messaging.sql": "CREATE TABLE jobs (id uuid PRIMARY KEY);",
    f"{SHARED}/Functions/jobs.sql": f"CREATE OR REPLACE FUNCTION beat(p_id uuid) RETURNS void {BODY}",
    f"{SAMPLE}/Migrations/0001_tables.sql": TABLES,
    f"{SAMPLE}/Functions/people.sql": f"""
CREATE OR REPLACE FUNCTION tell(p_id uuid, p_how text DEFAULT '') RETURNS text {BODY}
CREATE OR REPLACE FUNCTION rows_of(p_ids uuid[]) RETURNS TABLE (id uuid, name text) {BODY}
CREATE OR REPLACE FUNCTION all_of(p_id uuid) RETURNS TABLE (id uuid, name text) {BODY}
CREATE OR REPLACE FUNCTION one_of(p_id uuid) RETURNS TABLE (id uuid, name text) {BODY}
CREATE OR REPLACE FUNCTION place_of(p_id uuid) RETURNS TABLE (at bigint) {BODY}
CREATE OR REPLACE FUNCTION quiet(p_id uuid) RETURNS text {BODY}
CREATE OR REPLACE PROCEDURE tidy(p_day date) {BODY}
CREATE OR REPLACE FUNCTION keep(p people) RETURNS void LANGUAGE plpgsql AS $$
DECLARE kept people[]; BEGIN INSERT INTO people SELECT p.*; INSERT INTO notes VALUES (p.id, p.name); END $$;
CREATE OR REPLACE FUNCTION visit(p_id uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v visits; BEGIN v := ROW(p_id, 'x')::visits; INSERT INTO visits (id, name) VALUES (v.id, v.name); END $$;
CREATE OR REPLACE FUNCTION places() RETURNS SETOF place LANGUAGE sql AS $$ SELECT 'x', 1 $$;
CREATE OR REPLACE FUNCTION spots() RETURNS SETOF spot LANGUAGE plpgsql AS $$
BEGIN RETURN QUERY SELECT s.* FROM old_spots() s; END $$;
""",
}
SWIFT = {"Services/Sample/Storage/People.swift": '''
    // Nobody calls "quiet(" here, and no "quote is open.
    let sql: SQL = """
        SELECT beat(\\(id)), tell(\\(id), \\(long ? "x" : "y(")), r.id, r.name
        FROM rows_of(\\(ids)) r, place_of(1) AS p WHERE at > 1
        """
    let other = #"SELECT "a" FROM \\#(table)"# + (ok ? "\\(first ? "SELECT * FROM all_of($1)" : "")" : "SELECT one_of($1)")
    func quiet(_ x: Int) { quiet(1); try await run("CALL tidy($1)") }
'''}


def refused(path, text, base=None):
    """The rules that are broken when a file has this text too."""
    old = {**BASE, **(base or {})}
    _, found = migrations.check(old, {**old, path: f"{old.get(path, '')}\n{text}"}, SWIFT)
    return sorted({finding.rule for finding in found if not finding.waiver})


def changed(before, after):
    """The same when a text of the functions is another."""
    path = f"{SAMPLE}/Functions/people.sql"
    assert before in BASE[path], before
    _, found = migrations.check(BASE, {**BASE, path: BASE[path].replace(before, after)}, SWIFT)
    return [finding.reason for finding in found if finding.rule == "gone"], [f for f in found if f.rule != "gone"]


def run(results):
    results.check("what runs passes as it is", refused(f"{SAMPLE}/Functions/more.sql", "") == [])
    alone(results)
    together(results)
    signatures(results)
    positions(results)
    reading(results)


def alone(results):
    more = f"{SAMPLE}/Functions/more.sql"
    for rule, text in (
            ("replace", f"CREATE FUNCTION more() RETURNS text {BODY}"),
            ("replace", f"CREATE PROCEDURE more() {BODY}"),
            ("statement", "CREATE TABLE more (id uuid);"),
            ("statement", "ALTER FUNCTION tell(uuid, text) COST 5;"),
            ("statement", "DROP FUNCTION IF EXISTS more();"),
            ("statement", "DO $$ BEGIN NULL; END $$;"),
            ("statement", "SELECT 1;"),
            ("unparsed", "CREATE OR REPLACE FUNCTON more();"),
            ("waiver", f"-- safe: yes\nCREATE OR REPLACE FUNCTION more() RETURNS text {BODY}"),
            ("definer", f"CREATE OR REPLACE FUNCTION quiet() RETURNS text SECURITY DEFINER {BODY}\n"
                        "REVOKE ALL ON FUNCTION quiet() FROM PUBLIC;")):
        path = f"{SAMPLE}/Functions/rights.sql" if rule == "definer" else more
        got = refused(path, text)
        results.check(f"{rule} refuses {text}", got == [rule], got)
    for text in (f"CREATE OR REPLACE FUNCTION more() RETURNS text SET jit = off {BODY}",
                 f"CREATE OR REPLACE PROCEDURE more() {BODY}\nREVOKE ALL ON PROCEDURE more() FROM PUBLIC;",
                 f"CREATE OR REPLACE FUNCTION more() RETURNS text {BODY}\nGRANT EXECUTE ON FUNCTION more() TO ${{handler}};",
                 "COMMENT ON FUNCTION tell(uuid, text) IS 'what it is';",
                 f"CREATE OR REPLACE FUNCTION tell(p_id bigint) RETURNS text {BODY}"):
        got = refused(more, text)
        results.check(f"nothing is said of {text}", not got, got)


def together(results):
    more, rights = f"{SAMPLE}/Functions/more.sql", f"{SAMPLE}/Functions/rights.sql"
    opened = f"CREATE OR REPLACE FUNCTION more(p_id uuid) RETURNS text {DEFINER} {BODY}"
    base = {more: opened}
    cases = (
        ("twice", more, f"CREATE OR REPLACE FUNCTION quiet(id uuid) RETURNS uuid {BODY}"),
        ("twice", f"{SHARED}/Functions/more.sql", f"CREATE OR REPLACE FUNCTION beat(p_id uuid) RETURNS void {BODY}"),
        ("foreign", more, f"CREATE OR REPLACE FUNCTION beat(p_id uuid) RETURNS void {BODY}"),
        ("foreign", rights, "REVOKE ALL ON FUNCTION beat(uuid) FROM PUBLIC;"),
        ("foreign", rights, "GRANT EXECUTE ON FUNCTION tell, beat TO ${worker};"),
        ("foreign", f"{SHARED}/Functions/rights.sql", "GRANT EXECUTE ON FUNCTION tell TO ${worker};"),
        ("foreign", rights, "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO ${worker};"),
        ("foreign", f"{SAMPLE}/Migrations/0002_more.sql", "GRANT EXECUTE ON FUNCTION beat(uuid) TO ${worker};"),
        ("unknown", rights, "GRANT EXECUTE ON FUNCTION tell(uuid) TO ${worker};"),
        ("public", more, opened),
        ("public", more, f"{opened} REVOKE ALL ON FUNCTION more FROM PUBLIC;"),
        ("public", f"{SHARED}/Functions/more.sql", opened),
    )
    for rule, path, text in cases:
        got = refused(path, text)
        results.check(f"{rule} refuses {text} in {path}", got == [rule], got)
    for closed in ("REVOKE ALL ON FUNCTION more(uuid) FROM ${handler};", "REVOKE ALL ON FUNCTION quiet FROM PUBLIC;",
                   "REVOKE ALL ON FUNCTION more FROM PUBLIC; GRANT EXECUTE ON FUNCTION more TO PUBLIC;"):
        got = refused(rights, closed, base)
        results.check(f"public is not content with {closed}", got == ["public"], got)
    for closed in ("REVOKE ALL ON FUNCTION more(uuid) FROM PUBLIC;", "REVOKE EXECUTE ON FUNCTION quiet, more FROM PUBLIC, ${worker};",
                   "REVOKE ALL ON ROUTINE more FROM PUBLIC; GRANT EXECUTE ON FUNCTION more TO ${worker};"):
        got = refused(rights, closed, base)
        results.check(f"public is content with {closed}", got == [], got)
    got = refused(more, "-- safe: it tells what everybody knows\n" + opened)
    results.check("a waiver lets everybody call it", got == [], got)


def signatures(results):
    for before, after in (
            ("tell(p_id uuid, p_how", "say(p_id uuid, p_how"),
            ("tell(p_id uuid,", "tell(p_id text,"),
            ("tell(p_id uuid,", "tell(p_id uuid[],"),
            ("p_how text DEFAULT ''", "p_how text"),
            (", p_how text DEFAULT ''", ""),
            ("p_how text DEFAULT ''", "p_how text DEFAULT '', p_more text"),
            ("DEFAULT '') RETURNS text", "DEFAULT '') RETURNS uuid"),
            ("DEFAULT '') RETURNS text", "DEFAULT '') RETURNS SETOF text"),
            ("rows_of(p_ids uuid[]) RETURNS TABLE (id uuid,", "rows_of(p_ids uuid[]) RETURNS TABLE (id text,"),
            ("rows_of(p_ids uuid[]) RETURNS TABLE (id uuid, name text)", "rows_of(p_ids uuid[]) RETURNS TABLE (name text, id uuid)"),
            ("rows_of(p_ids uuid[]) RETURNS TABLE (id uuid, name text)", "rows_of(p_ids uuid[]) RETURNS TABLE (id uuid)"),
            ("rows_of(p_ids uuid[]) RETURNS TABLE (id uuid, name text)", "rows_of(p_ids uuid[], OUT id uuid, OUT name text)"),
            ("all_of(p_id uuid) RETURNS TABLE (id uuid, name text)", "all_of(p_id uuid) RETURNS TABLE (id uuid, name text, x text)"),
            ("one_of(p_id uuid) RETURNS TABLE (id uuid, name text)", "one_of(p_id uuid) RETURNS TABLE (id uuid, name text, x text)"),
            ("PROCEDURE tidy(p_day date)", "FUNCTION tidy(p_day date) RETURNS void")):
        gone, others = changed(before, after)
        results.check(f"gone refuses {before} as {after}", len(gone) == 1 and not others, (gone, others))
    for before, after in (
            ("quiet(p_id uuid)", "silent(p_id uuid)"),
            ("p_how text DEFAULT ''", "p_how text DEFAULT 'x', p_more text DEFAULT ''"),
            ("tell(p_id uuid,", "tell(p_person uuid,"),
            ("rows_of(p_ids uuid[]) RETURNS TABLE (id uuid, name text)", "rows_of(p_ids uuid[]) RETURNS TABLE (id uuid, name text, x int)"),
            ("place_of(p_id uuid) RETURNS TABLE (at bigint)", "place_of(p_id uuid) RETURNS TABLE (at int8, x text)"),
            ("PROCEDURE tidy(p_day date)", "PROCEDURE tidy(p_day date, p_all boolean DEFAULT false)"),
            ("CREATE OR REPLACE FUNCTION quiet", f"CREATE OR REPLACE FUNCTION tell(p_id uuid, p_n integer) RETURNS uuid {BODY}\n"
                                                  "CREATE OR REPLACE FUNCTION quiet")):
        gone, others = changed(before, after)
        results.check(f"nothing is said of {before} as {after}", not gone and not others, (gone, others))
    moved = {**BASE, f"{SHARED}/Functions/jobs.sql": "", f"{SHARED}/Functions/other.sql": BASE[f"{SHARED}/Functions/jobs.sql"]}
    _, found = migrations.check(BASE, moved, SWIFT)
    results.check("a function may move to another file", not found, [f.text() for f in found])
    gone, _ = changed("tell(p_id uuid, p_how", "tell(p_id text, p_how")
    results.check("it is said what it is now", gone == ["tell(uuid, text), which the version before calls, takes (text, text) now"], gone)
    gone, _ = changed("PROCEDURE tidy(p_day date)", "FUNCTION tidy(p_day date) RETURNS void")
    results.check("a procedure is no function", gone == ["tidy(date), which the version before calls, is a function now"], gone)
    path = f"{SAMPLE}/Functions/people.sql"
    waived = BASE[path].replace("CREATE OR REPLACE FUNCTION tell(p_id uuid,",
                                "-- safe: unused since release 1.4\nCREATE OR REPLACE FUNCTION tell(p_id text,")
    _, found = migrations.check(BASE, {**BASE, path: waived}, SWIFT)
    results.check("a waiver lets it change", [f.waiver for f in found] == ["unused since release 1.4"], [f.text() for f in found])


def positions(results):
    path, patient = f"{SAMPLE}/Migrations/0002_more.sql", "SET LOCAL lock_timeout = '3s'; "
    for text in ("ALTER TABLE people ADD COLUMN age integer NOT NULL DEFAULT 0;",
                 "ALTER TABLE people ADD COLUMN age integer GENERATED ALWAYS AS (1) VIRTUAL;",
                 "ALTER TABLE notes ADD COLUMN age integer NOT NULL DEFAULT 0;",
                 "ALTER TABLE visits ADD COLUMN age integer NOT NULL DEFAULT 0;",
                 "ALTER TABLE visits ADD COLUMN age integer;",
                 "ALTER TYPE place ADD ATTRIBUTE city text;"):
        got = refused(path, patient + text)
        results.check(f"positional refuses {text}", got == ["positional"], got)
        got = refused(path, f"{patient}\n-- safe: nothing calls it any more\n{text}")
        results.check(f"a waiver lets pass {text}", got == [], got)
    for text in ("ALTER TABLE people ADD COLUMN age integer;", "ALTER TABLE jobs ADD COLUMN age integer NOT NULL DEFAULT 0;",
                 "ALTER TYPE spot ADD ATTRIBUTE z integer;",
                 "CREATE TABLE more (id uuid); ALTER TABLE more ADD COLUMN age integer NOT NULL DEFAULT 0;"):
        got = refused(path, patient + text)
        results.check(f"nothing is said of {text}", got == [], got)
    # Functions of this version come with their set, after the migration.
    new = {**BASE, path: f"{patient}ALTER TABLE jobs ADD COLUMN age integer NOT NULL DEFAULT 0;", f"{SAMPLE}/Functions/more.sql":
           "CREATE OR REPLACE FUNCTION more() RETURNS void LANGUAGE sql AS $$ INSERT INTO jobs VALUES (NULL, 1) $$;"}
    _, found = migrations.check(BASE, new, SWIFT)
    results.check("functions of this version may insert by position", not found, [f.text() for f in found])


def reading(results):
    texts = list(sources.literals(SWIFT["Services/Sample/Storage/People.swift"]))
    results.check("strings of Swift are found, and comments are not", not any("quote is open" in text for text in texts) and
                  {"x", "y(", "SELECT one_of($1)", "SELECT * FROM all_of($1)", "CALL tidy($1)"} <= set(texts), texts)
    for body, rows in (
            ("BEGIN INSERT INTO a SELECT p.*; RETURN; END", {("a", "insert")}),
            ("DECLARE x a[]; BEGIN INSERT INTO b (id) VALUES (1); x := x || ROW(1, 2)::a; END", {("a", "row")}),
            ("DECLARE x a[]; y b; BEGIN x[1] := ROW(1)::a; y.z = ROW(1)::b; PERFORM 'INSERT INTO c SELECT'; END", {("a", "row"), ("b", "row")}),
            ("BEGIN PERFORM 1; IF f((1, 2)::a) THEN UPDATE b SET c = ROW(1)::d; END IF; END", {("a", "row"), ("d", "row")}),
            ("BEGIN WITH x AS (INSERT INTO a VALUES (1) RETURNING 1) SELECT 1; INSERT INTO b DEFAULT VALUES; END", {("a", "insert")}),
            ("BEGIN INSERT INTO a SELECT 1; no such thing; x := ROW(1)::b; END", {("a", "insert"), ("b", "row")})):
        text = f"CREATE FUNCTION f(p a) RETURNS void LANGUAGE plpgsql AS $$ {body} $$"
        made = whole_rows(sources.statements(text)[0].node, text)
        results.check(f"rows by position are seen in {body}", made == rows, made)
