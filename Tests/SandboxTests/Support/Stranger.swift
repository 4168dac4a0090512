import NIOCore
import NIOHTTP1
import NIOPosix
import Primitives
import Synchronization

/// Another server behind the receiver's address: it knows nothing and keeps every connection, also when it takes no more.
final class Stranger: Sendable {
    let port: Int
    private let listener: any Channel
    private let kept: Kept

    init() async throws {
        let kept = Kept()
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                kept.add(channel)
                return channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(Refusal(kept))
                }
            }
        self.listener = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
        self.port = self.listener.localAddress?.port ?? 0
        self.kept = kept
    }

    /// How many requests it has answered.
    var asked: Int { self.kept.requests }

    /// Leaves the port to somebody else; what is connected stays connected.
    func stopListening() async throws { try await self.listener.close() }

    /// Ends what is still connected.
    func end() async throws {
        for channel in self.kept.channels where channel.isActive { try? await channel.close() }
    }
}

private final class Kept: Sendable {
    private let state = Mutex<(channels: [any Channel], requests: Int)>(([], 0))

    var channels: [any Channel] { self.state.withLock(\.channels) }
    var requests: Int { self.state.withLock(\.requests) }

    func add(_ channel: any Channel) { self.state.withLock { $0.channels.append(channel) } }
    func count() { self.state.withLock { $0.requests += 1 } }
}

/// Answers everything with 404.
private final class Refusal: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let kept: Kept

    init(_ kept: Kept) { self.kept = kept }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = self.unwrapInboundIn(data) else { return }
        self.kept.count()
        let head = HTTPResponseHead(version: .http1_1, status: .notFound, headers: ["content-length": "0"])
        context.write(self.wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
    }
}
