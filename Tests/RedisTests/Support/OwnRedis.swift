import EventLoops
import Foundation
import Glibc
import TestSupport

/// What is wrong with a test's surroundings.
struct SetupFailure: Error, CustomStringConvertible {
    let description: String
}

/// The Redis of the whole test run; tests use keys of their own on it.
func sharedRedisURL() throws -> String {
    guard let url = ProcessInfo.processInfo.environment["TRANSFA_TEST_REDIS_URL"] else {
        throw SetupFailure(description: "TRANSFA_TEST_REDIS_URL is not set: it names a Redis that tests may write to")
    }
    return url
}

/// A redis-server of one test, which may stop, kill and restart it.
final class OwnRedis: Sendable {
    let port: UInt16
    private let directory: URL
    private let arguments: [String]
    private let process = Locked<Process?>(nil)

    init(_ arguments: [String] = []) throws {
        self.port = try UInt16(freePort())
        self.arguments = arguments
        self.directory = FileManager.default.temporaryDirectory
            .appending(path: "transfa-redis-\(UUID().uuidString.lowercased())")
        try FileManager.default.createDirectory(at: self.directory, withIntermediateDirectories: true)
    }

    func url(password: String? = nil, database: Int = 0) -> String {
        "redis://\(password.map { ":\($0)@" } ?? "")127.0.0.1:\(self.port)/\(database)"
    }

    func start() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/redis-server")
        process.arguments =
            ["--port", "\(self.port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
            + ["--dir", self.directory.path] + self.arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process.withLock { $0 = process }
    }

    /// SIGSTOP: connections stay open and nothing answers.
    func pause() { self.signal(SIGSTOP) }

    func resume() { self.signal(SIGCONT) }

    func kill() {
        self.signal(SIGKILL)
        self.process.withLock { process in
            process?.waitUntilExit()
            process = nil
        }
    }

    deinit {
        self.kill()
        try? FileManager.default.removeItem(at: self.directory)
    }

    private func signal(_ number: CInt) {
        self.process.withLock { process in
            guard let process, process.isRunning else { return }
            Glibc.kill(process.processIdentifier, number)
        }
    }
}

/// Accepts connections in the kernel and never says a word.
final class SilentServer {
    let port: UInt16
    private let descriptor: CInt

    init() throws { (self.descriptor, self.port) = try listeningSocket() }

    deinit { close(self.descriptor) }
}

private func listeningSocket() throws -> (CInt, UInt16) {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
            bind(descriptor, general, length) | listen(descriptor, 8) | getsockname(descriptor, general, &length)
        }
    }
    guard status == 0 else { throw SetupFailure(description: "no loopback port: errno \(errno)") }
    return (descriptor, address.sin_port.bigEndian)
}
