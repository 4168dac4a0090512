import Cryptography

/// Seals copies of answers for Redis, where nobody else may read them.
///
/// With the service's own keys, and bound to the name of the copy: one that was put elsewhere is no copy. While a key is
/// being replaced copies of all are read, and new ones are made with the first.
struct CopySeal: Sendable {
    private let keys: [SymmetricKey]

    /// The first of the keys is the one in use.
    init(_ keys: [SymmetricKey]) { self.keys = keys }

    /// Nil when it cannot be sealed: then there is no copy.
    func seal(_ answer: StoredAnswer, as name: String) -> [UInt8]? {
        self.keys.first.flatMap { key in
            try? AES.GCM.seal(Array(answer.text.utf8), using: key, authenticating: Array(name.utf8))
        }
    }

    /// Nil for what is no copy of this name.
    func open(_ sealed: [UInt8], as name: String) -> StoredAnswer? {
        for key in self.keys {
            guard let bytes = try? AES.GCM.open(sealed, using: key, authenticating: Array(name.utf8)) else { continue }
            return StoredAnswer(text: String(decoding: bytes, as: UTF8.self))
        }
        return nil
    }
}
