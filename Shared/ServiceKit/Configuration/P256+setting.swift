public import Cryptography
import Foundation

extension P256.PrivateKey {
    /// Reads a setting: a key in PEM, or its 32 bytes in base64; nil when it is neither.
    public init?(setting text: String) {
        // Some ways to set an environment cannot hold line ends.
        let pem = text.replacingOccurrences(of: "\\n", with: "\n")
        let key =
            text.contains("BEGIN")
            ? try? P256.PrivateKey(pemRepresentation: pem)
            : Data(base64Encoded: text).flatMap { try? P256.PrivateKey(rawRepresentation: $0) }
        guard let key else { return nil }
        self = key
    }
}
