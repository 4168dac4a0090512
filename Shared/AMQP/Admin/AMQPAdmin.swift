public import Logging

/// Declares and inspects exchanges, queues and bindings.
///
/// A refusal by the broker is an `AMQPError` with its reply code: 404 not found, 406 exists with other arguments,
/// 403 not allowed, 405 locked. The admin can be used on after it.
public final class AMQPAdmin: Sendable {
    /// How an exchange routes.
    public enum ExchangeKind: String, Sendable {
        /// By pattern of words.
        case topic
        /// By equal key.
        case direct
        /// To every queue.
        case fanout
        /// By headers.
        case headers
    }

    /// How a queue keeps its messages.
    public enum QueueKind: String, Sendable {
        /// Replicated, the one for work that must not get lost.
        case quorum
        /// A log that is read by offset and keeps what was read.
        case stream
        /// The old kind.
        case classic
    }

    /// What a look at a queue showed.
    public struct QueueStatus: Sendable, Hashable {
        /// How many messages are ready.
        public let messages: Int
        /// How many consumers there are.
        public let consumers: Int

        /// Makes a status.
        public init(messages: Int, consumers: Int) {
            self.messages = messages
            self.consumers = consumers
        }
    }

    private let session: AdminSession

    private init(_ session: AdminSession) { self.session = session }

    /// Lends an admin that connects on first use, again after a lost connection, and is closed at the end.
    public static func withConnection<Value>(
        _ configuration: AMQPConfiguration,
        logger: Logger,
        _ body: (AMQPAdmin) async throws -> Value
    ) async throws -> Value {
        // Requests come one after the other and each has a timeout: heartbeats would only end long pauses between them.
        let session = AdminSession(
            configuration,
            threads: LinkThreads(name: "amqp-admin", configuration: configuration)
        )
        do {
            let value = try await body(AMQPAdmin(session))
            await session.close()
            return value
        } catch {
            await session.close()
            throw error
        }
    }

    /// Makes a durable exchange, or checks that it is there just so.
    public func declareExchange(
        _ name: String,
        kind: ExchangeKind = .topic,
        arguments: [String: AMQPValue] = [:]
    ) async throws(AMQPError) {
        try await self.session.declareExchange(name, kind: kind, arguments: arguments)
    }

    /// Throws 404 unless the exchange exists.
    public func checkExchange(_ name: String) async throws(AMQPError) { try await self.session.checkExchange(name) }

    /// Deletes an exchange; one that is not there is fine.
    public func deleteExchange(_ name: String) async throws(AMQPError) { try await self.session.deleteExchange(name) }

    /// Makes a durable queue, or checks that it is there just so.
    @discardableResult
    public func declareQueue(
        _ name: String,
        kind: QueueKind = .quorum,
        arguments: [String: AMQPValue] = [:]
    ) async throws(AMQPError) -> QueueStatus {
        try await self.session.declareQueue(name, kind: kind, arguments: arguments)
    }

    /// Looks at a queue; throws 404 when it is not there.
    public func passiveDeclare(_ name: String) async throws(AMQPError) -> QueueStatus {
        try await self.session.passiveDeclare(name)
    }

    /// Deletes a queue with all it holds; one that is not there is fine.
    ///
    /// - Returns: How many messages went with it.
    @discardableResult
    public func deleteQueue(_ name: String) async throws(AMQPError) -> Int { try await self.session.deleteQueue(name) }

    /// Drops the messages that are ready.
    ///
    /// Streams cannot be purged, trying ends the connection.
    ///
    /// - Returns: How many were dropped.
    @discardableResult
    public func purge(_ name: String) async throws(AMQPError) -> Int { try await self.session.purge(name) }

    /// Routes messages of an exchange with this key (or pattern) to a queue.
    public func bind(
        queue: String,
        exchange: String,
        routingKey: String,
        arguments: [String: AMQPValue] = [:]
    ) async throws(AMQPError) {
        try await self.session.bind(queue: queue, exchange: exchange, routingKey: routingKey, arguments: arguments)
    }

    /// Ends a binding; one that is not there is fine.
    public func unbind(
        queue: String,
        exchange: String,
        routingKey: String,
        arguments: [String: AMQPValue] = [:]
    ) async throws(AMQPError) {
        try await self.session.unbind(queue: queue, exchange: exchange, routingKey: routingKey, arguments: arguments)
    }
}
