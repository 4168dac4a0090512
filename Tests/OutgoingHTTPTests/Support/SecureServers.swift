import Foundation
import OutgoingHTTP
import TestSupport

/// The servers of `Tests/Python/tls_server.py`.
struct SecureServers: Sendable {
    private let ports: [String: Int]
    private let folder: String

    /// The certificates of who has signed those of most servers, and of somebody else.
    var trusted: String { "\(self.folder)/trusted.pem" }
    var other: String { "\(self.folder)/other.pem" }

    func url(_ server: String, _ path: String = "/", host: String = "localhost") -> String {
        "https://\(host):\(self.ports[server] ?? 0)\(path)"
    }

    func port(_ server: String) -> Int { self.ports[server] ?? 0 }

    /// How many requests a server has got, or a path of the one that speaks HTTP/2.
    func requests(_ name: String) async throws -> Int {
        let call = HTTPCall(.get, "http://127.0.0.1:\(self.ports["books"] ?? 0)/")
        let answer = try await HTTPClient().send(call, within: plenty)
        return try JSONDecoder().decode([String: Int].self, from: Data(answer.body))[name] ?? 0
    }

    static func with(_ body: (SecureServers) async throws -> Void) async throws {
        let folder = "\(Scratch.directory)/tls-\(Scratch.shortName())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let process = try ChildProcess(try TestPython.path(), [TestPython.program("tls_server.py"), folder])
        do {
            let ports = try await eventually("the servers", within: .seconds(30)) {
                guard process.isRunning else { throw TestFailure("they ended: \(process.log.suffix(1000))") }
                let line = process.log.split(separator: "\n").first { $0.hasPrefix("{") && $0.hasSuffix("}") }
                return try line.map { try JSONDecoder().decode([String: Int].self, from: Data($0.utf8)) }
            }
            try await body(SecureServers(ports: ports, folder: folder))
        } catch {
            await process.kill()
            throw error
        }
        await process.kill()
    }
}
