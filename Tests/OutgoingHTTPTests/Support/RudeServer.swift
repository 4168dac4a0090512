import EventLoops
import Glibc
import TestSupport

/// What a server does with a connection, on a thread of its own; it is closed when that returns.
struct Manners: Sendable {
    let act: @Sendable (_ connection: RudeConnection) -> Void

    init(_ act: @escaping @Sendable (_ connection: RudeConnection) -> Void) { self.act = act }
}

/// A server on loopback that does with each connection what a test says, and keeps books of what it was asked.
///
/// It speaks HTTP/1.1 (RFC 9112) by sockets alone, so that it can also speak it badly.
final class RudeServer: Sendable {
    /// What has come, whole.
    struct Request: Sendable {
        let method: String
        let path: String
        let headers: [(name: String, value: String)]
        let body: String

        func values(_ name: String) -> [String] {
            self.headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        }
    }

    private struct Books {
        var connections = 0
        var requests: [Request] = []
        var open: Set<CInt> = []
        var isStopped = false
    }

    let port: Int
    private let listener: CInt
    private let books = Locked(Books())

    var url: String { "http://127.0.0.1:\(self.port)" }
    /// How many connections were made.
    var connections: Int { self.books.withLock { $0.connections } }
    /// The requests that came whole, in the order of coming.
    var requests: [Request] { self.books.withLock { $0.requests } }

    init(on port: Int? = nil, _ manners: Manners) throws {
        self.port = try port ?? freePort()
        self.listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var yes: CInt = 1
        setsockopt(self.listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
        guard withLoopback(self.port, { bind(self.listener, $0, $1) }) == 0, listen(self.listener, 512) == 0 else {
            throw TestFailure("no socket to listen on: errno \(errno)")
        }
        self.books.withLock { _ = $0.open.insert(self.listener) }
        SideThread.start { self.serve(manners) }
    }

    /// Runs `body` with a server.
    static func with(
        on port: Int? = nil,
        _ manners: Manners,
        _ body: (RudeServer) async throws -> Void
    ) async throws {
        let server = try RudeServer(on: port, manners)
        defer { server.stop() }
        try await body(server)
    }

    /// Ends it with all its connections.
    func stop() {
        // Under the lock in which sockets are closed: the number of a closed one may be somebody else's at once.
        self.books.withLock { books in
            books.isStopped = true
            for socket in books.open { shutdown(socket, CInt(SHUT_RDWR)) }
        }
    }

    private func serve(_ manners: Manners) {
        defer {
            self.books.withLock { books in
                books.open.remove(self.listener)
                close(self.listener)
            }
        }
        while true {
            let socket = accept(self.listener, nil, nil)
            guard socket >= 0 else { return }
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            let number = self.books.withLock { books -> Int? in
                guard !books.isStopped else { return nil }
                books.connections += 1
                books.open.insert(socket)
                return books.connections
            }
            guard let number else {
                _ = close(socket)
                return
            }
            SideThread.start {
                manners.act(RudeConnection(socket: socket, number: number, server: self))
                self.books.withLock { books in
                    books.open.remove(socket)
                    close(socket)
                }
            }
        }
    }

    fileprivate func note(_ request: Request) { self.books.withLock { $0.requests.append(request) } }
}

/// A connection as a rude server has it; belongs to its thread.
final class RudeConnection {
    /// Which one it is, from 1.
    let number: Int
    private let socket: CInt
    private let server: RudeServer
    private var read: [UInt8] = []

    fileprivate init(socket: CInt, number: Int, server: RudeServer) {
        self.socket = socket
        self.number = number
        self.server = server
    }

    /// The next request, noted in the books; nil when the client ends before it is whole.
    func request() -> RudeServer.Request? {
        let end = Array("\r\n\r\n".utf8)
        while self.read.firstRange(of: end) == nil { guard self.readMore() else { return nil } }
        guard let range = self.read.firstRange(of: end) else { return nil }
        let lines = String(decoding: self.read[..<range.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let headers = lines.dropFirst().map { line -> (name: String, value: String) in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.count < 2 ? "" : String(parts[1].drop { $0 == " " }))
        }
        let length = headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
        while self.read.count < range.upperBound + length { guard self.readMore() else { return nil } }
        let body = String(decoding: self.read[range.upperBound..<(range.upperBound + length)], as: UTF8.self)
        self.read.removeFirst(range.upperBound + length)
        let words = lines[0].split(separator: " ")
        let request = RudeServer.Request(
            method: String(words[0]),
            path: String(words.dropFirst().first ?? ""),
            headers: headers,
            body: body
        )
        self.server.note(request)
        return request
    }

    /// Answers a request; false when the client is gone.
    @discardableResult
    func answer(_ status: Int = 200, _ body: String = "", headers: String = "") -> Bool {
        self.write("HTTP/1.1 \(status) Word\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)")
    }

    /// Answers every request in the same way, for as long as the client likes.
    func answerAll(_ body: String = "") { while self.request() != nil, self.answer(200, body) {} }

    @discardableResult
    func write(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(self.socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Reads so many bytes of whatever comes, which then were never read; false when the client ends before.
    func swallow(_ count: Int) -> Bool {
        while self.read.count < count { guard self.readMore(atMost: count - self.read.count) else { return false } }
        self.read.removeFirst(count)
        return true
    }

    /// Waits until the client ends the connection.
    func awaitEnd() { while self.readMore() {} }

    /// Says no more, and reads on.
    func finish() { shutdown(self.socket, CInt(SHUT_WR)) }

    /// Ends the connection with a reset: what was on its way is lost.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(self.socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    private func readMore(atMost count: Int = 65_536) -> Bool {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = recv(self.socket, &bytes, count, 0)
        guard got > 0 else { return false }
        self.read.append(contentsOf: bytes[..<got])
        return true
    }
}
