import Contracts
import Cryptography
import Foundation
import Primitives

/// The list of banks as it is answered, with the tag of just these bytes.
struct BankListing: Hashable, Sendable {
    let body: String
    let etag: String

    /// Takes what was stored.
    init(body: String, etag: String) {
        self.body = body
        self.etag = etag
    }

    /// Writes the answer: by name, each code once, in six digits.
    ///
    /// Some lists of the provider have lost the leading zeros.
    init(_ banks: [(code: String, name: String)]) throws {
        var names: [String: String] = [:]
        for bank in banks {
            let code = Self.sixDigits(bank.code)
            if names[code] == nil { names[code] = bank.name }
        }
        let resources = names.map { BankResource(code: $0.key, name: $0.value) }
            .sorted { ($0.name.lowercased(), $0.code) < ($1.name.lowercased(), $1.code) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes = try encoder.encode(BankList(data: resources))
        self.body = String(decoding: bytes, as: UTF8.self)
        self.etag = "\"\(Hex.encode(Array(SHA256.hash(data: bytes).prefix(16))))\""
    }

    /// A NIP code has six digits.
    static func sixDigits(_ code: String) -> String {
        String(repeating: "0", count: max(0, 6 - code.utf8.count)) + code
    }
}
