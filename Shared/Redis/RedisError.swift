/// Why a command has no reply.
///
/// Never contains arguments or values.
public struct RedisError: Error, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable, CaseIterable {
        /// Not connected; the command was not sent.
        case unavailable
        /// Too many commands are in flight; the command was not sent.
        case busy
        /// No reply within the deadline; the command may have run or may run yet.
        case timedOut = "timed_out"
        /// The connection ended before the reply; the command may have run.
        case lost
        /// A replica was asked to write: there was a failover, and the connection is replaced.
        case readOnly = "read_only"
        /// Redis has started and still reads its data.
        case loading
        /// Redis has no memory left, and its policy evicts nothing.
        case outOfMemory = "out_of_memory"
        /// Redis is a cluster, which this client does not know.
        case cluster
        /// The access list does not allow the command, or not on this key.
        case notPermitted = "not_permitted"
        /// Redis answered with another error, see `reply`.
        case refused
        /// The command cannot be used on a shared connection, or is empty.
        case invalid
        /// The URL cannot be used.
        case misconfigured
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

    /// What an error reply that begins with this word means.
    init(reply word: String) {
        let code: Code =
            switch word {
            case "READONLY", "MASTERDOWN": .readOnly
            case "LOADING", "BUSY": .loading
            case "OOM", "MISCONF", "NOREPLICAS": .outOfMemory
            case "MOVED", "ASK", "CLUSTERDOWN", "CROSSSLOT", "TRYAGAIN": .cluster
            case "NOPERM", "NOAUTH", "WRONGPASS": .notPermitted
            default: .refused
            }
        self.init(code, "answered with the error \(word)", reply: word)
    }

    /// Whether the command certainly did not run.
    public var wasNotSent: Bool { [.unavailable, .busy, .invalid, .misconfigured].contains(self.code) }

    /// Code and message.
    public var description: String { "redis \(self.code.rawValue): \(self.message)" }
}
