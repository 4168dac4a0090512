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

    /// Puts an identity together; only verifiers and tests do.
    public init(userID: UserID, clerkSubject: String, sessionID: String, provenAt: Date? = nil) {
        self.userID = userID
        self.clerkSubject = clerkSubject
        self.sessionID = sessionID
        self.provenAt = provenAt
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
