public import Foundation
public import Hummingbird
public import Logging
public import OutgoingHTTP
public import Primitives
public import Sealing

/// Checks that a request carries an approval which is bound to exactly this request.
///
/// Bound are: user, method, path, SHA-256 of the raw body, nonce, time. That the nonce is unspent is decided in the
/// acceptance commit, not here.
public struct ApprovalVerifier: Sendable {
    /// Finds the public key of a user's device that is registered and not revoked; nil if there is none.
    public typealias DeviceKeys = @Sendable (_ device: UUID, _ user: UserID) async throws -> DevicePublicKey?

    /// How far a device's clock may be off, either way.
    static let tolerance: TimeInterval = 120
    /// How far the clocks of our own machines may be apart.
    static let skew: TimeInterval = 5
    /// How long after its registration a device may not have been heard of here.
    static let arrival: TimeInterval = 60

    private let pinKeys: KeySetCache<ES256Key>
    private let deviceKeys: DeviceKeyCache
    private let clock: any TimeSource

    /// Creates a verifier.
    ///
    /// `auth` publishes the keys of its PIN tokens at `/internal/jwks`. Device keys are looked up in the service's own
    /// read model; found ones are remembered for five seconds.
    public init(
        settings: AuthSettings,
        http: HTTPClient,
        clock: any TimeSource,
        logger: Logger,
        deviceKeys: @escaping DeviceKeys
    ) {
        let url = settings.url + "/internal/jwks"
        self.init(
            pinKeys: KeySetCache(url: url, bearer: settings.token, http: http, logger: logger),
            clock: clock,
            deviceKeys: deviceKeys
        )
    }

    init(pinKeys: KeySetCache<ES256Key>, clock: any TimeSource, deviceKeys: @escaping DeviceKeys) {
        self.pinKeys = pinKeys
        self.deviceKeys = DeviceKeyCache(lookup: deviceKeys)
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
            user: identity.userID
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
        guard let key = try await self.deviceKeys.key(approval.device, of: bound.user) else {
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
            let nonce = self.nonce(of: parts.claims, bound)
        else { throw APIError.approvalInvalid }
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
}

/// What issuer and verifier of PIN tokens agree on.
public enum PINApproval {
    /// The claim `iss`.
    public static let issuer = "transfa-auth"
    /// The longest that a token may live.
    public static let lifetimeSeconds: Int64 = 120
}
