import Foundation
public import Hummingbird
public import Logging
public import OutgoingHTTP
public import Primitives
import Sealing

/// Checks that a request carries an approval which is bound to exactly this request.
///
/// Bound are: user, method, path, SHA-256 of the raw body, nonce, time. That the nonce is unspent is decided in the
/// acceptance commit, not here.
///
/// An approval ends before its time with what it was given by: a PIN that was changed, reset or locked, a device that was
/// removed, a session that is over. A service hears of that by events; what the issuer of a token knew that has not been
/// heard here yet speaks for the token, so that a fresh one is never refused. `approvals.md` has every case.
public struct ApprovalVerifier: Sendable {
    /// Finds what the service has heard about a user's device, PIN and sessions.
    public typealias Facts = @Sendable (ApprovalFacts.Question) async throws -> ApprovalFacts

    /// How far a device's clock may be off, either way.
    static let tolerance: TimeInterval = 120
    /// How far the clocks of our own machines may be apart.
    static let skew: TimeInterval = 5
    /// How long after its registration a device may not have been heard of here.
    static let arrival: TimeInterval = 60

    private let pinKeys: KeySetCache<ES256Key>
    private let facts: ApprovalFactCache
    private let clock: any TimeSource

    /// Creates a verifier.
    ///
    /// `auth` publishes the keys of its PIN tokens at `/internal/jwks`. Facts are looked up in the service's own read
    /// model, and remembered for two seconds.
    public init(
        settings: AuthSettings,
        http: HTTPClient,
        clock: any TimeSource,
        logger: Logger,
        facts: @escaping Facts
    ) {
        let url = settings.url + "/internal/jwks"
        self.init(
            pinKeys: KeySetCache(url: url, bearer: settings.token, http: http, logger: logger),
            clock: clock,
            facts: facts
        )
    }

    init(pinKeys: KeySetCache<ES256Key>, clock: any TimeSource, facts: @escaping Facts) {
        self.pinKeys = pinKeys
        self.facts = ApprovalFactCache(lookup: facts)
        self.clock = clock
    }

    /// Checks the approval of a request whose body was read.
    ///
    /// - Throws: 403 `approval_required`, `approval_invalid` or `device_unknown`, 409 `device_not_ready`; what the lookup of
    ///   device keys throws.
    public func verify(_ request: Request, context: AppRequestContext) async throws -> Approval {
        let identity = try context.requireIdentity()
        guard let header = request.headers[.transfaApproval] else { throw APIError.approvalRequired }
        let body = try await request.rawBody(context: context)
        let bound = BoundRequest(
            method: request.method.rawValue,
            path: request.uri.path,
            bodySHA256: body.sha256Hex,
            user: identity.userID,
            session: identity.sessionID
        )
        return try await self.verify(header: header, bound: bound)
    }

    /// Off the event loops: an ES256 check takes about 50 microseconds.
    @concurrent
    func verify(header: String, bound: BoundRequest) async throws -> Approval {
        guard let parsed = try? ApprovalHeader(parsing: header) else { throw APIError.approvalInvalid }
        switch parsed {
        case .device(let approval): return try await self.device(approval, bound)
        case .pin(let token): return try await self.pin(token, bound)
        }
    }

    private func device(_ approval: DeviceApproval, _ bound: BoundRequest) async throws -> Approval {
        let age = self.clock.now.timeIntervalSince1970 - Double(approval.timestamp)
        guard abs(age) <= Self.tolerance else { throw APIError.approvalInvalid }
        let facts = try await self.facts.facts(
            ApprovalFacts.Question(user: bound.user, device: approval.device, sessions: [bound.session])
        )
        guard !facts.hasEndedSession else { throw APIError.approvalInvalid }
        guard let key = facts.deviceKey else {
            throw self.isNew(approval.device) ? APIError.approvingDeviceNotReady : APIError.approvingDeviceUnknown
        }
        let text = ApprovalText(
            method: bound.method,
            path: bound.path,
            bodySHA256: bound.bodySHA256,
            nonce: approval.nonce,
            timestamp: approval.timestamp,
            user: bound.user.uuid
        )
        guard DeviceSignature.verify(approval.signature, of: text, by: key) else { throw APIError.approvalInvalid }
        return Approval(nonce: approval.nonce, method: .device(approval.device))
    }

    /// Whether a device may have been registered a moment ago: its id, which `auth` gives, says when.
    private func isNew(_ device: UUID) -> Bool {
        guard let made = device.version7Milliseconds else { return false }
        let age = self.clock.now.timeIntervalSince1970 - Double(made) / 1000
        return (-Self.skew...Self.arrival).contains(age)
    }

    private func pin(_ token: String, _ bound: BoundRequest) async throws -> Approval {
        guard let parts = JWTParts(token), parts.isPlain(algorithm: "ES256"), let keyID = parts.keyID,
            let key = try await self.pinKeys.key(keyID), key.isValid(parts),
            let nonce = self.nonce(of: parts.claims, bound),
            let session = parts.claims["sid"]?.string, let sequence = parts.claims["seq"]?.integer
        else { throw APIError.approvalInvalid }
        let facts = try await self.facts.facts(
            ApprovalFacts.Question(user: bound.user, device: nil, sessions: [session, bound.session])
        )
        // Older than what was heard, never newer: what this service has not heard of yet the issuer knew.
        guard !facts.hasEndedSession, sequence >= facts.pinSequence else { throw APIError.approvalInvalid }
        return Approval(nonce: nonce, method: .pin)
    }

    /// The nonce of a token whose claims all fit the request.
    private func nonce(of claims: StrictJSON, _ bound: BoundRequest) -> UUID? {
        let now = self.clock.now.timeIntervalSince1970
        guard claims["iss"]?.string == PINApproval.issuer,
            claims["sub"]?.string == bound.user.uuid.lowercased,
            claims["htm"]?.string == bound.method,
            claims["htu"]?.string == bound.path,
            claims["bsh"]?.string == bound.bodySHA256,
            let issuedAt = claims["iat"]?.integer, Double(issuedAt) <= now + Self.skew,
            let expiry = claims["exp"]?.integer, Double(expiry) > now - Self.skew,
            expiry - issuedAt <= PINApproval.lifetimeSeconds
        else { return nil }
        return claims["jti"]?.string.flatMap { UUID(text: $0) }
    }
}

/// What an approval must name.
struct BoundRequest: Sendable {
    let method: String
    let path: String
    let bodySHA256: String
    let user: UserID
    /// The session that the request comes with.
    var session = ""
}

/// What issuer and verifier of PIN tokens agree on.
public enum PINApproval {
    /// The claim `iss`.
    public static let issuer = "transfa-auth"
    /// The longest that a token may live.
    public static let lifetimeSeconds: Int64 = 120
}
