import EventLoops
import OutgoingHTTP
import TestSupport
import Testing

/// A connection that dies at each byte of an order and of its answer: the order is never there twice, and one that came
/// whole is never called unsent.
@Suite("a connection that dies at each byte")
struct EveryByteTests {
    enum Death: CaseIterable, Sendable {
        case closed
        case reset
    }

    // After so many bytes of the second request on a connection, or of the first.
    @Test("of an order", arguments: [false, true], Death.allCases)
    func request(isKept: Bool, death: Death) async throws {
        let length = try await Self.lengthOfOrder()
        try await Self.each(0...length) { count in
            try await RudeServer.with(
                Manners { connection in
                    // After nothing of the order, it goes over another connection, which is one that lives.
                    if isKept, connection.number == 2 { return connection.answerAll() }
                    if isKept {
                        guard connection.request() != nil, connection.answer() else { return }
                    }
                    let isWhole = count == length ? connection.request() != nil : connection.swallow(count)
                    if isWhole, death == .reset { connection.reset() }
                }
            ) { server in
                try await Self.send(server, isKept: isKept) { failure, orders in
                    let what = "after \(count) bytes: \(String(describing: failure))"
                    if count == 0 {
                        // The end of a connection is noticed before it is written to, or not in time.
                        #expect(orders == (failure == nil && isKept ? 1 : 0), "\(what)")
                        #expect(failure != nil || isKept, "\(what)")
                    } else {
                        #expect(orders == (count == length ? 1 : 0), "\(what)")
                        #expect(failure?.isUnsent == false, "\(what)")
                    }
                }
            }
        }
    }

    @Test("of an answer", arguments: [false, true], Death.allCases)
    func answer(isKept: Bool, death: Death) async throws {
        let answer = "HTTP/1.1 201 Made\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"id\":\"t1\"}"
        try await Self.each(0...answer.utf8.count) { count in
            try await RudeServer.with(
                Manners { connection in
                    if isKept {
                        guard connection.request() != nil, connection.answer() else { return }
                    }
                    guard connection.request() != nil else { return }
                    connection.write(String(decoding: answer.utf8.prefix(count), as: UTF8.self))
                    if death == .reset { connection.reset() }
                }
            ) { server in
                try await Self.send(server, isKept: isKept) { failure, orders in
                    #expect(orders == 1, "after \(count) bytes")
                    // A reset may overtake the answer; what is whole is taken.
                    if count < answer.utf8.count { #expect(failure?.isUnsent == false, "after \(count) bytes") }
                    if let failure {
                        #expect(failure == HTTPFailure(reason: .broken, isUnsent: false, status: failure.status))
                    }
                }
            }
        }
    }

    /// Sends an order over a new connection or a kept one, and counts how often the server has it.
    private static func send(
        _ server: RudeServer,
        isKept: Bool,
        _ check: (HTTPFailure?, Int) -> Void
    ) async throws {
        try await withHTTP { http async throws in
            if isKept { _ = try await http.send(HTTPCall(.get, server.url), within: plenty) }
            let failure = await http.failure(order(server.url))
            check(failure, server.requests.count { $0.method == "POST" })
        }
    }

    private static func lengthOfOrder() async throws -> Int {
        // A port of as many digits as those of the servers: all have five.
        let length = Locked(0)
        try await RudeServer.with(
            Manners { connection in
                while connection.swallow(1) {
                    let count = length.withLock { length in
                        length += 1
                        return length
                    }
                    if count > 10_000 { return }
                }
            }
        ) { server in
            try await withHTTP { http async throws in
                _ = await http.failure(order(server.url), within: .seconds(3))
            }
        }
        return length.withLock { $0 }
    }

    /// Eight at a time.
    private static func each(
        _ range: ClosedRange<Int>,
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for lane in 0..<8 {
                group.addTask {
                    for count in range where count % 8 == lane { try await body(count) }
                }
            }
        }
    }
}
