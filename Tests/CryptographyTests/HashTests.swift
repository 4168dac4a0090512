import Cryptography
import Foundation
import Testing

@Suite("Hashes, codes and derived keys")
struct HashTests {
    @Test("every published example is there")
    func count() {
        #expect(Vector.all.count == 243)
    }

    @Test("hashes of FIPS 180-4", arguments: Vector.named("SHA1", "SHA256", "SHA384", "SHA512"))
    func hashes(_ vector: Vector) {
        let digest =
            switch vector.name {
            case "SHA1": Array(Insecure.SHA1.hash(data: vector(0)))
            case "SHA256": Array(SHA256.hash(data: vector(0)))
            case "SHA384": Array(SHA384.hash(data: vector(0)))
            default: Array(SHA512.hash(data: vector(0)))
            }
        #expect(digest == vector(1))
    }

    @Test(
        "codes of RFC 2202 and 4231",
        arguments: Vector.named("HMAC-SHA1", "HMAC-SHA256", "HMAC-SHA384", "HMAC-SHA512")
    )
    func codes(_ vector: Vector) {
        let key = SymmetricKey(data: vector(0))
        let code =
            switch vector.name {
            case "HMAC-SHA1": Array(HMAC<Insecure.SHA1>.authenticationCode(for: vector(1), using: key))
            case "HMAC-SHA256": Array(HMAC<SHA256>.authenticationCode(for: vector(1), using: key))
            case "HMAC-SHA384": Array(HMAC<SHA384>.authenticationCode(for: vector(1), using: key))
            default: Array(HMAC<SHA512>.authenticationCode(for: vector(1), using: key))
            }
        // RFC 4231 shows the first 128 bits of one.
        #expect(code.starts(with: vector(2)) && vector(2).count >= 16)
    }

    @Test("keys of RFC 5869", arguments: Vector.named("HKDF-SHA1", "HKDF-SHA256"))
    func derivedKeys(_ vector: Vector) throws {
        let secret = SymmetricKey(data: vector(0))
        let key =
            vector.name == "HKDF-SHA1"
            ? HKDF<Insecure.SHA1>.deriveKey(
                inputKeyMaterial: secret,
                salt: vector(1),
                info: vector(2),
                outputByteCount: vector.number(3)
            )
            : HKDF<SHA256>.deriveKey(
                inputKeyMaterial: secret,
                salt: vector(1),
                info: vector(2),
                outputByteCount: vector.number(3)
            )
        #expect(key.bytes == vector(4))
    }

    @Test("keys of RFC 7914", arguments: Vector.named("scrypt"))
    func slowKeys(_ vector: Vector) throws {
        let key = try Scrypt.deriveKey(
            from: vector(0),
            salt: vector(1),
            outputByteCount: vector(5).count,
            rounds: vector.number(2),
            blockSize: vector.number(3),
            parallelism: vector.number(4)
        )
        #expect(key.bytes == vector(5))
    }

    @Test("a digest does not depend on how the bytes come, nor on whether they lie in one piece")
    func pieces() {
        let message = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let whole = SHA256.hash(data: message)
        for size in [1, 2, 63, 64, 65, 999] {
            var function = SHA256()
            for start in stride(from: 0, to: message.count, by: size) {
                function.update(data: message[start..<min(start + size, message.count)])
            }
            #expect(function.finalize() == whole)
        }
        #expect(SHA256.hash(data: Data(message)) == whole)
        #expect(SHA256.hash(data: message.lazy.map { $0 }) == whole)
        #expect(SHA256.hash(data: message.dropFirst(0)) == whole)
    }

    @Test("a copy of a hash goes its own way, and a digest in between changes nothing")
    func copies() {
        var first = SHA256()
        first.update(data: Array("ab".utf8))
        var second = first
        #expect(first.finalize() == SHA256.hash(data: Array("ab".utf8)))
        second.update(data: Array("c".utf8))
        #expect(second.finalize() == SHA256.hash(data: Array("abc".utf8)))
        first.update(data: Array("d".utf8))
        #expect(first.finalize() == SHA256.hash(data: Array("abd".utf8)))
    }

    @Test("a code under an empty key is not one under the key before")
    func emptyKey() {
        let secret = HMAC<SHA256>.authenticationCode(for: [1], using: SymmetricKey(data: [1, 2, 3]))
        let empty = HMAC<SHA256>.authenticationCode(for: [1], using: SymmetricKey(data: []))
        #expect(empty != secret)
        // A key is padded with zeros to a block.
        #expect(empty == HMAC<SHA256>.authenticationCode(for: [1], using: SymmetricKey(data: [0, 0])))
    }

    @Test("numbers that scrypt does not take are refused")
    func bounds() {
        for (rounds, blockSize, parallelism) in [
            (0, 8, 1), (1, 8, 1), (3, 8, 1), (-2, 8, 1), (16, 0, 1), (16, 8, 0), (1 << 40, 8, 1), (1 << 20, 9, 1),
        ] {
            #expect(throws: CryptoError.parameters) {
                try Scrypt.deriveKey(
                    from: [1],
                    salt: [2],
                    outputByteCount: 32,
                    rounds: rounds,
                    blockSize: blockSize,
                    parallelism: parallelism
                )
            }
        }
    }

    @Test("many threads hash at once")
    func threads() async {
        let message = Array("one two three".utf8)
        let (hash, key) = (SHA256.hash(data: message), SymmetricKey(data: message))
        let code = HMAC<SHA256>.authenticationCode(for: message, using: key)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<500).allSatisfy { _ in
                        SHA256.hash(data: message) == hash
                            && HMAC<SHA256>.authenticationCode(for: message, using: key) == code
                    }
                }
            }
            for await isSame in group { #expect(isSame) }
        }
    }
}
