import EventLoops
import Glibc

/// A loopback port that nobody listens on and that this process has not given out before.
///
/// Below the kernel's range for outgoing connections, which could take the port before the server does.
public func freePort() throws -> Int {
    for _ in 0..<500 {
        let port = Int.random(in: 12_000..<20_000)
        if givenPorts.withLock({ $0.insert(port).inserted }), canListen(on: UInt16(port)) {
            return port
        }
    }
    throw TestFailure("no free loopback port found between 12000 and 20000")
}

/// Whether somebody accepts connections on a loopback port.
public func portAnswers(_ port: Int) -> Bool {
    withLoopbackSocket(UInt16(port)) { descriptor, address, length in
        connect(descriptor, address, length) == 0
    }
}

private let givenPorts = Locked<Set<Int>>([])

private func canListen(on port: UInt16) -> Bool {
    withLoopbackSocket(port) { descriptor, address, length in
        bind(descriptor, address, length) == 0
    }
}

private func withLoopbackSocket(
    _ port: UInt16,
    _ body: (CInt, UnsafePointer<sockaddr>, socklen_t) -> Bool
) -> Bool {
    // A process that is being started at this moment would hold on to the port.
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { rebound in
            body(descriptor, rebound, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}
