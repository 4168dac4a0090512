public import Foundation
public import Primitives

/// Who sends a request, as a verified session token says.
public struct Identity: Hashable, Sendable {
    /// Our id of the user, derived from the subject.
    public let userID: UserID
    /// The identity provider's id of the user.
    public let clerkSubject: String
    /// The identity provider's id of the session.
    public let sessionID: String
    /// When the user last gave a password, a code or whatever else the sign-in asks for: with several factors, the time
    /// of the one that is longest ago.
    ///
    /// Nil when the token does not say.
    public let provenAt: Date?
    /// When the token ends: what lasts longer than a request, such as a stream, ends with it.
    ///
    /// Nil for one that does not end, which only tests have.
    public let expiresAt: Date?
    /// The organization in whose name the session is, and the user's role there; nil for one's own.
    public let organization: Organization?

    /// An organization at the identity provider, and a role in it.
    public struct Organization: Hashable, Sendable {
        /// `org_...`: anybody can make organizations, so a role says nothing without it.
        public let id: String
        /// Without the prefix `org:`.
        public let role: String

        /// Puts both together; a prefix `org:` of the role is left out.
        public init(id: String, role: String) {
            self.id = id
            self.role = role.hasPrefix("org:") ? String(role.dropFirst(4)) : role
        }
    }

    /// Puts an identity together; only verifiers and tests do.
    public init(
        userID: UserID,
        clerkSubject: String,
        sessionID: String,
        provenAt: Date? = nil,
        expiresAt: Date? = nil,
        organization: Organization? = nil
    ) {
        self.userID = userID
        self.clerkSubject = clerkSubject
        self.sessionID = sessionID
        self.provenAt = provenAt
        self.expiresAt = expiresAt
        self.organization = organization
    }
}

/// Turns a bearer token into an identity.
public protocol TokenVerifier: Sendable {
    /// Verifies a token.
    ///
    /// - Throws: `APIError.unauthenticated` for any token that is not good, with no word on why; 503 when keys have
    ///   never been fetched and cannot be.
    func verify(_ token: String) async throws(APIError) -> Identity
}
