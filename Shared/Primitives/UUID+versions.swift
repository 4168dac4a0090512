import Cryptography
public import Foundation

extension UUID {
    /// The name-based id of RFC 9562 (version 5): the same namespace and name always give the same id.
    public static func v5(namespace: UUID, name: String) -> UUID {
        var hasher = Insecure.SHA1()
        hasher.update(data: namespace.bytes)
        hasher.update(data: Array(name.utf8))
        var bytes = Array(hasher.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0f | 0x50
        bytes[8] = bytes[8] & 0x3f | 0x80
        return UUID(bytes: bytes) ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }

    /// The version digit.
    public var version: Int { Int(self.uuid.6 >> 4) }

    /// Milliseconds since 1970 inside a version 7 id, nil for other versions.
    public var version7Milliseconds: Int64? {
        guard self.version == 7 else { return nil }
        let value = self.uuid
        let high = Int64(value.0) << 40 | Int64(value.1) << 32 | Int64(value.2) << 24
        return high | Int64(value.3) << 16 | Int64(value.4) << 8 | Int64(value.5)
    }
}
