import Foundation
import Primitives

/// What an approval token says: this user approves this one request, once, until then, as long as the PIN and the session
/// that it was given in go on.
struct ApprovalClaims: Hashable, Sendable, Codable {
    let iss: String
    let sub: String
    let jti: String
    let htm: String
    let htu: String
    let bsh: String
    let sid: String
    /// The newest event about the user when the PIN was right: what happened later ends the token.
    let seq: Int64
    let iat: Int64
    let exp: Int64

    /// Who issues approval tokens.
    static let issuer = "transfa-auth"
    /// How long a token is good, in seconds.
    static let lifetime: Int64 = 120

    /// Who approves, and how far the events about that person had got.
    struct Giver: Hashable, Sendable {
        let user: UserID
        let session: String
        let sequence: Int64
    }

    /// Approves a request.
    init(_ scope: ApprovalScope, by giver: Giver, nonce: UUID, at now: Date) {
        self.iss = Self.issuer
        self.sub = giver.user.description
        self.jti = nonce.lowercased
        self.htm = scope.method
        self.htu = scope.path
        self.bsh = scope.bodyHash
        self.sid = giver.session
        self.seq = giver.sequence
        self.iat = Int64(now.timeIntervalSince1970)
        self.exp = self.iat + Self.lifetime
    }

    /// When the token ends.
    var expiry: Date { Date(timeIntervalSince1970: TimeInterval(self.exp)) }
}
