import AnchorClient
import Cryptography
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import OutgoingHTTP
import ServiceLifecycle
import Synchronization
import Testing

@testable import SandboxService

/// What came in at a webhook.
struct ReceivedWebhook: Sendable {
    let body: [UInt8]
    let signature: String
    let isPacked: Bool

    var event: WebhookEvent? { try? WebhookEvent(parsing: self.body) }

    /// Checked with code of its own, not with the sandbox's.
    func isSigned(with token: String) -> Bool {
        let code = HMAC<Insecure.SHA1>.authenticationCode(
            for: self.body,
            using: SymmetricKey(data: Data(token.utf8))
        )
        let hex = code.map { String(format: "%02x", $0) }.joined()
        return self.signature == Data(hex.utf8).base64EncodedString()
    }
}

/// A server that keeps what it gets and answers with a status that can be changed.
final class WebhookReceiver: Sendable {
    private let received: AsyncStream<ReceivedWebhook>
    private let continuation: AsyncStream<ReceivedWebhook>.Continuation
    private let failures = Mutex(0)

    init() { (self.received, self.continuation) = AsyncStream.makeStream() }

    /// Answers 500 that many times before 200.
    func fail(_ times: Int) { self.failures.withLock { $0 = times } }

    /// The next webhooks, in order of arrival.
    func next(
        _ count: Int,
        where matches: @Sendable (ReceivedWebhook) -> Bool = { _ in true }
    ) async
        -> [ReceivedWebhook]
    {
        var found: [ReceivedWebhook] = []
        for await webhook in self.received where matches(webhook) {
            found.append(webhook)
            if found.count == count { break }
        }
        return found
    }

    fileprivate func take(_ request: Request) async throws -> Response {
        let body = try await request.body.collect(upTo: 1024 * 1024)
        // Before anybody hears of the request, who could change the answer.
        let fails = self.failures.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        let name = HTTPField.Name("x-anchor-signature")
        self.continuation.yield(
            ReceivedWebhook(
                body: Array(body.readableBytesView),
                signature: name.flatMap { request.headers[$0] } ?? "",
                isPacked: request.headers[.contentEncoding] == "gzip"
            )
        )
        return Response(status: fails ? .internalServerError : .ok)
    }

    /// Runs the server while the body runs, on a free port unless one is given.
    func run(port: Int = 0, _ body: @Sendable @escaping (String) async throws -> Void) async throws {
        let router = Router()
        router.post("hook") { request, _ in try await self.take(request) }
        let (ports, announce) = AsyncStream<Int>.makeStream()
        var logger = Logger(label: "receiver")
        logger.logLevel = .error
        let server = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { announce.yield($0.localAddress?.port ?? 0) },
            logger: logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            let services = ServiceGroup(configuration: .init(services: [server], logger: logger))
            group.addTask { try await services.run() }
            let port = try #require(await ports.first { _ in true })
            let result: Result<Void, any Error>
            do { result = .success(try await body("http://127.0.0.1:\(port)/hook")) } catch { result = .failure(error) }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
            try result.get()
        }
    }
}

/// Runs a receiver and a sandbox that sends to it.
func withWebhooks(
    _ body: @Sendable @escaping (SandboxHandle, WebhookReceiver) async throws -> Void
) async throws {
    let receiver = WebhookReceiver()
    try await receiver.run { url in
        try await withSandbox(webhookURL: url) { sandbox in
            try await sandbox.control(.patch, "switches", ["webhookRetryMs": 10])
            try await body(sandbox, receiver)
        }
    }
}
