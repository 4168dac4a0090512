import Foundation
import Postgres
import TestSupport
import Testing

/// What Postgres does not replace, and what must change nothing.
@Suite("functions that cannot be replaced")
struct FunctionRebuildTests {
    private typealias World = FunctionWorld

    private static func found(_ columns: String, _ values: String) -> String {
        "CREATE OR REPLACE FUNCTION found() RETURNS TABLE (\(columns)) LANGUAGE sql AS $$ SELECT \(values) $$;\n"
    }

    private static let guarded = """
        CREATE OR REPLACE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
        CREATE OR REPLACE TRIGGER guarded BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION guard();

        """

    @Test("a result that grows is made anew, beside a trigger function that stays, with its rights")
    func grown() async throws {
        try await World.with { world in
            let rights = "REVOKE ALL ON FUNCTION found() FROM PUBLIC; GRANT EXECUTE ON FUNCTION found() TO ${handler};"
            func set(_ columns: String, _ values: String) -> SchemaSet {
                World.set(
                    ["a.sql": Self.guarded + Self.found(columns, values), "rights.sql": rights],
                    migrations: ["CREATE TABLE t (x int)"]
                )
            }
            try await world.run(set("a int", "1"))
            let guardian = try await world.texts("SELECT 'guard()'::regprocedure::oid::text")
            #expect(try await world.run(set("a int, b int", "1, 2")) == ["auth"])
            #expect(try await world.texts("SELECT b::text FROM found()", as: .handler) == ["2"])
            #expect(try await !world.may(.worker, "found()"))
            #expect(try await world.texts("SELECT 'guard()'::regprocedure::oid::text") == guardian)
            #expect(try await world.texts("INSERT INTO t VALUES (1) RETURNING x::text") == [])
        }
    }

    @Test("an argument with another name, and one with other types, are made anew")
    func arguments() async throws {
        try await World.with { world in
            for arguments in ["a int", "b int", "b int, c text DEFAULT 'x'", "b int, c text", "b int DEFAULT 1"] {
                let made = "CREATE OR REPLACE FUNCTION f(\(arguments)) RETURNS int LANGUAGE sql AS 'SELECT 1';"
                try await world.run(World.set(["a.sql": made]))
                #expect(try await world.texts("SELECT pg_get_function_arguments('f'::regproc)").count == 1)
            }
            #expect(try await world.functions() == ["f(integer)"])
        }
    }

    @Test("when other functions of the set need the one that changes, all are made anew")
    func needed() async throws {
        try await World.with { world in
            let user = """
                CREATE OR REPLACE FUNCTION user_of() RETURNS bigint BEGIN ATOMIC SELECT count(*) FROM found(); END;
                """
            try await world.run(World.set(["a.sql": Self.found("a int", "1"), "b.sql": user]))
            try await world.run(World.set(["a.sql": Self.found("a int, b int", "1, 2"), "b.sql": user]))
            #expect(try await world.texts("SELECT b + user_of() || '' FROM found()") == ["3"])
        }
    }

    @Test("a function becomes a procedure, and a procedure a function")
    func kinds() async throws {
        try await World.with { world in
            let function = World.set([
                "a.sql": "CREATE OR REPLACE FUNCTION f(x int) RETURNS int LANGUAGE sql AS 'SELECT x'"
            ])
            let procedure = World.set(["a.sql": "CREATE OR REPLACE PROCEDURE f(x int) LANGUAGE sql AS 'SELECT x'"])
            for (set, kind) in [(function, "f"), (procedure, "p"), (function, "f")] {
                let applied = try await world.run(set)
                #expect(applied == ["auth"])
                #expect(try await world.texts("SELECT prokind::text FROM pg_proc WHERE proname = 'f'") == [kind])
            }
        }
    }

    @Test("what something else depends on is neither rebuilt nor dropped, and nothing changes")
    func dependent() async throws {
        try await World.with { world in
            let before = World.set(["a.sql": World.saying("one", name: "other") + Self.found("a int", "1")])
            try await world.run(before)
            _ = try await world.texts("CREATE VIEW seen AS SELECT * FROM found()")
            let grown = World.saying("two", name: "other") + Self.found("a int, b int", "1, 2")
            for files in [["a.sql": grown], ["a.sql": World.saying("two", name: "other")]] {
                let error = try await world.refusal(World.set(files))
                #expect(error.code == .functionsFailed)
                #expect(error.underlying?.sqlState == "2BP01")
                #expect(error.description.contains("found()"))
                #expect(try await world.texts("SELECT other() || a FROM seen") == ["one1"])
                #expect(try await world.states(before) == ["auth applied"])
            }
        }
    }

    @Test(
        "a body with an error changes nothing",
        arguments: [
            ("plpgsql", "BEGIN RETURN 1 +; END", "42601"), ("plpgsql", "BEGIN RETURN nowhere; END WRONG", "42601"),
            ("sql", "SELEKT 1", "42601"), ("sql", "SELECT nowhere()", "42883"),
        ]
    )
    func brokenBody(language: String, body: String, state: String) async throws {
        try await World.with { world in
            let before = World.set(["a.sql": World.saying("one")])
            try await world.run(before)
            let broken = "CREATE OR REPLACE FUNCTION broken(x int) RETURNS text LANGUAGE \(language) AS $$ \(body) $$;"
            let error = try await world.refusal(World.set(["a.sql": World.saying("two"), "b.sql": broken]))
            #expect(error.code == .functionsFailed)
            #expect(error.subject == "auth/b.sql: broken(integer)")
            #expect(error.underlying?.sqlState == state)
            #expect(try await world.texts("SELECT said()") == ["one"])
            #expect(try await world.functions() == ["said()"])
            #expect(try await world.states(before) == ["auth applied"])
        }
    }

    @Test("a file that cannot be run is named, and the migrations before it stay")
    func brokenFile() async throws {
        try await World.with { world in
            let set = World.set(
                ["a.sql": World.saying("one"), "b.sql": "GRANT EXECUTE ON FUNCTION nobody() TO ${handler};"],
                migrations: ["CREATE TABLE t (x int)"]
            )
            let error = try await world.refusal(set)
            #expect(error.subject == "auth/b.sql")
            #expect(error.underlying?.sqlState == "42883")
            #expect(try await world.functions() == [])
            #expect(try await world.texts("SELECT name FROM schema_migrations") == ["step"])
        }
    }

    @Test("a function without OR REPLACE, one that comes twice and one with a schema are refused")
    func refused() async throws {
        try await World.with { world in
            let said = World.saying("one")
            let plain = said.replacing(" OR REPLACE", with: "")
            let elsewhere = World.saying("one", name: "public.said")
            let cases: [([SchemaSet], MigrationError.Code, String)] = [
                ([World.set(["a.sql": plain])], .notRepeatable, "auth/a.sql"),
                ([World.set(["a.sql": said, "b.sql": said])], .duplicateFunction, "auth/b.sql"),
                ([World.set(["a.sql": said + said])], .duplicateFunction, "auth/a.sql"),
                ([World.set(["a.sql": elsewhere])], .duplicateFunction, "auth/a.sql"),
                (
                    [World.set(["a.sql": said], name: "audit"), World.set(["a.sql": said])], .duplicateFunction,
                    "audit: said()"
                ),
                ([World.set(["a.sql": "SELECT ${nobody}"])], .unknownVariable, "auth/a.sql: nobody"),
            ]
            for (sets, code, subject) in cases {
                let migrator = world.migrator(sets)
                let error = await #expect(throws: MigrationError.self) {
                    try await migrator.run(url: world.database.ownerURL)
                }
                #expect(error?.code == code)
                #expect(error?.subject == subject)
                let functions = try await world.functions()
                #expect(functions == [])
            }
        }
    }
}
