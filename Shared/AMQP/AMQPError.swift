/// What went wrong between this process and the broker.
///
/// Never contains bodies, headers or credentials.
public struct AMQPError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; more kinds may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name shown in logs.
        public let description: String

        /// A URL or an option that cannot be used.
        public static let invalidConfiguration = Code(description: "invalid configuration")
        /// A message that the protocol cannot carry.
        ///
        /// It was not sent.
        public static let invalidMessage = Code(description: "invalid message")
        /// No connection could be made: no such host, refused, or no answer in time.
        public static let connectFailed = Code(description: "connect failed")
        /// The TLS handshake failed, or the certificate is not the host's.
        public static let tlsFailed = Code(description: "TLS failed")
        /// The broker refused the user, the password or the virtual host.
        public static let loginRefused = Code(description: "login refused")
        /// The connection ended.
        public static let connectionClosed = Code(description: "connection closed")
        /// The broker closed the channel; `replyCode` says why.
        public static let channelClosed = Code(description: "channel closed")
        /// The peer was silent for two heartbeats.
        public static let heartbeatMissed = Code(description: "heartbeat missed")
        /// A call into the library took too long and its socket was shut down.
        public static let callStuck = Code(description: "call stuck")
        /// No answer within the deadline.
        public static let timedOut = Code(description: "timed out")
        /// The peer sent something that the protocol does not allow here.
        public static let protocolViolation = Code(description: "protocol violation")
        /// More messages are waiting than the publisher keeps.
        ///
        /// It was not sent.
        public static let overloaded = Code(description: "overloaded")
        /// The client was stopped.
        public static let stopped = Code(description: "stopped")
    }

    /// The kind of failure.
    public let code: Code
    /// What was being done and what was said about it.
    public let message: String
    /// The broker's reply code, such as 404 or 406, when the broker gave one.
    public let replyCode: UInt16?
    /// Where it was noticed.
    public let file: String
    /// Where it was noticed.
    public let line: UInt

    init(_ code: Code, _ message: String, replyCode: UInt16? = nil, file: String = #fileID, line: UInt = #line) {
        self.code = code
        self.message = message
        self.replyCode = replyCode
        self.file = file
        self.line = line
    }

    /// Whether a queue, an exchange or a virtual host does not exist.
    public var isNotFound: Bool { self.replyCode == 404 }

    /// Whether something exists already with other arguments.
    public var isPreconditionFailed: Bool { self.replyCode == 406 }

    /// The kind, the reply code and the message.
    public var description: String {
        let reply = self.replyCode.map { " (\($0))" } ?? ""
        return "AMQP \(self.code)\(reply): \(self.message)"
    }
}
