import Foundation

/// What a session token of these tests says.
struct ClerkClaims: Encodable {
    static let issuer = "https://clerk.example.test"
    static let party = "https://app.example.test"

    var iss = ClerkClaims.issuer
    var sub: String? = "user_2abc"
    var sid: String? = "sess_1"
    var azp: String? = ClerkClaims.party
    var exp: Double
    var nbf: Double
    var iat: Double
    var sts: String?
    var fva: [Int]?
    var o: [String: String]?
    var organizationID: String?
    var organizationRole: String?
    var email: String?
    var emailVerified: Bool?
    var phone: String?
    var phoneVerified: String?

    private enum CodingKeys: String, CodingKey {
        case iss, sub, sid, azp, exp, nbf, iat, sts, fva, o, email
        case emailVerified = "email_verified"
        case phone = "phone_number"
        case phoneVerified = "phone_number_verified"
        case organizationID = "org_id"
        case organizationRole = "org_role"
    }

    init(now: Date) {
        self.exp = now.timeIntervalSince1970 + 60
        self.nbf = now.timeIntervalSince1970 - 5
        self.iat = now.timeIntervalSince1970
    }
}
