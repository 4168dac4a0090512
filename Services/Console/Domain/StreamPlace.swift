import Cryptography

/// How far the event log was read: the last entry, and a hash by which it is known again.
struct StreamPlace: Sendable, Hashable {
    let offset: UInt64
    let digest: [UInt8]

    init(offset: UInt64, digest: [UInt8]) {
        self.offset = offset
        self.digest = digest
    }

    /// The place of an entry.
    init(offset: UInt64, body: [UInt8]) {
        self.init(offset: offset, digest: Self.digest(of: body))
    }

    /// SHA-256 of the bytes of an entry.
    static func digest(of body: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: body)) }
}
