public import Foundation
import Primitives

/// The e-mail address and the phone number that the identity provider has verified, as a session token says.
///
/// Tokens say it where the session token's template does: `email`, `email_verified`, `phone_number`,
/// `phone_number_verified`, the names of OpenID Connect. Without them nothing is verified here.
public struct VerifiedContact: Hashable, Sendable {
    /// As the identity provider writes it.
    public let email: String?
    /// As the identity provider writes it: `+234...`.
    public let phone: String?
    /// When the token was made.
    public let saidAt: Date

    /// Puts the values together; with none of them nothing is said.
    public init(email: String? = nil, phone: String? = nil, saidAt: Date = .distantPast) {
        self.email = email
        self.phone = phone
        self.saidAt = saidAt
    }

    /// Reads claims; what is not said to be verified is left out.
    init(_ claims: StrictJSON, issuedAt: TimeInterval) {
        self.init(
            email: Self.verified(claims, "email", longest: 254),
            phone: Self.verified(claims, "phone_number", longest: 32),
            saidAt: Date(timeIntervalSince1970: issuedAt)
        )
    }

    /// Whether anything is verified.
    public var isEmpty: Bool { self.email == nil && self.phone == nil }

    /// Templates of tokens fill in texts too: "true".
    private static func verified(_ claims: StrictJSON, _ name: String, longest: Int) -> String? {
        let flag = claims["\(name)_verified"]
        guard flag == .bool(true) || flag?.string == "true", let text = claims[name]?.string, !text.isEmpty,
            text.utf8.count <= longest
        else { return nil }
        return text
    }
}
