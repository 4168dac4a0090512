import Foundation
import Postgres
import Testing

@Suite struct MigratorTests {
    private func one(_ sql: String, set: String = "auth", number: Int = 1) -> Migration {
        Migration(set: set, number: number, name: "step", sql: sql)
    }

    private func applied(_ url: String) async throws -> [String] {
        var found: [String] = []
        try await withClient(url) { client in
            let rows = try await client.query("SELECT set_name || version FROM schema_migrations ORDER BY applied_at")
            found = try rows.map { try $0.decode(String.self) }
        }
        return found
    }

    @Test("migrations are applied once, in order, with their variables")
    func appliesOnce() async throws {
        try await withDatabase { url in
            let migrations = [
                self.one("CREATE TABLE ${table} (x int); INSERT INTO ${table} VALUES (1);", set: "messaging"),
                self.one("CREATE VIEW v AS SELECT * FROM things; SELECT 1;", number: 2),
                self.one("INSERT INTO ${table} VALUES (2)"),
            ]
            let migrator = Migrator(migrations: migrations, variables: ["table": "things"])
            #expect(try await migrator.run(url: url).migrations.map(\.number) == [1, 1, 2])
            #expect(try await migrator.run(url: url).isEmpty)
            #expect(try await self.applied(url) == ["messaging1", "auth1", "auth2"])
            try await withClient(url) { client in
                #expect(try await client.query("SELECT sum(x) FROM v")[0].decode(Int.self) == 3)
                let hash = try await client.query(
                    "SELECT sha256 FROM schema_migrations WHERE set_name = 'auth' AND version = 1"
                )
                #expect(try hash[0].decode(String.self).count == 64)
            }
        }
    }

    @Test("two migrators at once apply everything once")
    func twoAtOnce() async throws {
        try await withDatabase { url in
            let migrator = Migrator(migrations: (1...5).map { self.one("CREATE TABLE t\($0) (x int)", number: $0) })
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { try await migrator.run(url: url).migrations.count } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts.reduce(0, +) == 5)
        }
    }

    @Test("a changed file is refused and nothing is applied after it")
    func changed() async throws {
        try await withDatabase { url in
            try await Migrator(migrations: [self.one("CREATE TABLE t (x int)")]).run(url: url)
            let changed = [self.one("CREATE TABLE t (x int, y int)"), self.one("CREATE TABLE u (x int)", number: 2)]
            let error = await #expect(throws: MigrationError.self) {
                try await Migrator(migrations: changed).run(url: url)
            }
            #expect(error?.code == .changed)
            #expect(error?.subject == "auth/1_step")
            #expect(try await self.applied(url) == ["auth1"])
        }
    }

    @Test("a migration that fails leaves nothing of itself, and those before it stay")
    func failed() async throws {
        try await withDatabase { url in
            let migrations = [
                self.one("CREATE TABLE t (x int)"), self.one("CREATE TABLE u (x int); SELECT 1 / 0;", number: 2),
            ]
            let error = await #expect(throws: MigrationError.self) {
                try await Migrator(migrations: migrations).run(url: url)
            }
            #expect(error?.code == .failed)
            #expect(error?.underlying?.sqlState == "22012")
            #expect(try await self.applied(url) == ["auth1"])
            try await withClient(url) { client in
                let rows = try await client.query("SELECT to_regclass('u')::text")
                #expect(try rows[0].decode(String?.self) == nil)
            }
        }
    }

    @Test("one that comes before an applied one, a number twice and a bad variable are refused")
    func refused() async throws {
        try await withDatabase { url in
            try await Migrator(migrations: [self.one("SELECT 1", number: 3)]).run(url: url)
            let cases: [(Migrator, MigrationError.Code)] = [
                (Migrator(migrations: [self.one("SELECT 1", number: 2)]), .outOfOrder),
                (Migrator(migrations: [self.one("SELECT 1"), self.one("SELECT 2")]), .duplicateNumber),
                (Migrator(migrations: [self.one("SELECT ${nobody}", number: 4)]), .unknownVariable),
                (Migrator(sets: [], variables: ["owner": "a'; DROP TABLE t"]), .unsafeVariable),
            ]
            for (migrator, code) in cases {
                let error = await #expect(throws: MigrationError.self) { try await migrator.run(url: url) }
                #expect(error?.code == code)
            }
        }
    }

    @Test("a look says how each migration stands, and changes nothing")
    func look() async throws {
        try await withDatabase { url in
            func states(_ migrations: [Migration]) async throws -> [String] {
                try await Migrator(migrations: migrations).look(url: url).migrations.map {
                    "\($0.set)\($0.number) \($0.state)"
                }
            }
            let first = self.one("SELECT 1")
            let all = [first, self.one("SELECT 2", number: 2), self.one("SELECT 3", number: 3)]
            #expect(try await states(all) == ["auth1 missing", "auth2 missing", "auth3 missing"])
            try await withClient(url) { client in
                let rows = try await client.query("SELECT to_regclass('schema_migrations')::text")
                #expect(try rows[0].decode(String?.self) == nil)
            }
            try await Migrator(migrations: [first, all[2]]).run(url: url)
            #expect(try await states(all) == ["auth1 applied", "auth2 late", "auth3 applied"])
            let other = [self.one("SELECT 5"), all[2], self.one("SELECT 6", set: "audit")]
            #expect(try await states(other) == ["auth1 changed", "auth3 applied", "audit1 missing"])
            #expect(try await states([first]) == ["auth1 applied", "auth3 unknown"])
            #expect(try await self.applied(url) == ["auth1", "auth3"])
        }
    }

    @Test("files are read in the order of their numbers, and a badly named one is refused")
    func files() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["0010_later.sql", "0002_second_step.sql", "0001_first.sql", "README.md"] {
            try Data("SELECT '\(name)'".utf8).write(to: folder.appending(path: name))
        }
        let migrations = try Migration.load(directory: folder, set: "auth")
        #expect(migrations.map(\.number) == [1, 2, 10])
        #expect(migrations.map(\.name) == ["first", "second_step", "later"])
        #expect(migrations[0].sql == "SELECT '0001_first.sql'")
        try Data().write(to: folder.appending(path: "first.sql"))
        let error = #expect(throws: MigrationError.self) { try Migration.load(directory: folder, set: "auth") }
        #expect(error?.code == .badFileName)
    }
}

extension Migrator {
    /// Sets without functions, in the order of their first migration.
    fileprivate init(migrations: [Migration], variables: [String: String] = [:]) {
        var names: [String] = []
        for migration in migrations where !names.contains(migration.set) { names.append(migration.set) }
        let sets = names.map { name in SchemaSet(name: name, migrations: migrations.filter { $0.set == name }) }
        self.init(sets: sets, variables: variables)
    }
}
