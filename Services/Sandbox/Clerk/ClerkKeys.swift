import Cryptography
import Foundation
import Primitives
import Synchronization

/// The signing keys of the stand-in for Clerk: the last one signs, all are published.
///
/// A key is made when it is first needed, because making one takes longer than everything else at start.
final class ClerkKeys: Sendable {
    /// One RSA key with its id.
    struct Key: Sendable {
        var id: String
        var key: RSA.PrivateKey
    }

    private struct Keys: Sendable {
        var published: [Key] = []
        var foreign: Key?
    }

    private static let maximum = 5
    /// Between the keys of the file.
    private static let separator = "\n\n"
    private let keys = Mutex(Keys())
    private let path: String?

    init(directory: String?) { self.path = directory.map { $0 + "/clerk-key.pem" } }

    /// The key that signs.
    func current() throws -> Key { try self.all()[0] }

    /// All published keys, the one that signs first.
    func all() throws -> [Key] {
        try self.keys.withLock { keys in
            if keys.published.isEmpty { keys.published = try self.kept() }
            return keys.published
        }
    }

    /// Never published: for tokens with a wrong signature.
    func foreign() throws -> Key {
        try self.keys.withLock { keys in
            if let key = keys.foreign { return key }
            let key = Self.named(try RSA.PrivateKey())
            keys.foreign = key
            return key
        }
    }

    /// Signs with a new key from now on; the old ones stay published unless they are to be forgotten.
    func rotate(forgettingOld: Bool) throws -> Key {
        let old = forgettingOld ? [] : try self.all().prefix(Self.maximum - 1)
        let key = Self.named(try RSA.PrivateKey())
        try self.publish([key] + old)
        return key
    }

    /// Publishes the key that signs alone.
    func retire() throws -> Key {
        let key = try self.current()
        try self.publish([key])
        return key
    }

    private func publish(_ published: [Key]) throws {
        try self.keys.withLock { keys in
            try self.keep(published)
            keys.published = published
        }
    }

    private func kept() throws -> [Key] {
        if let path, let text = try? String(contentsOfFile: path, encoding: .utf8) {
            return try text.components(separatedBy: Self.separator).map {
                Self.named(try RSA.PrivateKey(pemRepresentation: $0))
            }
        }
        let key = Self.named(try RSA.PrivateKey())
        try self.keep([key])
        return [key]
    }

    private func keep(_ keys: [Key]) throws {
        guard let path else { return }
        let text = Data(keys.map(\.key.pemRepresentation).joined(separator: Self.separator).utf8)
        guard FileManager.default.createFile(atPath: path, contents: text, attributes: [.posixPermissions: 0o600])
        else {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    /// The id follows from the key, so that it is the same after a restart.
    private static func named(_ key: RSA.PrivateKey) -> Key {
        Key(id: "ins_" + Hex.encode(key.publicKey.derRepresentation.suffix(25).prefix(12)), key: key)
    }

    /// The published set.
    func jwks() throws -> JSON {
        let keys = try self.all().map { key in
            let half = key.key.publicKey
            return JSON.object([
                "use": "sig", "kty": "RSA", "alg": "RS256", "kid": .string(key.id),
                "n": .string(Base64URL.encode(half.modulus)), "e": .string(Base64URL.encode(half.exponent)),
            ])
        }
        return ["keys": .array(keys)]
    }
}
