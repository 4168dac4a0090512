/// Why a call to the provider gave no usable answer.
///
/// Never holds a request, an answer or a secret.
public enum AnchorError: Error, Sendable, Hashable {
    /// The provider understood and said no (any 4xx without a case of its own). `title` is the provider's short title,
    /// reduced to letters and spaces.
    case refused(status: Int, title: String, code: AnchorRefusalCode)
    /// The resource does not exist (404).
    case notFound
    /// The key is missing, wrong or may not do this (401, 403).
    case unauthorised
    /// Too many requests (429). `retryAfter` is what the provider asked for, if it did.
    case rateLimited(retryAfter: Duration?)
    /// The provider failed (5xx).
    case unavailable(status: Int)
    /// The deadline passed. `sent` is false only when the request certainly never left.
    case timedOut(sent: Bool)
    /// The connection could not be made or ended early. `sent` is false only when the request certainly never left.
    case connectionLost(sent: Bool)
    /// The calling task was cancelled. `sent` is false only when the request certainly never left.
    case cancelled(sent: Bool)
    /// The circuit is open: nothing was sent.
    case circuitOpen
    /// The provider answered 2xx with something that is not what was asked for, or with too many bytes.
    case malformed(what: String)
}

extension AnchorError {
    /// Whether the provider may have acted on the request.
    ///
    /// True means: ask by reference before sending again.
    ///
    /// A refusal says no about this attempt only; it is true for one that may tell of an earlier attempt. For an order
    /// to move money see `refusalProof`.
    public var mayHaveBeenSent: Bool {
        switch self {
        case .refused(let status, _, let code): code.mayTellOfEarlier || status == 425
        case .notFound, .unauthorised, .rateLimited, .circuitOpen: false
        case .unavailable, .malformed: true
        case .timedOut(let sent), .connectionLost(let sent), .cancelled(let sent): sent
        }
    }

    /// Whether the same call may succeed later without a change.
    public var isTransient: Bool {
        switch self {
        case .rateLimited, .unavailable, .timedOut, .connectionLost, .circuitOpen, .cancelled: true
        case .refused, .notFound, .unauthorised, .malformed: false
        }
    }

    /// Whether the provider could not be reached or failed: what the circuit breaker counts.
    public var isUnavailability: Bool {
        switch self {
        case .unavailable, .timedOut, .connectionLost: true
        case .refused, .notFound, .unauthorised, .rateLimited, .circuitOpen, .cancelled, .malformed: false
        }
    }
}

extension AnchorError {
    /// What is left to do for work that can be repeated.
    public enum Remedy: Sendable, Hashable {
        /// The provider said no: a repetition gets the same answer.
        case refused(AnchorRefusalCode)
        /// What was asked for is not there.
        case absent
        /// Repeat, after this pause if there is one; `reason` is a code without payloads.
        case repeatLater(reason: String, after: Duration?)
    }

    /// What is left to do; whether a call that moves money may be repeated says `mayHaveBeenSent`.
    public var remedy: Remedy {
        switch self {
        case .refused(_, _, let code): .refused(code)
        case .notFound: .absent
        case .rateLimited(let pause): .repeatLater(reason: "rate_limited", after: pause)
        // Somebody has to mend the key; the work waits for it.
        case .unauthorised: .repeatLater(reason: "unauthorised", after: .seconds(60))
        case .unavailable, .timedOut, .connectionLost, .cancelled, .circuitOpen, .malformed:
            .repeatLater(reason: self.description, after: nil)
        }
    }
}

extension AnchorError: CustomStringConvertible {
    /// One line for logs and job rows.
    public var description: String {
        switch self {
        case .refused(let status, let title, let code): "refused \(status) \(code.rawValue) \(title)"
        case .notFound: "not found"
        case .unauthorised: "unauthorised"
        case .rateLimited: "rate limited"
        case .unavailable(let status): "unavailable \(status)"
        case .timedOut(let sent): "timed out\(sent ? "" : " before sending")"
        case .connectionLost(let sent): "connection lost\(sent ? "" : " before sending")"
        case .cancelled: "cancelled"
        case .circuitOpen: "circuit open"
        case .malformed(let what): "malformed \(what)"
        }
    }
}
