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
