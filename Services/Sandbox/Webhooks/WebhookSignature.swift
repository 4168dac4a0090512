import Cryptography
import Foundation
import Primitives

/// The provider's signature: base64 of the lower-case hex text of HMAC-SHA1 over the raw body.
func webhookSignature(_ body: [UInt8], token: String) -> String {
    let code = HMAC<Insecure.SHA1>.authenticationCode(for: body, using: SymmetricKey(data: Data(token.utf8)))
    return Data(Hex.encode(Array(code)).utf8).base64EncodedString()
}

/// Svix's signature of one of Clerk's messages: base64 of HMAC-SHA256 over id, time and body.
///
/// Nil when the secret is none.
func svixSignature(_ body: [UInt8], id: String, timestamp: Int64, secret: String) -> String? {
    guard secret.hasPrefix("whsec_"), let key = Data(base64Encoded: String(secret.dropFirst(6))) else { return nil }
    let signed = Array("\(id).\(timestamp).".utf8) + body
    let code = HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: key))
    return "v1," + Data(code).base64EncodedString()
}
