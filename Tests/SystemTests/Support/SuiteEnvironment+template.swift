import Foundation
import TestSupport

extension SuiteEnvironment {
    /// A service's database as the service itself migrates it.
    static func template(of name: String) throws -> DatabaseTemplate {
        let own = "Services/\(name.prefix(1).uppercased() + name.dropFirst())"
        let contents = try ["Shared/Messaging", own].flatMap { folder in
            try Self.texts(under: "\(folder)/Migrations") + Self.texts(under: "\(folder)/Functions")
        }
        // Journeys pay small sums, also to banks.
        let slots = name == "transaction" ? ["INSERT INTO slot_minimums VALUES ('2020-01-01', 1)"] : []
        return DatabaseTemplate(name, contents: contents + slots) { database in
            let nowhere = TestVhost(
                name: "nowhere",
                url: "amqp://nobody:nothing@127.0.0.1:1/nowhere",
                managementURL: "http://127.0.0.1:1"
            )
            let alone = try SuiteEnvironment(
                databases: [name: database],
                vhost: nowhere,
                redis: "redis://127.0.0.1:1/0"
            )
            guard let migration = try alone.part(name).migration else { throw TestFailure("\(name) migrates nothing") }
            try await Command.run(migration)
            for statement in slots { try await database.psql(statement) }
        }
    }

    /// All SQL files under a folder, in order, each with its path; not everybody has functions.
    private static func texts(under folder: String) throws -> [String] {
        let path = Repository.path(folder)
        let isThere = folder.hasSuffix("/Migrations") || FileManager.default.fileExists(atPath: path)
        let files = try isThere ? FileManager.default.subpathsOfDirectory(atPath: path) : []
        return try files.filter { $0.hasSuffix(".sql") }.sorted().map {
            "\($0)\n\(try String(contentsOfFile: "\(path)/\($0)", encoding: .utf8))"
        }
    }
}
