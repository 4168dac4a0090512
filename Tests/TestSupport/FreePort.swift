import DevSuite
import EventLoops

/// A loopback port that nobody listens on and that this process has not given out before.
///
/// Below the kernel's range for outgoing connections, which could take the port before the server does, and apart from the
/// ports that suites keep.
public func freePort() throws -> Int {
    try LoopbackPort.free(in: 12_000..<20_000) { port in !givenPorts.withLock { $0.insert(port).inserted } }
}

/// Whether somebody accepts connections on a loopback port.
public func portAnswers(_ port: Int) -> Bool { LoopbackPort.answers(port) }

private let givenPorts = Locked<Set<Int>>([])
