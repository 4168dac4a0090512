public import HTTPTypes

extension HTTPField.Name {
    /// Names a request across services and logs.
    public static let requestID = Self("X-Request-Id").unsafelyNamed
    /// W3C trace context.
    public static let traceparent = Self("traceparent").unsafelyNamed
    /// Makes a repeated request take effect once.
    public static let idempotencyKey = Self("Idempotency-Key").unsafelyNamed
    /// Says that the answer is one that was stored before.
    public static let idempotencyReplayed = Self("Idempotency-Replayed").unsafelyNamed
    /// Where the next part of an answer begins that has no room for it in its body.
    public static let nextID = Self("Transfa-Next").unsafelyNamed
    /// Approval of an outbound payment.
    public static let transfaApproval = Self("Transfa-Approval").unsafelyNamed
}

extension HTTPField.Name? {
    /// The name; only for constants, which are valid by inspection.
    var unsafelyNamed: HTTPField.Name {
        guard let name = self else { preconditionFailure("a header name constant is not a valid token") }
        return name
    }
}
