import Foundation
import Glibc

/// A folder in which a suite is kept: ports and secrets between runs, settings, logs, and records of what runs.
///
/// | path | holds |
/// |---|---|
/// | `suite.json` | the description |
/// | `<part>.env`, `transfactl.env` | the same settings, for shells |
/// | `databases/<service>.env` | the three addresses of a database |
/// | `ports/`, `secrets/` | made once, a file each |
/// | `pids/`, `logs/` | a file per part |
/// | `servers/servers.env` | what `scripts/servers` started for it |
/// | `elsewhere.env` | addresses of servers that are used instead, `<SERVICE>_POSTGRES_URL` among them |
public struct SuiteFolder: Sendable {
    /// Its path, from the root.
    public let path: String

    /// A folder, whether it exists or not.
    public init(_ path: String) { self.path = URL(fileURLWithPath: path).standardizedFileURL.path }

    /// The record of a part.
    public func record(of part: String) -> ProcessRecord { ProcessRecord("\(self.path)/pids/\(part)") }

    /// The folder of the logs.
    public var logs: String { "\(self.path)/logs" }

    /// The file in which a port is kept.
    func portFile(_ name: String) -> String { "\(self.path)/ports/\(name)" }

    /// The suite as it was prepared.
    public func description() throws(SuiteError) -> SuiteDescription {
        guard let data = FileManager.default.contents(atPath: self.descriptionFile) else {
            throw SuiteError("No suite was prepared in \(self.path).")
        }
        do {
            return try JSONDecoder().decode(SuiteDescription.self, from: data)
        } catch {
            throw SuiteError("\(self.descriptionFile) is none of ours: prepare the folder again.")
        }
    }

    /// Whether a suite was prepared here.
    public var isPrepared: Bool { FileManager.default.fileExists(atPath: self.descriptionFile) }

    /// Keeps a description, and its settings as files that a shell can read.
    func keep(_ description: SuiteDescription) throws(SuiteError) {
        for part in description.parts { try self.write(SettingsFile.text(part.settings), to: "\(part.name).env") }
        for (service, database) in description.databases {
            let urls = [
                "MIGRATION_DATABASE_URL": database.owner, "DATABASE_URL": database.handler,
                "WORKER_DATABASE_URL": database.worker,
            ]
            try self.write(SettingsFile.text(urls), to: "databases/\(service).env")
        }
        try self.write(SettingsFile.text(description.tool), to: "transfactl.env")
        try self.write(description.json, to: Self.descriptionName)
    }

    // MARK: Kept between runs

    /// The kept port of this name, or a free one that is kept from now on.
    ///
    /// The gateway's is one that people type: 8080, or the next that is free. Others like it too, so that it is another one
    /// when somebody else has taken it meanwhile.
    func port(_ name: String) throws(SuiteError) -> Int {
        let isTyped = name == SuiteGround.gateway
        if let text = self.read("ports/\(name)"), let port = Int(text) {
            let isTaken = isTyped && self.record(of: name).runningPID == nil && LoopbackPort.answers(port)
            if !isTaken { return port }
        }
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(self.path)/ports")) ?? []
        // A neighbour may have been given it and not listen yet.
        let given = Set(files.compactMap { self.read("ports/\($0)").flatMap(Int.init) })
        let port =
            isTyped
            ? try LoopbackPort.first(in: LoopbackPort.typed, isGiven: given.contains)
            : try LoopbackPort.free(in: LoopbackPort.kept, isGiven: given.contains)
        try self.write("\(port)\n", to: "ports/\(name)")
        return port
    }

    /// The kept secret of this name, or what `make` makes.
    func secret(_ name: String, _ make: () -> String) throws(SuiteError) -> String {
        if let text = self.read("secrets/\(name)") { return text }
        let text = make()
        try self.write(text, to: "secrets/\(name)")
        return text
    }

    /// The addresses of the servers; those in `elsewhere.env` count more.
    func serverSettings() throws(SuiteError) -> [String: String] {
        guard let own = self.read("servers/servers.env") else {
            throw SuiteError("\(self.path)/servers/servers.env is missing: scripts/servers start \(self.path)/servers")
        }
        let elsewhere = self.read("elsewhere.env").map(SettingsFile.variables) ?? [:]
        return SettingsFile.variables(own).merging(elsewhere) { $1 }
    }

    /// Makes the folders that parts write to.
    func makeFolders(_ folders: [String]) throws(SuiteError) {
        do {
            for folder in folders {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            }
        } catch {
            throw SuiteError("A folder of \(self.path) could not be made: \(error.localizedDescription)")
        }
    }

    private static let descriptionName = "suite.json"
    private var descriptionFile: String { "\(self.path)/\(Self.descriptionName)" }

    private func read(_ name: String) -> String? {
        guard let data = FileManager.default.contents(atPath: "\(self.path)/\(name)") else { return nil }
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return text.isEmpty ? nil : text
    }

    /// Whole or not at all, and for nobody else to read: nearly all of it is secret.
    private func write(_ text: String, to name: String) throws(SuiteError) {
        let path = "\(self.path)/\(name)"
        let aside = "\(path).new"
        try self.makeFolders([URL(fileURLWithPath: path).deletingLastPathComponent().path])
        let owner: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: aside, contents: Data(text.utf8), attributes: owner) else {
            throw SuiteError("\(aside) could not be written.")
        }
        guard unsafe rename(aside, path) == 0 else { throw SuiteError("\(path) could not be written.") }
    }
}

extension SuiteDescription {
    /// The description as JSON.
    public var json: String { Self.text(self) }

    static func text(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else {
            preconditionFailure("a description holds texts and numbers alone")
        }
        return String(decoding: data, as: UTF8.self) + "\n"
    }
}

extension SuitePart {
    /// The part as JSON.
    public var json: String { SuiteDescription.text(self) }
}
