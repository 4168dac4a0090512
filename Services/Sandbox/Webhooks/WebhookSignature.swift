import Crypto
import Foundation
import Primitives

/// The provider's signature: base64 of the lower-case hex text of HMAC-SHA1 over the raw body.
func webhookSignature(_ body: [UInt8], token: String) -> String {
    let code = HMAC<Insecure.SHA1>.authenticationCode(for: body, using: SymmetricKey(data: Data(token.utf8)))
    return Data(Hex.encode(Array(code)).utf8).base64EncodedString()
}
