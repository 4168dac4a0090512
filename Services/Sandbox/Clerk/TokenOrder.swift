/// A session token to make, right or wrong in the ways asked for.
struct TokenOrder: Sendable {
    enum Algorithm: String, Sendable {
        case rs256 = "RS256"
        case rs512 = "RS512"
        /// No signature.
        case none
        /// Signed with HMAC under the bytes of the public key: the classic confusion.
        case hs256 = "HS256"
    }

    var subject: String
    var age: Int64
    var lifetime: Int64
    var notBefore: Int64
    var issuer: String
    var authorizedParty: String?
    var session: String?
    var algorithm: Algorithm
    /// Signed by a key that is not published.
    var isForeign: Bool
    /// The signature's last byte is changed.
    var isBroken: Bool
    var keyID: String?
    /// What Clerk has verified of the subject, as the template of session tokens says it.
    var email: String?
    var phone: String?
    var claims: [String: JSON]

    init(_ fields: Fields, issuer: String) throws(Refusal) {
        let json = fields.json
        guard let algorithm = Algorithm(rawValue: json["alg"]?.text ?? "RS256") else {
            throw .badRequest("alg must be RS256, RS512, HS256 or none")
        }
        self.subject = try fields.text("subject")
        self.age = json["age_seconds"]?.number ?? 0
        self.lifetime = json["lifetime_seconds"]?.number ?? 60
        self.notBefore = json["not_before_seconds"]?.number ?? -10
        self.issuer = json["issuer"]?.text ?? issuer
        self.authorizedParty = json["azp"]?.text
        self.session = json["sid"] == .some(.null) ? nil : json["sid"]?.text ?? "sess_sandbox"
        self.algorithm = algorithm
        self.isForeign = json["key"]?.text == "foreign"
        self.isBroken = json["signature"]?.text == "broken"
        self.keyID = json["kid"]?.text
        self.email = json["email"]?.text
        self.phone = json["phone"]?.text
        self.claims = json["claims"]?.members ?? [:]
    }

    /// The claims at a time; those given by hand win, and a null takes one away.
    func payload(at now: Int64) -> JSON {
        let issued = now - self.age
        var claims: [String: JSON] = [
            "sub": .string(self.subject), "iss": .string(self.issuer), "iat": .integer(issued),
            "nbf": .integer(issued + self.notBefore), "exp": .integer(issued + self.lifetime), "v": 2,
            "jti": .string("\(self.subject)-\(issued)"), "fva": [0, -1],
        ]
        if let session = self.session { claims["sid"] = .string(session) }
        if let party = self.authorizedParty { claims["azp"] = .string(party) }
        if let email = self.email {
            claims["email"] = .string(email)
            claims["email_verified"] = true
        }
        if let phone = self.phone {
            claims["phone_number"] = .string(phone)
            claims["phone_number_verified"] = true
        }
        claims.merge(self.claims) { _, given in given }
        return .object(claims.filter { $0.value != .null })
    }
}
