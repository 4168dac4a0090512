import Foundation
import TestSupport

extension SuiteEnvironment {
    /// A service's database as the service itself migrates it.
    static func template(of name: String) throws -> DatabaseTemplate {
        let own = "Services/\(name.prefix(1).uppercased() + name.dropFirst())/Migrations"
        let contents = try ["Shared/Messaging/Migrations", own].flatMap(Self.texts)
        return DatabaseTemplate(name, contents: contents) { database in
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
        }
    }

    /// All migrations under a folder, in order, each with its path.
    private static func texts(under folder: String) throws -> [String] {
        let path = Repository.path(folder)
        let files = try FileManager.default.subpathsOfDirectory(atPath: path).filter { $0.hasSuffix(".sql") }.sorted()
        guard !files.isEmpty else { throw TestFailure("\(folder) has no migrations") }
        return try files.map { "\($0)\n\(try String(contentsOfFile: "\(path)/\($0)", encoding: .utf8))" }
    }
}
