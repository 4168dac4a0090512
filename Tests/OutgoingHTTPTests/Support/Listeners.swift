import Glibc
import TestSupport

/// A listener that nobody can reach: its queue is full, and nobody takes anything out of it.
enum FullListener {
    static func with(_ body: (Int) async throws -> Void) async throws {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(listener) }
        let port = try freePort()
        guard withLoopback(port, { bind(listener, $0, $1) }) == 0, listen(listener, 0) == 0 else {
            throw TestFailure("no socket to listen on: errno \(errno)")
        }
        // More than the queue has room for; those that find none stay on their way.
        let fillers = (0..<8).map { _ in socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0) }
        defer { for filler in fillers { close(filler) } }
        for filler in fillers {
            _ = fcntl(filler, F_SETFL, O_NONBLOCK)
            _ = withLoopback(port) { connect(filler, $0, $1) }
        }
        try await Task.sleep(for: .milliseconds(100))
        try await body(port)
    }
}

/// Calls a function of sockets with a port of 127.0.0.1.
func withLoopback(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = in_port_t(port).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}
