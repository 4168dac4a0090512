import EventLoops
import Foundation
import TestSupport

/// Stands between a client and a server and does what networks do.
final class TCPProxy: Sendable {
    /// What becomes of bytes that the client sends.
    enum Fault: Sendable {
        case none
        /// Both sides are closed when these bytes come along; the server does not get them.
        case cutBefore([UInt8])
        /// The server gets these bytes; its answer does not arrive, both sides are closed.
        case cutAfter([UInt8])
        /// Nothing passes any more, in either direction.
        case freeze
    }

    private struct State {
        var fault = Fault.none
        var listener: OwnedSocket?
        var isCut = false
    }

    let port: UInt16
    private let target: UInt16
    private let state = Locked(State())

    /// Takes a free port of the loopback interface; nobody listens there before `start()`.
    init(to target: UInt16) throws {
        self.target = target
        let probe = try listeningSocket(port: 0)
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(probe, $0, &length) }
        }
        self.port = UInt16(bigEndian: address.sin_port)
        close(probe)
    }

    func set(_ fault: Fault) { self.state.withLock { $0.fault = fault } }

    /// Listens from now on.
    func start() throws {
        let listener = OwnedSocket(try listeningSocket(port: self.port))
        self.state.withLock { $0.listener = listener }
        SideThread.start {
            while true {
                let client = accept(listener.number, nil, nil)
                if client < 0 { return }
                self.serve(OwnedSocket(client))
            }
        }
    }

    /// Listens no longer.
    func stop() {
        self.state.withLock { state in
            state.listener?.end()
            state.listener = nil
        }
    }

    private func serve(_ client: OwnedSocket) {
        guard let number = try? connectedSocket(port: self.target) else { return }
        let server = OwnedSocket(number)
        SideThread.start { self.pump(from: client, to: server, isFromClient: true) }
        SideThread.start { self.pump(from: server, to: client, isFromClient: false) }
    }

    private func pump(from source: OwnedSocket, to sink: OwnedSocket, isFromClient: Bool) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var dropsAnswers = false
        while true {
            let count = recv(source.number, &buffer, buffer.count, 0)
            if count <= 0 { break }
            let bytes = buffer[..<count]
            switch self.state.withLock({ $0.fault }) {
            case .none: break
            case .freeze: continue
            case .cutBefore(let marker):
                if isFromClient && bytes.contains(marker) { dropsAnswers = true }
            case .cutAfter(let marker):
                if isFromClient && bytes.contains(marker) {
                    self.state.withLock { $0.isCut = true }
                } else if !isFromClient && self.state.withLock({ $0.isCut }) {
                    dropsAnswers = true
                }
            }
            if dropsAnswers { break }
            if send(sink.number, buffer, count, CInt(MSG_NOSIGNAL)) != count { break }
        }
        source.end()
        sink.end()
    }
}

private func listeningSocket(port: UInt16) throws -> CInt {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var yes: CInt = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
    let status = withLoopback(port) { bind(descriptor, $0, $1) }
    guard status == 0, listen(descriptor, 16) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    return descriptor
}

private func connectedSocket(port: UInt16) throws -> CInt {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard withLoopback(port, { connect(descriptor, $0, $1) }) == 0 else {
        close(descriptor)
        throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
    return descriptor
}

private func withLoopback(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}
