import EventLoops
import Glibc

/// One connection to a server: bytes go out, replies come in, with TLS or without.
///
/// Belongs to one thread.
final class RedisWire {
    let descriptor: CInt
    private let tls: TLSSession?
    private let reader = ReplyReader()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: RedisWire.pieceSize, alignment: 16)
    private var outgoing: [UInt8] = []
    private var sentCount = 0
    private var isConnected = false
    private var hasShakenHands: Bool
    /// What could not be done before the socket can be written.
    private var waitsForWriting = false

    private static let pieceSize = 64 * 1024
    /// How many pieces of a stream without end are read before others get their turn.
    private static let mostPieces = 16

    /// Begins to connect.
    ///
    /// - Throws: `RedisError`.
    init(to place: Place, tls: TLSContext?) throws(RedisError) {
        let descriptor = try place.address.connect()
        do throws(RedisError) {
            self.tls = try tls.map { context throws(RedisError) in
                try TLSSession(context, descriptor: descriptor, name: place.name)
            }
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.hasShakenHands = tls == nil
    }

    deinit {
        close(self.descriptor)
        self.buffer.deallocate()
    }

    /// Whether commands can be sent.
    var isEstablished: Bool { self.isConnected && self.hasShakenHands }

    /// What the socket must be ready for before anything goes on.
    var interest: EventLoopThread.Interest {
        !self.isConnected || self.waitsForWriting ? [.read, .write] : .read
    }

    /// Takes bytes to be sent; `flush` sends them.
    func queue(_ bytes: [UInt8]) { self.outgoing += bytes }

    /// Does what can be done now that the socket is ready, and gives the replies that have come.
    ///
    /// - Throws: `RedisError` when the connection has ended; `replies` has what came before.
    func proceed(_ replies: (RedisValue) -> Void) throws(RedisError) {
        if !self.isConnected {
            try self.finishConnecting()
            guard self.isConnected else { return }
        }
        if !self.hasShakenHands {
            try self.shakeHands()
            guard self.hasShakenHands else { return }
        }
        try self.flush()
        try self.read(replies)
    }

    private func finishConnecting() throws(RedisError) {
        var look = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&look, 1, 0) == 1 else { return }
        var failure: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        getsockopt(self.descriptor, SOL_SOCKET, SO_ERROR, &failure, &length)
        guard failure == 0 else { throw RedisError(.lost, String(cString: strerror(failure))) }
        self.isConnected = true
    }

    private func shakeHands() throws(RedisError) {
        switch try self.tls?.shakeHands() {
        case .done, nil:
            self.hasShakenHands = true
            self.waitsForWriting = false
        case .waits(let forWriting): self.waitsForWriting = forWriting
        case .ended: throw Self.closed
        }
    }

    /// Sends what is queued, as far as the socket takes it.
    func flush() throws(RedisError) {
        guard self.isEstablished else { return }
        self.waitsForWriting = false
        while self.sentCount < self.outgoing.count {
            guard let count = try self.writeOnce() else { return self.forgetSent() }
            self.sentCount += count
        }
        self.outgoing.removeAll(keepingCapacity: self.outgoing.count <= Self.pieceSize)
        self.sentCount = 0
    }

    /// Of a queue that is never empty, too.
    private func forgetSent() {
        guard self.sentCount > 1 << 20 else { return }
        self.outgoing.removeFirst(self.sentCount)
        self.sentCount = 0
    }

    /// How many bytes went out, nil when none can at the moment.
    private func writeOnce() throws(RedisError) -> Int? {
        let progress = try self.outgoing.withUnsafeBufferPointer { all throws(RedisError) -> TLSSession.Progress in
            let rest = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: all[self.sentCount...]))
            if let tls = self.tls { return try tls.write(rest) }
            let count = write(self.descriptor, rest.baseAddress, rest.count)
            if count >= 0 { return .done(count) }
            guard errno == EAGAIN || errno == EINTR else { throw RedisError(.lost, String(cString: strerror(errno))) }
            return .waits(forWriting: true)
        }
        switch progress {
        case .done(let count): return count
        case .waits(let forWriting):
            self.waitsForWriting = forWriting
            return nil
        case .ended: throw Self.closed
        }
    }

    private func read(_ replies: (RedisValue) -> Void) throws(RedisError) {
        var pieces = 0
        // TLS may hold bytes that the socket no longer has: no readiness would tell of them.
        while self.tls != nil || pieces < Self.mostPieces {
            pieces += 1
            guard try self.readOnce() else { return }
            while let reply = try self.reader.next() { replies(reply) }
        }
    }

    /// Whether there was something to read.
    private func readOnce() throws(RedisError) -> Bool {
        let count: Int
        if let tls = self.tls {
            switch try tls.read(into: self.buffer) {
            case .done(let number): count = number
            case .waits(let forWriting):
                self.waitsForWriting = self.waitsForWriting || forWriting
                return false
            case .ended: throw Self.closed
            }
        } else {
            count = Glibc.read(self.descriptor, self.buffer.baseAddress, self.buffer.count)
            if count < 0, errno == EAGAIN || errno == EINTR { return false }
            guard count >= 0 else { throw RedisError(.lost, String(cString: strerror(errno))) }
            guard count > 0 else { throw Self.closed }
        }
        try self.reader.feed(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(self.buffer)[..<count]))
        return true
    }

    private static let closed = RedisError(.lost, "the server closed the connection")
}
