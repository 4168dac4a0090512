import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// How long the other side of a connection may keep us waiting.
struct ConnectionLimits: Sendable {
    /// For the rest of a request's head, once its first byte has come.
    let head: Duration
    /// Between an answer and the next request, and between two pieces of a body.
    let idle: Duration
    /// For a reader to take the next piece of an answer.
    let stall: Duration
}

/// HTTP/1.1 whose connections end when the other side keeps us waiting.
struct LimitedHTTP: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    private let http: HTTP1Channel
    private let limits: ConnectionLimits

    /// A server whose connections have these limits.
    static func server(_ limits: ConnectionLimits) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            let configuration = HTTP1Channel.Configuration(idleTimeout: TimeAmount(limits.idle))
            return LimitedHTTP(
                http: HTTP1Channel(responder: responder, configuration: configuration),
                limits: limits
            )
        }
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let watch = ConnectionWatch(self.limits)
        let pipeline = channel.pipeline.syncOperations
        do {
            // The first to see bytes that come, and the last to see bytes that go.
            try pipeline.addHandler(watch)
            let value = self.http.setup(channel: channel, logger: logger)
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(ExpectationWatch(), position: .after(decoder))
            let state = try pipeline.handler(type: HTTPConnectionStateHandler.self)
            try pipeline.addHandler(PartWatch(watch), position: .before(state))
            return value
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    func handle(value: Value, logger: Logger) async {
        await self.http.handle(value: value, logger: logger)
    }
}

/// Closes a connection whose other side sends half a head, or takes nothing of an answer.
///
/// Belongs to the connection's event loop.
final class ConnectionWatch: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private let head: TimeAmount
    private let stall: TimeAmount
    /// Since when bytes wait for the rest of what they begin.
    private var unfinished: NIODeadline?
    /// Since when the reader has taken nothing, while much waits for it.
    private var untaken: NIODeadline?
    private var timer: Scheduled<Void>?
    /// When the timer looks.
    private var looksAt = NIODeadline.distantFuture

    /// A long answer goes out in pieces: each that is taken is a sign of life.
    private static let piece = 128 * 1024

    init(_ limits: ConnectionLimits) {
        self.head = TimeAmount(limits.head)
        self.stall = TimeAmount(limits.stall)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if self.unfinished == nil {
            self.unfinished = .now()
            self.watch(context)
        }
        context.fireChannelRead(data)
    }

    /// What has come is a whole part of a request.
    func partWasRead() { self.unfinished = nil }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(var buffer) = self.unwrapOutboundIn(data), buffer.readableBytes > Self.piece else {
            return context.write(data, promise: promise)
        }
        while buffer.readableBytes > Self.piece, let piece = buffer.readSlice(length: Self.piece) {
            let taken = context.eventLoop.makePromise(of: Void.self)
            taken.futureResult.assumeIsolated().whenComplete { _ in self.pieceWasTaken() }
            context.write(self.wrapOutboundOut(.byteBuffer(piece)), promise: taken)
        }
        context.write(self.wrapOutboundOut(.byteBuffer(buffer)), promise: promise)
    }

    private func pieceWasTaken() {
        if self.untaken != nil { self.untaken = .now() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            self.untaken = nil
        } else if self.untaken == nil {
            self.untaken = .now()
            self.watch(context)
        }
        context.fireChannelWritabilityChanged()
    }

    /// Who is still taking an answer gets the rest of it first: HTTP holds it for told when it has been handed over.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard self.untaken != nil, mode != .input else { return context.close(mode: mode, promise: promise) }
        let told = context.eventLoop.makePromise(of: Void.self)
        told.futureResult.assumeIsolated().whenComplete { _ in context.close(mode: mode, promise: promise) }
        context.writeAndFlush(self.wrapOutboundOut(.byteBuffer(ByteBuffer())), promise: told)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.timer = nil
        (self.unfinished, self.untaken) = (nil, nil)
        context.fireChannelInactive()
    }

    private var due: NIODeadline? {
        let times = [self.unfinished.map { $0 + self.head }, self.untaken.map { $0 + self.stall }]
        return times.compactMap { $0 }.min()
    }

    /// One timer at a time looks again when it is due: an ordinary request costs none of its own.
    ///
    /// Only what is due earlier takes its place: what may be silent for long must not hide what may not.
    private func watch(_ context: ChannelHandlerContext) {
        guard let due = self.due else { return }
        if let timer = self.timer {
            guard due < self.looksAt else { return }
            timer.cancel()
        }
        self.looksAt = due
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: due) {
            self.timer = nil
            if let due = self.due, due <= .now() {
                context.close(promise: nil)
            } else {
                self.watch(context)
            }
        }
    }
}

/// Tells the watch of its connection what HTTP has understood of the bytes.
final class PartWatch: ChannelInboundHandler {
    typealias InboundIn = Never

    private let connection: ConnectionWatch

    init(_ connection: ConnectionWatch) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.connection.partWasRead()
        context.fireChannelRead(data)
    }
}
