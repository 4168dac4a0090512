import Cryptography
import Foundation
public import Logging
public import OutgoingHTTP
public import Primitives

/// Verifies Clerk session tokens without a call per request.
///
/// RS256 only, and the header is looked at before anything else; the signature before the claims; then expiry, not
/// before and issued at with five seconds of skew, the exact issuer, the authorised party, and a session id (tokens
/// from templates carry the same signature and none).
public final class ClerkVerifier: TokenVerifier {
    private static let skew: TimeInterval = 5
    /// In minutes; older ones prove nothing, and need no arithmetic.
    private static let oldestProof: Int64 = 60 * 24 * 365

    private let settings: ClerkSettings
    private let keys: KeySetCache<RS256Key>
    private let clock: any TimeSource
    private let verified = VerifiedTokenCache()

    /// Creates a verifier that fetches keys from `settings.jwksURL` when it first needs them.
    public convenience init(settings: ClerkSettings, http: HTTPClient, clock: any TimeSource, logger: Logger) {
        self.init(
            settings: settings,
            keys: KeySetCache(url: settings.jwksURL, http: http, logger: logger),
            clock: clock
        )
    }

    init(settings: ClerkSettings, keys: KeySetCache<RS256Key>, clock: any TimeSource) {
        self.settings = settings
        self.keys = keys
        self.clock = clock
    }

    /// Verifies a session token; a token seen before is only checked for its expiry.
    public func verify(_ token: String) async throws(APIError) -> Identity {
        let now = self.clock.now.timeIntervalSince1970
        guard token.utf8.count <= JWTParts.maximumLength else { throw .unauthenticated }
        let digest = TokenDigest(token)
        if let known = self.verified.identity(of: digest, after: now - Self.skew) {
            return known
        }
        guard let parts = JWTParts(token), parts.isPlain(algorithm: "RS256"), let keyID = parts.keyID,
            let key = try await self.keys.key(keyID), key.isValid(parts),
            let (identity, expiry) = self.claims(parts.claims, now: now)
        else { throw .unauthenticated }
        self.verified.keep(identity, of: digest, until: expiry, now: now)
        return identity
    }

    private func claims(_ claims: StrictJSON, now: TimeInterval) -> (Identity, expiry: TimeInterval)? {
        guard let expiry = claims["exp"]?.seconds, expiry > now - Self.skew,
            let issuedAt = claims["iat"]?.seconds, issuedAt <= now + Self.skew,
            self.isActive(claims["nbf"], now: now),
            claims["iss"]?.string == self.settings.issuer,
            self.isAuthorisedParty(claims["azp"]),
            claims["sts"]?.string != "pending",
            let session = claims["sid"]?.string, !session.isEmpty,
            let subject = claims["sub"]?.string, !subject.isEmpty, subject.utf8.count <= 255
        else { return nil }
        let user = UserID(clerkSubject: subject)
        let identity = Identity(
            userID: user,
            clerkSubject: subject,
            sessionID: session,
            provenAt: Self.provenAt(claims["fva"], issuedAt: issuedAt),
            expiresAt: Date(timeIntervalSince1970: expiry),
            organization: Self.organization(in: claims)
        )
        return (identity, expiry)
    }

    /// Tokens of version 2 have it in `o`, older ones in claims of their own.
    private static func organization(in claims: StrictJSON) -> Identity.Organization? {
        let id = claims["o"]?["id"]?.string ?? claims["org_id"]?.string
        let role = claims["o"]?["rol"]?.string ?? claims["org_role"]?.string
        guard let id, let role, !id.isEmpty, !role.isEmpty else { return nil }
        return Identity.Organization(id: id, role: role)
    }

    /// `fva`: minutes since the first and the second factor when the token was made; -1 for one that was not used.
    private static func provenAt(_ ages: StrictJSON?, issuedAt: TimeInterval) -> Date? {
        guard case .array(let ages) = ages, ages.count == 2, let first = ages[0].integer, let second = ages[1].integer,
            first >= 0, second >= -1, max(first, second) < Self.oldestProof
        else { return nil }
        return Date(timeIntervalSince1970: issuedAt - Double(60 * max(first, second)))
    }

    private func isActive(_ notBefore: StrictJSON?, now: TimeInterval) -> Bool {
        guard let notBefore else { return true }
        guard let seconds = notBefore.seconds else { return false }
        return seconds <= now + Self.skew
    }

    /// A native app sends no Origin, so its tokens have no authorised party; a wrong one is never accepted.
    private func isAuthorisedParty(_ party: StrictJSON?) -> Bool {
        guard let party else { return !self.settings.requireAuthorizedParty }
        guard let name = party.string else { return false }
        if name.isEmpty {
            return !self.settings.requireAuthorizedParty
        }
        return self.settings.authorizedParties.contains(name)
    }
}

extension StrictJSON {
    /// Unix seconds; fractions are allowed by the standard.
    fileprivate var seconds: TimeInterval? {
        guard case .number(let text, _) = self, let value = Double(text), value.isFinite else { return nil }
        return value
    }
}
