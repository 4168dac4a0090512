/// Why there is no answer.
///
/// It holds nothing of the request: an address may hold a secret.
public struct HTTPFailure: Error, Sendable, Equatable {
    /// What went wrong.
    public enum Reason: String, Sendable {
        /// The name is unknown, nobody listens, or no connection stood in time.
        case unreachable
        /// No TLS, or not with whom it should be.
        case untrusted
        /// The limit of the call is over.
        case timedOut
        /// The caller was cancelled, or the client has ended.
        case cancelled
        /// The answer is longer than the call allows, or its head longer than any may be.
        case answerTooLong
        /// The connection ended before the answer did, or what came is no HTTP.
        case broken
        /// A URL or a header that cannot be sent.
        case malformed
    }

    /// What went wrong.
    public let reason: Reason
    /// Whether the peer has certainly not seen the request; otherwise it may have done what was asked.
    public let isUnsent: Bool
    /// The status, if the head of the answer had come.
    public var status: Int?
    /// How many seconds to wait, if the head of the answer said so.
    public var retryAfter: Int64?

    /// Takes what is known.
    public init(reason: Reason, isUnsent: Bool, status: Int? = nil, retryAfter: Int64? = nil) {
        self.reason = reason
        self.isUnsent = isUnsent
        self.status = status
        self.retryAfter = retryAfter
    }
}

extension HTTPFailure: CustomStringConvertible {
    /// For people.
    public var description: String { "\(self.reason.rawValue), \(self.isUnsent ? "not sent" : "may have been sent")" }
}

extension HTTPAnswer {
    /// How many seconds to wait before asking again, if the answer says so in seconds (RFC 9110, 10.2.3).
    public var retryAfter: Int64? { self.header("Retry-After").flatMap { Int64($0) } }
}
