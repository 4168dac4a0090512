import ContractGate
import Contracts
import Foundation

/// The executable of a service, which knows its own migrations.
struct ServiceProgram {
    /// What is given to it under plain names.
    static let urls = ["MIGRATION_DATABASE_URL", "DATABASE_URL", "WORKER_DATABASE_URL"]

    let service: ServiceName
    private let path: String
    private let environment: [String: String]

    /// Finds it in a folder, or beside transfactl.
    init(service: ServiceName, folder: String?, environment: [String: String]) throws(Failure) {
        let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let beside = own.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }
        let path = "\(folder ?? beside ?? ".")/\(service.rawValue)"
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw Failure("\(path) is no executable; --binaries names the folder of the services.")
        }
        self.service = service
        self.path = path
        self.environment = environment
    }

    /// How every migration and every set of functions stands.
    func look() throws(Failure) -> [JSONNode] {
        let text = try self.run("--migrate-look")
        var found: [JSONNode] = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let node = try? JSONNode(json: Data(line)) else {
                throw Failure("\(self.service.rawValue) said something else than how its migrations stand.")
            }
            found.append(node)
        }
        return found
    }

    /// Applies what is missing.
    func migrate() throws(Failure) { _ = try self.run("--migrate-only") }

    /// What it writes to standard output; what it complains of goes where our own complaints go.
    private func run(_ argument: String) throws(Failure) -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: self.path)
        process.arguments = [argument]
        process.environment = self.environment
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        do {
            try process.run()
        } catch {
            throw Failure("\(self.path) could not be started: \(error.localizedDescription)")
        }
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure("\(self.service.rawValue) \(argument) ended with \(process.terminationStatus).")
        }
        return text
    }
}
