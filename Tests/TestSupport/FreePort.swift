import DevSuite
import EventLoops
import Foundation
import Glibc

/// A loopback port that nobody listens on and that no process of tests on this machine has been given.
///
/// Below the kernel's range for outgoing connections, which could take the port before the server does, and apart from the
/// ports that suites keep.
public func freePort() throws -> Int {
    try LoopbackPort.free(in: 12_000..<20_000) { port in
        !givenPorts.withLock { $0.insert(port).inserted } || !reserve(port)
    }
}

/// Whether somebody accepts connections on a loopback port.
public func portAnswers(_ port: Int) -> Bool { LoopbackPort.answers(port) }

private let givenPorts = Locked<Set<Int>>([])

/// Whether no other process of tests has the port; held until this process ends.
private func reserve(_ port: Int) -> Bool {
    let folder = NSTemporaryDirectory() + "/transfa-ports"
    if mkdir(folder, 0o1777) == 0 { chmod(folder, 0o1777) }
    let file = open("\(folder)/\(port)", O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    // Somebody else's file: then it is as unlikely to be taken as without this.
    guard file >= 0 else { return true }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
        close(file)
        return false
    }
    return true
}
