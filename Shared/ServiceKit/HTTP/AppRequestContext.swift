public import Foundation
public import Hummingbird
public import Messaging
public import NIOCore
public import Primitives

/// What travels with a request through the router.
public struct AppRequestContext: RequestContext {
    /// What the framework needs.
    public var coreContext: CoreRequestContextStorage
    /// Names the request in logs, errors and events; the correlation id of everything it starts.
    public internal(set) var requestID: UUID
    /// The span of this request.
    public internal(set) var trace: TraceContext
    /// Who sends it; set by `AuthenticationMiddleware`.
    public internal(set) var identity: Identity?
    /// The most a body may have.
    public internal(set) var bodyLimit: Int
    /// The connection; a stream closes it when its reader is too slow.
    public let channel: any Channel
    /// Where the request comes from, as far as proxies are believed.
    public internal(set) var client: ClientAddress?

    /// Who opened the connection.
    let peer: ClientAddress?
    var limiter: RateLimiter?
    var cursors: CursorSeal?
    var queries: RouteQueries?
    let bodyBox: RawBodyBox
    let sender = SenderBox()

    /// Creates the context of a request that just arrived.
    public init(source: ApplicationRequestContextSource) {
        self.coreContext = CoreRequestContextStorage(source: source)
        self.requestID = Self.unset
        self.trace = TraceContext(traceHigh: 0, traceLow: 0, span: 0, flags: 0)
        self.bodyLimit = RawBody.defaultLimit
        self.channel = source.channel
        self.peer = source.channel.remoteAddress?.ipAddress.flatMap { ClientAddress(text: $0) }
        self.bodyBox = RawBodyBox()
    }

    private static let unset = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// The request id as headers and logs carry it.
    public var requestIDText: String { self.requestID.lowercased }

    /// The body, once it was read; its hash is what approvals and idempotency keys are bound to.
    public var rawBody: RawBody? { self.bodyBox.current }

    /// What events and jobs of this request are caused by.
    public var cause: Cause {
        Cause(correlationID: self.requestID, causationID: self.requestID, traceparent: self.trace.text)
    }

    /// Who sends the request.
    ///
    /// - Throws: `APIError.unauthenticated` on a route without `AuthenticationMiddleware`.
    public func requireIdentity() throws(APIError) -> Identity {
        guard let identity = self.identity else { throw .unauthenticated }
        return identity
    }

    /// Says that it is known who sends the request, a person, a program or an operator.
    ///
    /// The middleware that verifies tokens says it; a controller that verifies a signature by itself has to.
    public func senderIsKnown() { self.sender.know() }

    /// A path parameter that is a UUID.
    ///
    /// - Throws: 404 for anything else: no such thing can exist.
    public func uuid(_ parameter: String) throws(APIError) -> UUID {
        guard let text = self.parameters.get(parameter), let id = UUID(text: text) else {
            throw .notFound(parameter: parameter)
        }
        return id
    }
}
