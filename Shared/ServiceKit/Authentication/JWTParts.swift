import Primitives

/// The three parts of a compact JWT, decoded but not verified.
struct JWTParts {
    /// A token longer than this is not looked at.
    static let maximumLength = 8192

    let header: StrictJSON
    let claims: StrictJSON
    let signature: [UInt8]
    /// What the signature is over.
    let signed: [UInt8]

    /// nil for anything that is not three parts of base64url with two JSON objects.
    init?(_ token: String) {
        guard token.utf8.count <= Self.maximumLength else { return nil }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let headerBytes = Base64URL.decode(parts[0]),
            let claimBytes = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2]),
            let header = try? StrictJSONParser.parse(headerBytes),
            let claims = try? StrictJSONParser.parse(claimBytes),
            case .object = header, case .object = claims
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        self.signed = Array((parts[0] + "." + parts[1]).utf8)
    }

    var algorithm: String? { self.header["alg"]?.string }
    var keyID: String? { self.header["kid"]?.string }

    /// Whether the header asks for nothing that we do not do.
    func isPlain(algorithm: String) -> Bool {
        guard self.algorithm == algorithm, self.header["crit"] == nil, self.header["b64"] == nil else { return false }
        guard let type = self.header["typ"] else { return true }
        return type.string?.uppercased() == "JWT"
    }
}
