import Cryptography
public import Foundation
import Primitives

/// Signatures by which webhooks prove where they come from.
///
/// Always over the raw body.
public enum WebhookSignature {
    // MARK: Anchor

    /// The header that carries Anchor's signature.
    public static let anchorHeader = "x-anchor-signature"

    /// What Anchor sends for a body: base64 of the lower-case hexadecimal HMAC-SHA1 under the webhook's token.
    public static func anchor(body: some DataProtocol, token: String) -> String {
        Data(Hex.encode(Self.anchorCode(body, token)).utf8).base64EncodedString()
    }

    /// Whether a header is Anchor's for that body.
    ///
    /// Anchor's prose can be read as base64 of the raw bytes, so that form is accepted too. It carries no time: replays
    /// must be told by the event's id, and money is never believed from the body alone. `tokens` are those in force,
    /// several while one is being replaced; an empty one never matches.
    public static func verifyAnchor(header: String, body: some DataProtocol, tokens: [String]) -> Bool {
        var isValid = false
        for token in tokens where !token.isEmpty {
            let code = Self.anchorCode(body, token)
            let hexForm = Data(Hex.encode(code).utf8).base64EncodedString()
            let rawForm = Data(code).base64EncodedString()
            isValid = ConstantTime.equal(header, hexForm) || isValid
            isValid = ConstantTime.equal(header, rawForm) || isValid
        }
        return isValid
    }

    private static func anchorCode(_ body: some DataProtocol, _ token: String) -> [UInt8] {
        let key = SymmetricKey(data: Array(token.utf8))
        return Array(HMAC<Insecure.SHA1>.authenticationCode(for: body, using: key))
    }
}
