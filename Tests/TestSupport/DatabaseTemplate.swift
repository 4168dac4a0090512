import Foundation
import Glibc

/// What every database of a kind of tests begins with: made once per server, and copied for each test.
///
/// A copy takes some 50 ms; running all migrations of a service takes a second and more. All copies share the three
/// roles of their template.
public struct DatabaseTemplate: Sendable {
    /// The service whose database it is.
    let service: String
    /// Tells templates apart.
    private let contents: [String]
    /// Brings a database with the three roles to where each test begins.
    private let prepare: @Sendable (TestDatabase) async throws -> Void

    /// Describes a template; nothing is made before a test needs it.
    ///
    /// - Parameters:
    ///   - service: The service whose database it is.
    ///   - contents: All that `prepare` puts there: when it changes, another template is made.
    ///   - prepare: Runs the migrations.
    public init(
        _ service: String,
        contents: [String],
        prepare: @escaping @Sendable (TestDatabase) async throws -> Void
    ) {
        self.service = service
        self.contents = contents
        self.prepare = prepare
    }

    /// Makes it on a server that does not have it yet.
    ///
    /// - Returns: The database that is copied.
    func provide(on servers: TestServers) async throws -> TestDatabase {
        let roles = try String(contentsOfFile: Repository.path("deploy/postgres/roles.sql"), encoding: .utf8)
        let suffix = "_template_" + fingerprint(self.contents + [roles])
        let template = try TestDatabase(service: self.service, suffix: suffix, servers: servers)
        try await templates.once("\(servers.directory) \(template.name)") {
            try await withFileLock("\(servers.directory)/\(template.name).lock") {
                guard try await !template.exists() else { return }
                let unfinished = template.named("\(template.name)_unfinished")
                try await unfinished.drop()
                try await unfinished.createOnServer()
                try await self.prepare(unfinished)
                try await unfinished.becomeTemplate(named: template.name)
            }
        }
        return template
    }
}

/// Sixteen hexadecimal digits that differ when the texts do (FNV-1a, 64 bits).
private func fingerprint(_ texts: [String]) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for text in texts {
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ 0xff) &* 0x100_0000_01b3
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}

/// Other processes of the run may want the same template at the same moment.
private func withFileLock(_ path: String, _ body: () async throws -> Void) async throws {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw TestFailure("\(path) cannot be opened: \(String(cString: strerror(errno)))") }
    defer { close(file) }
    try await eventually("the lock \(path)", within: .seconds(120)) { flock(file, LOCK_EX | LOCK_NB) == 0 }
    try await body()
}

private let templates = Provisions()

/// Work that is done once in this process, however many wait for it.
private actor Provisions {
    private var work: [String: Task<Void, any Error>] = [:]

    func once(_ name: String, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let task = self.work[name] ?? Task { try await body() }
        self.work[name] = task
        try await task.value
    }
}
