import EventLoops
import Glibc
import TestSupport
import Testing

/// A TCP proxy that can cut its connections or stop to forward on them, as networks do.
final class Proxy: Sendable {
    private struct State {
        var sockets: [CInt] = []
        var accepted = 0
        var stalled: Set<CInt> = []
        var isClosed = false
        var refuses = false
        var cutAfter: Int?
        var cutBehind: [UInt8] = []
        var cutsBehind = 0
    }

    let port: UInt16
    private let target: UInt16
    private let listener: OwnedSocket
    private let state = Locked(State())

    /// How many connections came.
    var acceptedCount: Int { self.state.withLock { $0.accepted } }

    private init(target: UInt16) throws {
        self.target = target
        let (number, port) = try Sockets.listen()
        (self.listener, self.port) = (OwnedSocket(number), port)
    }

    /// Lends a proxy to a port of this machine.
    static func with(target: UInt16, _ body: (Proxy) async throws -> Void) async throws {
        let proxy = try Proxy(target: target)
        SideThread.start { proxy.accept() }
        defer { proxy.close() }
        try await body(proxy)
    }

    /// Ends all connections there are.
    func cut() {
        self.state.withLock { state in
            for socket in state.sockets { shutdown(socket, CInt(SHUT_RDWR)) }
        }
    }

    /// Ends all connections when that many more bytes have passed, in the middle of whatever is being said.
    func cut(after bytes: Int) { self.state.withLock { $0.cutAfter = bytes } }

    /// Ends all connections each time these bytes have passed in one piece, so many times.
    func cut(behind bytes: [UInt8], times: Int) {
        self.state.withLock {
            $0.cutBehind = bytes
            $0.cutsBehind = times
        }
    }

    /// Looks at bytes that have passed.
    private func passed(_ bytes: ArraySlice<UInt8>) {
        let isDue = self.state.withLock { state in
            if state.cutsBehind > 0, bytes.contains(state.cutBehind) {
                state.cutsBehind -= 1
                return true
            }
            guard let left = state.cutAfter else { return false }
            state.cutAfter = left > bytes.count ? left - bytes.count : nil
            return left <= bytes.count
        }
        if isDue { self.cut() }
    }

    /// Forwards nothing more on the connections there are, and keeps them open.
    ///
    /// New ones are not affected.
    func stall() { self.state.withLock { $0.stalled = Set($0.sockets) } }

    /// Ends new connections at once, or stops doing so.
    func refuse(_ refuses: Bool) { self.state.withLock { $0.refuses = refuses } }

    private func close() {
        self.state.withLock { $0.isClosed = true }
        self.listener.end()
        self.cut()
    }

    private func accept() {
        while true {
            let client = Glibc.accept(self.listener.number, nil, nil)
            guard client >= 0 else { break }
            let refuses = self.state.withLock { state in
                state.accepted += 1
                return state.refuses || state.isClosed
            }
            guard !refuses, let server = Sockets.connect(self.target) else {
                Glibc.close(client)
                continue
            }
            self.state.withLock { $0.sockets += [client, server] }
            let open = Locked(2)
            for (from, to) in [(client, server), (server, client)] {
                SideThread.start {
                    self.forward(from, to)
                    self.finish(client, server, open)
                }
            }
        }
    }

    private func forward(_ from: CInt, _ to: CInt) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let (isStalled, isClosed) = self.state.withLock { ($0.stalled.contains(from), $0.isClosed) }
            if isClosed { return }
            if isStalled {
                // Reading nothing, so that the sender's buffers fill up too.
                usleep(10_000)
                continue
            }
            // Short waits, because a stall that begins now must hold for the next byte.
            var descriptor = pollfd(fd: from, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, 10) != 0 else { continue }
            if self.state.withLock({ $0.stalled.contains(from) }) { continue }
            let count = read(from, &buffer, buffer.count)
            guard count > 0, Sockets.writeAll(to, buffer[0..<count]) else { return }
            self.passed(buffer[0..<count])
        }
    }

    private func finish(_ client: CInt, _ server: CInt, _ open: Locked<Int>) {
        shutdown(client, CInt(SHUT_RDWR))
        shutdown(server, CInt(SHUT_RDWR))
        let isLast = open.withLock { count in
            count -= 1
            return count == 0
        }
        guard isLast else { return }
        self.state.withLock { state in
            state.sockets.removeAll { $0 == client || $0 == server }
            state.stalled.subtract([client, server])
        }
        Glibc.close(client)
        Glibc.close(server)
    }
}

enum Sockets {
    /// Listens on a free port of the loopback interface.
    static func listen() throws -> (CInt, UInt16) {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = Self.loopback(0)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                var length = size
                return bind(listener, raw, size) == 0 && Glibc.listen(listener, 64) == 0
                    && getsockname(listener, raw, &length) == 0
            }
        }
        try #require(bound)
        return (listener, UInt16(bigEndian: address.sin_port))
    }

    /// A port that nobody listens on now, and that no outgoing connection is given.
    static func freePort() throws -> UInt16 { try UInt16(TestSupport.freePort()) }

    static func connect(_ port: UInt16) -> CInt? {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = Self.loopback(port)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            Glibc.close(descriptor)
            return nil
        }
        return descriptor
    }

    static func writeAll(_ descriptor: CInt, _ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }
}
