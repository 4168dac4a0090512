import EventLoops
import Foundation
import Glibc
import Synchronization
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
    private let process = Locked<ChildProcess?>(nil)

    /// - Parameters:
    ///   - arguments: Put behind ours.
    ///   - byPort: More of them, which name the port.
    /// - Throws: What making its folder throws.
    init(_ arguments: [String] = [], byPort: (UInt16) -> [String] = { _ in [] }) throws {
        self.port = try UInt16(freePort())
        self.arguments = arguments + byPort(self.port)
        self.directory = FileManager.default.temporaryDirectory
            .appending(path: "transfa-redis-\(UUID().uuidString.lowercased())")
        try FileManager.default.createDirectory(at: self.directory, withIntermediateDirectories: true)
    }

    /// A Sentinel that alone decides on a failover of `main`, soon.
    static func sentinel(of master: OwnRedis, password: String? = nil) throws -> OwnRedis {
        let sentinel = try OwnRedis(["--sentinel"])
        let settings = """
            port \(sentinel.port)
            bind 127.0.0.1
            dir \(sentinel.directory.path)
            sentinel monitor main 127.0.0.1 \(master.port) 1
            sentinel down-after-milliseconds main 500
            sentinel failover-timeout main 5000
            \(password.map { "requirepass \($0)\nsentinel auth-pass main \($0)" } ?? "")
            """
        try settings.write(to: sentinel.directory.appending(path: "sentinel.conf"), atomically: true, encoding: .utf8)
        return sentinel
    }

    func url(password: String? = nil, database: Int = 0) -> String {
        "redis://\(password.map { ":\($0)@" } ?? "")127.0.0.1:\(self.port)/\(database)"
    }

    func start() throws {
        let arguments =
            self.arguments == ["--sentinel"]
            ? [self.directory.appending(path: "sentinel.conf").path, "--sentinel"]
            : ["--port", "\(self.port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
                + ["--dir", self.directory.path] + self.arguments
        let log = self.directory.appending(path: "log").path
        let process = try ChildProcess("/usr/bin/redis-server", arguments, environment: [:], log: log)
        self.process.withLock { $0 = process }
    }

    /// SIGSTOP: connections stay open and nothing answers.
    func pause() { self.process.withLock { $0 }?.signal(SIGSTOP) }

    func resume() { self.process.withLock { $0 }?.signal(SIGCONT) }

    func kill() async { await self.process.withLock { $0 }?.kill() }

    deinit {
        self.process.withLock { $0 }?.signal(SIGKILL)
        try? FileManager.default.removeItem(at: self.directory)
    }
}

/// Accepts connections in the kernel and never says a word.
final class SilentServer {
    let port: UInt16
    private let descriptor: CInt

    init() throws { (self.descriptor, self.port) = try listeningSocket() }

    deinit { close(self.descriptor) }
}

/// Answers whoever connects with words that nobody asked for, and waits until they leave.
final class TalkativeServer: Sendable {
    let port: UInt16
    private let descriptor: CInt
    private let callers = Atomic<Int>(0)

    init(saying word: String) throws {
        let (descriptor, port) = try listeningSocket()
        (self.descriptor, self.port) = (descriptor, port)
        let thread = Thread { [self] in
            while true {
                let caller = accept(descriptor, nil, nil)
                guard caller >= 0 else { return }
                self.callers.wrappingAdd(1, ordering: .relaxed)
                // More often than there are commands of the beginning.
                let words = Array(String(repeating: word, count: 64).utf8)
                _ = send(caller, words, words.count, CInt(MSG_NOSIGNAL))
                var byte: UInt8 = 0
                while recv(caller, &byte, 1, 0) > 0 {}
                close(caller)
            }
        }
        thread.start()
    }

    /// How many connections there have been.
    var connections: Int { self.callers.load(ordering: .relaxed) }

    /// Ends the thread, which waits for the next caller.
    func stop() {
        shutdown(self.descriptor, CInt(SHUT_RDWR))
        close(self.descriptor)
    }
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
