import Foundation
import Postgres
import TestSupport
import Testing

@Suite("functions beside the migrations")
struct FunctionSetTests {
    private typealias World = FunctionWorld

    @Test("functions are applied once, whatever their order, rights after them")
    func appliesOnce() async throws {
        try await World.with { world in
            let set = World.set(
                [
                    "rights.sql":
                        "REVOKE ALL ON FUNCTION zeta(mood) FROM PUBLIC; GRANT EXECUTE ON FUNCTION zeta(mood) TO ${worker};",
                    "a.sql": """
                    -- A comment; with a semicolon, and what looks like a body: $$
                    CREATE OR REPLACE FUNCTION alpha() RETURNS text LANGUAGE sql AS $$ SELECT zeta('calm'); $$;
                    /* CREATE FUNCTION nothing(); /* nested */ ; */
                    create or replace procedure note(x integer) LANGUAGE plpgsql AS $body$
                    BEGIN INSERT INTO notes VALUES (x); PERFORM $$;$$; END $body$;
                    CREATE OR REPLACE FUNCTION "odd;name"(x text DEFAULT E'it\\'s;') RETURNS text
                        BEGIN ATOMIC SELECT CASE WHEN x = ';' THEN 'semicolon' ELSE x END; END;
                    COMMENT ON FUNCTION "odd;name"(text) IS 'it''s; odd';
                    """,
                    "z.sql":
                        "CREATE OR REPLACE FUNCTION zeta(m mood) RETURNS text LANGUAGE sql AS 'SELECT m::text || '';'''",
                    "tables.sql": World.saying("first", name: "said"),
                ],
                migrations: ["CREATE TABLE notes (x integer); CREATE TYPE mood AS ENUM ('calm')"]
            )
            #expect(set.functions.map(\.name) == ["tables.sql", "a.sql", "z.sql", "rights.sql"])
            let first = try await world.run(set)
            #expect(first == ["auth"])
            #expect(try await world.run(set) == [])
            #expect(
                try await world.functions() == [
                    "\"odd;name\"(text)", "alpha()", "note(integer)", "said()", "zeta(mood)",
                ]
            )
            #expect(try await world.texts("SELECT alpha() || \"odd;name\"()") == ["calm;it's;"])
            #expect(try await world.may(.worker, "zeta(mood)"))
            #expect(try await !world.may(.handler, "zeta(mood)"))
            let row: SQL = "SELECT length(sha256) || set_name || newest_migration || functions[1] FROM schema_functions"
            #expect(try await world.texts(row) == ["64auth1said()"])
        }
    }

    @Test("a changed text is applied, and so is the former one after it; other sets are left alone")
    func changed() async throws {
        try await World.with { world in
            let other = World.set(["other.sql": World.saying("other", name: "other")], name: "messaging")
            let one = World.set(["said.sql": World.saying("one")])
            let two = World.set(["said.sql": World.saying("two")])
            let first = try await world.run(other, one)
            #expect(first == ["messaging", "auth"])
            #expect(try await world.run(other, two) == ["auth"])
            #expect(try await world.texts("SELECT said()") == ["two"])
            #expect(try await world.run(other, one) == ["auth"])
            #expect(try await world.texts("SELECT said()") == ["one"])
        }
    }

    @Test("what tables need is there when they are made, though it reads what is made later")
    func neededByTables() async throws {
        try await World.with { world in
            let needed = """
                CREATE OR REPLACE FUNCTION count_up() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN UPDATE counts SET n = n + 1; RETURN NEW; END $$;
                CREATE OR REPLACE FUNCTION half(x integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT x / 2';
                """
            let tables = """
                CREATE TABLE things (x integer);
                CREATE INDEX things_half ON things (half(x));
                CREATE TRIGGER counted AFTER INSERT ON things FOR EACH ROW EXECUTE FUNCTION count_up();
                CREATE TABLE counts (n integer); INSERT INTO counts VALUES (0);
                """
            let set = World.set(["tables.sql": needed], migrations: [tables])
            #expect(try await world.run(set) == ["auth"])
            #expect(try await world.texts("INSERT INTO things VALUES (4) RETURNING x::text") == ["4"])
            #expect(try await world.texts("SELECT n::text FROM counts") == ["1"])
            // With a migration that comes with it, and a function that cannot be replaced alone.
            let renamed = World.saying("one").replacing("text LANGUAGE", with: "name LANGUAGE").replacing(
                "::text",
                with: "::name"
            )
            let changed = needed.replacing("n + 1", with: "n + 2") + renamed
            try await world.run(World.set(["tables.sql": needed + World.saying("one")], migrations: [tables]))
            let more = World.set(["tables.sql": changed], migrations: [tables, "CREATE TABLE more (x integer)"])
            #expect(try await world.run(more) == ["auth"])
            #expect(try await world.texts("INSERT INTO things VALUES (4) RETURNING x::text") == ["4"])
            #expect(try await world.texts("SELECT n::text FROM counts") == ["3"])
        }
    }

    @Test("functions are applied again after a migration of their set")
    func afterMigration() async throws {
        try await World.with { world in
            let files = ["said.sql": World.saying("one")]
            try await world.run(World.set(files, migrations: ["CREATE TABLE t (x int)"]))
            let next = World.set(files, migrations: ["CREATE TABLE t (x int)", "DROP FUNCTION said()"])
            #expect(try await world.states(next) == ["auth outdated"])
            #expect(try await world.run(next) == ["auth"])
            #expect(try await world.texts("SELECT said()") == ["one"])
            #expect(try await world.states(next) == ["auth applied"])
        }
    }

    @Test("a function that is gone from the files is dropped, and all are with the last file")
    func gone() async throws {
        try await World.with { world in
            let stranger = "CREATE FUNCTION stranger() RETURNS int LANGUAGE sql AS 'SELECT 1'"
            let both = World.saying("one", name: "first") + World.saying("two", name: "second")
            try await world.run(World.set(["a.sql": both], migrations: [stranger]))
            try await world.run(World.set(["a.sql": World.saying("one", name: "first")], migrations: [stranger]))
            #expect(try await world.functions() == ["first()", "stranger()"])
            #expect(try await world.states(World.set([:], migrations: [stranger])) == ["auth outdated"])
            try await world.run(World.set([:], migrations: [stranger]))
            #expect(try await world.functions() == ["stranger()"])
            #expect(try await world.texts("SELECT set_name FROM schema_functions") == [])
            #expect(try await world.states(World.set([:], migrations: [stranger])) == [])
        }
    }

    @Test("a function that moves to another set survives, in either direction")
    func moved() async throws {
        try await World.with { world in
            let rights = "REVOKE ALL ON FUNCTION said() FROM PUBLIC; GRANT EXECUTE ON FUNCTION said() TO ${handler};"
            let having = ["said.sql": World.saying("moved") + rights]
            let kept = ["kept.sql": World.saying("kept", name: "kept")]
            for (first, second) in [(having, kept), (kept, having), ([:], having), (having, [:])] {
                try await world.run(World.set(first, name: "messaging"), World.set(second))
                #expect(try await world.texts("SELECT said()", as: .handler) == ["moved"])
                #expect(try await !world.may(.worker, "said()"))
            }
            #expect(try await world.functions() == ["said()"])
        }
    }

    @Test("a grant that is taken out of a file goes, for functions and procedures, also one of a migration")
    func rights() async throws {
        try await World.with { world in
            let made = """
                CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';
                CREATE OR REPLACE PROCEDURE p() LANGUAGE sql AS 'SELECT 1';
                """
            let closed = "REVOKE ALL ON FUNCTION f() FROM PUBLIC; REVOKE ALL ON PROCEDURE p() FROM PUBLIC;"
            let granted = "GRANT EXECUTE ON ROUTINE f(), p() TO ${handler};"
            let migrations = [
                "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 0'; GRANT EXECUTE ON FUNCTION f() TO ${worker};"
            ]
            func may() async throws -> [Bool] {
                var found: [Bool] = []
                for role in [TestDatabase.Role.handler, .worker] {
                    for routine in ["f()", "p()"] { found.append(try await world.may(role, routine)) }
                }
                return found
            }
            try await world.run(World.set(["a.sql": made + closed + granted], migrations: migrations))
            #expect(try await may() == [true, true, false, false])
            try await world.run(World.set(["a.sql": made + closed], migrations: migrations))
            #expect(try await may() == [false, false, false, false])
            // As in a new database, where everybody may call what nobody has closed.
            try await world.run(World.set(["a.sql": made], migrations: migrations))
            #expect(try await may() == [true, true, true, true])
        }
    }

    @Test("another role is another text")
    func roles() async throws {
        try await World.with { world in
            let rights = "REVOKE ALL ON FUNCTION said() FROM PUBLIC; GRANT EXECUTE ON FUNCTION said() TO ${handler};"
            let set = World.set(["said.sql": World.saying("one"), "rights.sql": rights])
            try await world.run(set)
            var variables = world.database.migrationVariables
            variables["handler"] = variables["worker"]
            let other = Migrator(sets: [set], variables: variables)
            #expect(try await other.run(url: world.database.ownerURL).functions == ["auth"])
            #expect(try await world.may(.worker, "said()"))
            #expect(try await !world.may(.handler, "said()"))
        }
    }

    @Test("an older version leaves the functions of a newer one, of all sets, and says so")
    func older() async throws {
        try await World.with { world in
            let table = "CREATE TABLE t (x int)"
            func sets(_ text: String, _ migrations: [String]) -> [SchemaSet] {
                [
                    World.set(["other.sql": World.saying(text, name: "other")], name: "messaging"),
                    World.set(["said.sql": World.saying(text)], migrations: migrations),
                ]
            }
            let old = sets("old", [table])
            let new = sets("new", [table, "CREATE TABLE u (x int)"])
            try await world.migrator(old).run(url: world.database.ownerURL)
            try await world.migrator(new).run(url: world.database.ownerURL)
            let lines = HeardLines()
            let outcome = try await world.migrator(old).run(url: world.database.ownerURL, logger: lines.logger)
            #expect(outcome.isEmpty)
            #expect(lines.all.contains { $0.contains("functions left") && $0.contains("messaging, auth") })
            #expect(try await world.texts("SELECT said() || other()") == ["newnew"])
            #expect(try await world.states(old[0], old[1]) == ["messaging newer", "auth newer"])
            #expect(try await world.states(new[0], new[1]) == ["messaging applied", "auth applied"])
        }
    }

    @Test("a look says how the functions of each set stand, and changes nothing")
    func look() async throws {
        try await World.with { world in
            let one = World.set(["said.sql": World.saying("one")])
            #expect(try await world.states(one, World.set([:], name: "audit")) == ["auth missing"])
            #expect(try await world.texts("SELECT to_regclass('schema_functions')::text") == [nil])
            try await world.run(one)
            #expect(try await world.states(one) == ["auth applied"])
            let more = World.set(["said.sql": World.saying("one"), "more.sql": World.saying("two", name: "more")])
            #expect(try await world.states(more) == ["auth outdated"])
            #expect(try await world.functions() == ["said()"])
        }
    }

    @Test("who calls functions while they are replaced is always answered")
    func callers() async throws {
        try await World.with { world in
            func set(_ text: String) -> SchemaSet {
                let outer = """
                    CREATE OR REPLACE FUNCTION outer_said() RETURNS text LANGUAGE plpgsql SECURITY DEFINER
                    SET search_path = public, pg_temp AS $$ BEGIN RETURN 'outer ' || said(); END $$;
                    """
                let rights =
                    "REVOKE ALL ON FUNCTION outer_said() FROM PUBLIC; GRANT EXECUTE ON FUNCTION outer_said() TO ${handler};"
                return World.set(["said.sql": World.saying(text), "outer.sql": outer, "rights.sql": rights])
            }
            try await world.run(set("0"))
            let migrators = (1...20).map { world.migrator([set("\($0)")]) }
            try await withClient(world.database.handlerURL, [{ $0.leasedConnections = 4 }]) { client in
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            var calls = 0
                            while !Task.isCancelled {
                                let rows = try await client.withConnection { try await $0.query("SELECT outer_said()") }
                                let said = try rows[0].decode(String.self)
                                if said == "outer 20" { return calls }
                                calls += 1
                            }
                            return calls
                        }
                    }
                    for migrator in migrators { try await migrator.run(url: world.database.ownerURL) }
                    #expect(try await group.reduce(0, +) > 20)
                }
            }
        }
    }

    @Test("files of a folder are read, and one that is no SQL is not")
    func files() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        for name in ["Migrations", "Functions"] {
            try FileManager.default.createDirectory(at: folder.appending(path: name), withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("SELECT 1".utf8).write(to: folder.appending(path: "Migrations/0001_first.sql"))
        for name in ["rights.sql", "b.sql", "a.sql", "tables.sql", "README.md"] {
            try Data("-- \(name)".utf8).write(to: folder.appending(path: "Functions/\(name)"))
        }
        let set = try SchemaSet.load(directory: folder, name: "auth")
        #expect(set.migrations.map(\.number) == [1])
        #expect(set.functions.map(\.name) == ["tables.sql", "a.sql", "b.sql", "rights.sql"])
        #expect(set.functions[1].sql == "-- a.sql")
        try FileManager.default.removeItem(at: folder.appending(path: "Functions"))
        #expect(try SchemaSet.load(directory: folder, name: "auth").functions == [])
    }
}
