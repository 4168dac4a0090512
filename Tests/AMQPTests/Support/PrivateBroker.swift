import Foundation
import Glibc
import TestSupport
import Testing

/// A RabbitMQ of one test's own, for what would disturb others: alarms, SIGKILL, certificates.
///
/// Everything it writes is below a temporary folder; it listens on loopback ports that were free, and has an epmd of
/// its own.
final class PrivateBroker: Sendable {
    let broker: Broker
    let tlsPort: UInt16
    /// The PEM file of the authority that signed the certificate of `localhost`.
    let authorities: String
    private let folder: URL
    private let environment: [String: String]

    /// Lends a broker that has started.
    static func with(_ body: (PrivateBroker) async throws -> Void) async throws {
        let broker = try PrivateBroker()
        do {
            try await broker.start()
            try await body(broker)
        } catch {
            await broker.end()
            throw error
        }
        await broker.end()
    }

    private init() throws {
        let port = try Sockets.freePort()
        let managementPort = try Sockets.freePort()
        self.tlsPort = try Sockets.freePort()
        let url = try #require(URL(string: "http://guest:guest@127.0.0.1:\(managementPort)"))
        self.broker = Broker(url: "amqp://guest:guest@127.0.0.1:\(port)", management: url)
        let name = "amqp\(port)"
        self.folder = FileManager.default.temporaryDirectory.appendingPathComponent("transfa-\(name)")
        let path = self.folder.path
        self.authorities = "\(path)/ca.pem"
        self.environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            "HOME": path,
            "RABBITMQ_NODENAME": "\(name)@localhost",
            "RABBITMQ_DIST_PORT": "\(try Sockets.freePort())",
            "RABBITMQ_MNESIA_BASE": "\(path)/mnesia",
            "RABBITMQ_LOG_BASE": "\(path)/log",
            "RABBITMQ_ENABLED_PLUGINS_FILE": "\(path)/enabled_plugins",
            "RABBITMQ_CONFIG_FILE": "\(path)/rabbitmq.conf",
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_PID_FILE": "\(path)/pid",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": "\(try Sockets.freePort())",
        ]
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        try self.write("enabled_plugins", "[rabbitmq_management].")
        try self.write(
            "rabbitmq.conf",
            """
            listeners.tcp.1 = 127.0.0.1:\(port)
            listeners.ssl.1 = 127.0.0.1:\(self.tlsPort)
            ssl_options.cacertfile = \(path)/ca.pem
            ssl_options.certfile = \(path)/server.pem
            ssl_options.keyfile = \(path)/server.key
            management.tcp.ip = 127.0.0.1
            management.tcp.port = \(managementPort)
            raft.wal_max_size_bytes = 64000000
            disk_free_limit.absolute = 10MB
            """
        )
    }

    private func write(_ name: String, _ text: String) throws {
        try Data((text + "\n").utf8).write(to: self.folder.appendingPathComponent(name))
    }

    // MARK: Life

    /// Makes certificates when there are none, and boots the node.
    ///
    /// Also boots it again after `kill`.
    func start() async throws {
        if !FileManager.default.fileExists(atPath: self.authorities) { try await self.makeCertificates() }
        try? FileManager.default.removeItem(atPath: "\(self.folder.path)/pid")
        // Foundation learns of the end of a process by a socket that the server would inherit and keep open.
        let closeInherited = #"for f in /proc/$BASHPID/fd/*; do n=${f##*/}; ((n > 2)) && eval "exec $n>&-"; done"#
        let server = "\(Self.program("rabbitmq-server")) > '\(self.folder.path)/out' 2>&1 < /dev/null"
        try await self.run("/bin/bash", ["-c", "(\(closeInherited); exec \(server)) &"])
        do {
            try await self.control("wait", "--timeout", "120", "\(self.folder.path)/pid")
        } catch {
            let said = (try? String(contentsOfFile: "\(self.folder.path)/out", encoding: .utf8)) ?? ""
            throw Unavailable(description: "the private broker did not boot: \(error); it said: \(said.suffix(2_000))")
        }
        try await eventually("the management API answers", within: .seconds(30)) {
            (try? await self.broker.send("GET", "overview")) != nil
        }
    }

    /// Ends the node as a power cut would.
    func kill() throws {
        let text = try String(contentsOfFile: "\(self.folder.path)/pid", encoding: .utf8)
        let process = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        try #require(Glibc.kill(process, SIGKILL) == 0)
    }

    /// Runs rabbitmqctl against the node.
    func control(_ arguments: String...) async throws { try await self.run(Self.program("rabbitmqctl"), arguments) }

    private func end() async {
        try? await self.control("shutdown", "--timeout", "20")
        try? self.kill()
        try? await self.run("/usr/bin/epmd", ["-port", self.environment["ERL_EPMD_PORT"] ?? "", "-kill"])
        try? FileManager.default.removeItem(at: self.folder)
    }

    private static func program(_ name: String) -> String { "/usr/lib/rabbitmq/bin/\(name)" }

    // MARK: Certificates

    private func makeCertificates() async throws {
        let path = self.folder.path
        for (authority, leaf) in [("ca", "server"), ("other-ca", nil)] {
            try await self.openSSL(
                "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=transfa-test-\(authority)"
                    + " -keyout \(path)/\(authority).key -out \(path)/\(authority).pem"
            )
            guard let leaf else { continue }
            try self.write("\(leaf).ext", "subjectAltName = DNS:localhost")
            try await self.openSSL(
                "req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout \(path)/\(leaf).key -out \(path)/\(leaf).csr"
            )
            try await self.openSSL(
                "x509 -req -days 2 -in \(path)/\(leaf).csr -CA \(path)/\(authority).pem -CAkey \(path)/\(authority).key"
                    + " -CAcreateserial -extfile \(path)/\(leaf).ext -out \(path)/\(leaf).pem"
            )
        }
    }

    /// An authority that signed nothing.
    var otherAuthorities: String { "\(self.folder.path)/other-ca.pem" }

    private func openSSL(_ arguments: String) async throws {
        try await self.run("/usr/bin/openssl", arguments.split(separator: " ").map(String.init))
    }

    private func run(_ program: String, _ arguments: [String]) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = self.environment
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let (ends, ended) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { ended.yield($0.terminationStatus) }
        try process.run()
        for await status in ends {
            guard status == 0 else {
                throw Unavailable(description: "\(program) \(arguments.first ?? "") ended with \(status)")
            }
            return
        }
    }
}
