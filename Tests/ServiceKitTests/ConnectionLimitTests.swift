import EventLoops
import HTTPTypes
import Hummingbird
import NIOCore
import TestSupport
import Testing

@testable import ServiceKit

@Suite("how long a connection may keep us waiting")
struct ConnectionLimitTests {
    private static let request = "GET /small HTTP/1.1\r\nHost: a\r\n\r\n"
    /// More than the buffers of two sockets hold.
    private static let much = 48 * 1024 * 1024

    /// A service with these limits in seconds, and whether the connection of its long answer is closed.
    private func serving(
        head: Int = 600,
        idle: Int = 600,
        stall: Int = 600,
        _ body: @Sendable (_ port: Int, _ isLeft: Locked<Bool>) async throws -> Void
    ) async throws {
        let isLeft = Locked(false)
        let variables = [
            "REQUEST_HEAD_SECONDS": "\(head)", "CONNECTION_IDLE_SECONDS": "\(idle)", "ANSWER_STALL_SECONDS": "\(stall)",
        ]
        try await withRunningHost(
            variables: variables,
            routes: { router in
                router.get("/small") { _, _ in APIResponse(.ok, body: Array("1".utf8)) }
                router.get("/slow") { _, _ in
                    try await Task.sleep(for: .seconds(3))
                    return APIResponse(.ok, body: Array("1".utf8))
                }
                router.get("/long") { _, context in
                    context.channel.closeFuture.whenComplete { _ in isLeft.withLock { $0 = true } }
                    return Response(
                        status: .ok,
                        body: ResponseBody(byteBuffer: ByteBuffer(repeating: 0x20, count: Self.much))
                    )
                }
            },
            { running in try await body(await running.host.publicPort.value, isLeft) }
        )
    }

    @Test("half a head is waited for so long, however slowly the rest comes")
    func head() async throws {
        try await self.serving(head: 1) { port, _ in
            let (silent, slow) = (try RawConnection(to: port), try RawConnection(to: port))
            silent.say("GET /small HTTP/1.1\r\nHost: ")
            slow.say("GET /small HTTP/1.1\r\nX: ")
            try await eventually("the slow one to be left") {
                slow.say("x")
                return slow.read() == 0
            }
            let answered = try await silent.readToEnd()
            #expect(answered == 0)
        }
    }

    @Test("a connection on which nothing happens ends, before its first request and after an answer")
    func idle() async throws {
        try await self.serving(idle: 1) { port, _ in
            let (silent, polite) = (try RawConnection(to: port), try RawConnection(to: port))
            polite.say(Self.request)
            let (nothing, answer) = (try await silent.readToEnd(), try await polite.readToEnd())
            #expect(nothing == 0 && answer > 0)
        }
    }

    @Test("a request that takes long is not idle")
    func underWay() async throws {
        try await self.serving(head: 1, idle: 1, stall: 1) { port, _ in
            let connection = try RawConnection(to: port)
            connection.say("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try await connection.readToEnd()
            #expect(answer > 0)
        }
    }

    @Test(
        "a reader that takes nothing of a long answer is left, and what it was to get is forgotten",
        arguments: [1, 600]
    )
    func stalled(head: Int) async throws {
        try await self.serving(head: head, stall: 1) { port, isLeft in
            let connection = try RawConnection(to: port)
            connection.say("GET /long HTTP/1.1\r\nHost: a\r\n\r\n")
            try await eventually("the reader to be left") { isLeft.withLock { $0 } }
            let taken = try await connection.readToEnd()
            #expect(taken < Self.much)
        }
    }

    @Test("a slow reader that goes on gets all of a long answer")
    func slowReader() async throws {
        try await self.serving(head: 5, idle: 5, stall: 5) { port, _ in
            let connection = try RawConnection(to: port)
            connection.say("GET /long HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let start = ContinuousClock.now
            var total = 0
            while true {
                let count = try await self.next(connection)
                guard count > 0 else { break }
                total += count
                // Longer than a reader that takes nothing is waited for.
                if ContinuousClock.now - start < .seconds(7) { try await Task.sleep(for: .milliseconds(20)) }
            }
            #expect(total > Self.much)
        }
    }

    private func next(_ connection: RawConnection) async throws -> Int {
        try await eventually("something to read", within: .seconds(20)) { connection.read(256 * 1024) }
    }
}
