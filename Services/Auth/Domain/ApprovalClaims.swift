import Foundation
import Primitives

/// What an approval token says: this user approves this one request, once, until then.
struct ApprovalClaims: Hashable, Sendable, Codable {
    let iss: String
    let sub: String
    let jti: String
    let htm: String
    let htu: String
    let bsh: String
    let iat: Int64
    let exp: Int64

    /// Who issues approval tokens.
    static let issuer = "transfa-auth"
    /// How long a token is good, in seconds.
    static let lifetime: Int64 = 120

    /// Approves a request.
    init(_ scope: ApprovalScope, user: UserID, nonce: UUID, at now: Date) {
        self.iss = Self.issuer
        self.sub = user.description
        self.jti = nonce.lowercased
        self.htm = scope.method
        self.htu = scope.path
        self.bsh = scope.bodyHash
        self.iat = Int64(now.timeIntervalSince1970)
        self.exp = self.iat + Self.lifetime
    }

    /// When the token ends.
    var expiry: Date { Date(timeIntervalSince1970: TimeInterval(self.exp)) }
}
