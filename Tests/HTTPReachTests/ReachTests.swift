import AsyncHTTPClient
import EventLoops
import HTTPReach
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@Suite("reaching a peer")
struct ReachTests {
    @Test("who is away is given up when patience ends, and when the limit does")
    func refused() async throws {
        try await Self.withClient { http in
            let request = HTTPClientRequest(url: "http://127.0.0.1:\(try freePort())/")
            for (limit, patience) in [(2, 60), (60, 2)] as [(Int64, Int64)] {
                let begin = ContinuousClock.now
                await #expect(throws: (any Error).self) {
                    try await http.reach(request, within: .seconds(limit), patience: .seconds(patience))
                }
                let took = ContinuousClock.now - begin
                #expect(took > .seconds(1.5) && took < .seconds(20))
            }
        }
    }

    @Test("who comes while somebody waits is reached once, with an order too")
    func awaited() async throws {
        let port = try freePort()
        let request = Self.order("http://localhost:\(port)/")
        let asked = Locked(0)
        try await Self.withClient { http in
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(500))
                    try? await Self.withListener(port, asked) { try await Task.sleep(for: .seconds(60)) }
                }
                let response = try await http.reach(request, within: .seconds(20), patience: .seconds(20))
                #expect(response.status.code == 200)
                group.cancelAll()
            }
        }
        #expect(asked.withLock { $0 } == 1)
    }

    @Test("an answer that does not come is not asked for again")
    func silence() async throws {
        let asked = Locked(0)
        let port = try freePort()
        try await Self.withClient { http in
            try await Self.withListener(port, asked, delay: .seconds(20)) {
                let request = Self.order("http://127.0.0.1:\(port)/")
                await #expect(throws: HTTPClientError.deadlineExceeded) {
                    try await http.reach(request, within: .seconds(5))
                }
            }
        }
        #expect(asked.withLock { $0 } == 1)
    }

    private static func order(_ url: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        return request
    }

    private static func withClient(_ body: (HTTPClient) async throws -> Void) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.retryConnectionEstablishment = false
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            try await body(http)
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }

    private static func withListener(
        _ port: Int,
        _ asked: Locked<Int>,
        delay: Duration = .zero,
        _ body: () async throws -> Void
    ) async throws {
        let router = Router()
        router.post("/") { _, _ in
            asked.withLock { $0 += 1 }
            try await Task.sleep(for: delay)
            return "here"
        }
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        try await withThrowingDiscardingTaskGroup { group in
            // Ends with an error when it is cancelled.
            group.addTask { _ = try? await application.run() }
            try await body()
            group.cancelAll()
        }
    }
}
