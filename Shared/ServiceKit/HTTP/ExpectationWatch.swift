import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

/// Answers `Expect: 100-continue` (RFC 9110, 10.1.1): a client that asks before it sends a body hears 100 as soon as the
/// body is wanted, and otherwise what it would have heard after the body.
///
/// Belongs to the connection's event loop.
final class ExpectationWatch: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Whoever answers the request reads its body now.
    struct BodyIsWanted: Sendable {}

    /// Requests that have come and are not answered to their end: a client may send the next before it has read.
    private var unanswered = 0
    /// Whether the newest request waits for a word before its body.
    private var isWaiting = false
    /// Whether the answer under way is the last one here.
    private var isLast = false

    /// What is owed to the newest request is owed now only when those before it are answered.
    private var owesWord: Bool { self.isWaiting && self.unanswered == 1 }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head):
            self.unanswered += 1
            // Who speaks HTTP/1.0 does not know what 100 is.
            self.isWaiting = head.version.minor >= 1 && Self.asks(head.headers)
        case .body, .end:
            self.isWaiting = false
        }
        context.fireChannelRead(data)
    }

    private static func asks(_ headers: HTTPHeaders) -> Bool {
        headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" }
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is BodyIsWanted else { return context.triggerUserOutboundEvent(event, promise: promise) }
        if self.owesWord {
            self.isWaiting = false
            let word = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(self.wrapOutboundOut(.head(word)), promise: nil)
        }
        promise?.succeed()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch self.unwrapOutboundIn(data) {
        case .head(var head):
            // The client may leave the body out, or send it all the same: nobody could tell what the next bytes are.
            if self.owesWord {
                self.isLast = true
                head.headers.replaceOrAdd(name: "Connection", value: "close")
            }
            context.write(self.wrapOutboundOut(.head(head)), promise: promise)
        case .body:
            context.write(data, promise: promise)
        case .end:
            self.unanswered -= 1
            guard self.isLast else { return context.write(data, promise: promise) }
            let told = promise ?? context.eventLoop.makePromise(of: Void.self)
            // Only our half: a client that still sends would lose the answer to a reset.
            told.futureResult.assumeIsolated().whenComplete { _ in context.close(mode: .output, promise: nil) }
            context.write(data, promise: told)
        }
    }
}

/// The body of a request whose client waits for a word before it sends it: reading it says the word.
struct AwaitedBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let body: RequestBody
    let channel: any Channel

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var body: RequestBody.AsyncIterator
        fileprivate var channel: (any Channel)?

        mutating func next() async throws -> ByteBuffer? {
            try await self.next(isolation: #isolation)
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> ByteBuffer? {
            self.channel?.triggerUserOutboundEvent(ExpectationWatch.BodyIsWanted(), promise: nil)
            self.channel = nil
            return try await self.body.next(isolation: actor)
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body: self.body.makeAsyncIterator(), channel: self.channel)
    }
}

extension Request {
    /// The request as it is routed: what its client expects of us is met when the body is read.
    ///
    /// - Throws: 417 for an expectation that there is not.
    func meetingExpectation(on channel: any Channel) throws(APIError) -> Request {
        guard let expectation = self.headers[.expect] else { return self }
        guard expectation.lowercased() == "100-continue" else { throw .expectationFailed }
        var request = self
        request.body = RequestBody(asyncSequence: AwaitedBody(body: self.body, channel: channel))
        return request
    }
}

extension APIError {
    /// 417.
    static let expectationFailed = APIError(
        .expectationFailed,
        code: "expectation_failed",
        detail: "100-continue is all that can be expected.",
        source: .header("Expect")
    )
}
