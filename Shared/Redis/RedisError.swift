/// Why a command has no reply.
///
/// Never contains arguments or values.
public struct RedisError: Error, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String { case unavailable, busy, timedOut, lost, refused, invalid, misconfigured }
        private let kind: Kind

        /// Not connected; the command was not sent.
        public static let unavailable = Code(kind: .unavailable)
        /// Too many commands are in flight; the command was not sent.
        public static let busy = Code(kind: .busy)
        /// No reply within the deadline; the command may have run or may run yet.
        public static let timedOut = Code(kind: .timedOut)
        /// The connection ended before the reply; the command may have run.
        public static let lost = Code(kind: .lost)
        /// Redis answered with an error, see `reply`.
        public static let refused = Code(kind: .refused)
        /// The command cannot be used on a shared connection, or is empty.
        public static let invalid = Code(kind: .invalid)
        /// The URL cannot be used.
        public static let misconfigured = Code(kind: .misconfigured)

        /// The name of the kind.
        public var description: String { self.kind.rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// What happened, in words without data.
    public let message: String
    /// The first word of an error reply, as in `WRONGTYPE`; the rest may hold data and is dropped.
    public let reply: String?

    init(_ code: Code, _ message: String, reply: String? = nil) {
        self.code = code
        self.message = message
        self.reply = reply
    }

    /// Whether the command certainly did not run.
    public var wasNotSent: Bool { [.unavailable, .busy, .invalid, .misconfigured].contains(self.code) }

    /// Code and message.
    public var description: String { "redis \(self.code): \(self.message)" }
}
