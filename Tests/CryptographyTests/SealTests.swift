import Cryptography
import Testing

@Suite("AES-GCM, keys and random bytes")
struct SealTests {
    @Test("texts of SP 800-38D's validation", arguments: Vector.named("AES-GCM"))
    func examples(_ vector: Vector) throws {
        let key = SymmetricKey(data: vector(0))
        let sealed = vector(1) + vector(3) + vector(4)
        guard vector.isGood else {
            #expect(throws: CryptoError.notAuthentic) {
                try AES.GCM.open(sealed, using: key, authenticating: vector(2))
            }
            return
        }
        #expect(try AES.GCM.open(sealed, using: key, authenticating: vector(2)) == vector(5))
        #expect(try AES.GCM.seal(vector(5), using: key, nonce: vector(1), authenticating: vector(2)) == sealed)
    }

    @Test("one bit off anywhere, another key or another context is refused")
    func changed() throws {
        let key = SymmetricKey(size: .bits256)
        let (text, context) = (Array("a description".utf8), Array("transfer 7".utf8))
        let sealed = try AES.GCM.seal(text, using: key, authenticating: context)
        #expect(try AES.GCM.open(sealed, using: key, authenticating: context) == text)
        for bit in 0..<sealed.count * 8 {
            var other = sealed
            other[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: CryptoError.notAuthentic) { try AES.GCM.open(other, using: key, authenticating: context) }
        }
        #expect(throws: CryptoError.notAuthentic) { try AES.GCM.open(sealed, using: key) }
        #expect(throws: CryptoError.notAuthentic) { try AES.GCM.open(sealed, using: key, authenticating: [1]) }
        #expect(throws: CryptoError.notAuthentic) {
            try AES.GCM.open(sealed, using: SymmetricKey(size: .bits256), authenticating: context)
        }
        #expect(throws: CryptoError.notAuthentic) {
            try AES.GCM.open(sealed.dropLast(), using: key, authenticating: context)
        }
        #expect(throws: CryptoError.notAuthentic) {
            try AES.GCM.open(sealed + [0], using: key, authenticating: context)
        }
        // A refused text leaves nothing behind that spoils the next.
        #expect(try AES.GCM.open(sealed, using: key, authenticating: context) == text)
    }

    @Test("sizes that do not exist are refused")
    func sizes() {
        for count in [0, 1, 15, 17, 31, 33, 64] {
            let key = SymmetricKey(data: [UInt8](repeating: 1, count: count))
            #expect(throws: CryptoError.wrongSize("key", count)) { try AES.GCM.seal([1], using: key) }
            #expect(throws: CryptoError.wrongSize("key", count)) {
                try AES.GCM.open([UInt8](repeating: 1, count: 40), using: key)
            }
        }
        let key = SymmetricKey(size: .bits128)
        for count in [0, 11, 13] {
            #expect(throws: CryptoError.wrongSize("nonce", count)) {
                try AES.GCM.seal([1], using: key, nonce: [UInt8](repeating: 1, count: count))
            }
        }
        for count in 0..<28 {
            #expect(throws: CryptoError.wrongSize("sealed text", count)) {
                try AES.GCM.open([UInt8](repeating: 1, count: count), using: key)
            }
        }
    }

    @Test("no nonce is used twice, no key made twice")
    func unique() throws {
        let key = SymmetricKey(size: .bits192)
        #expect(try Set((0..<2000).map { _ in Array(try AES.GCM.seal([], using: key).prefix(12)) }).count == 2000)
        #expect(Set((0..<2000).map { _ in SymmetricKey(size: .bits256).bytes }).count == 2000)
        #expect(SymmetricKey(size: .bits192).bitCount == 192)
        #expect(randomBytes(0).isEmpty && randomBytes(100).count == 100 && randomBytes(32) != randomBytes(32))
    }

    @Test("a key shows nothing of itself, and is equal to its copy alone")
    func secrecy() {
        let key = SymmetricKey(data: Array("secret".utf8))
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!"\(key) \(String(reflecting: key)) \(dumped)".contains("115") && "\(key)".contains("redacted"))
        #expect(key == SymmetricKey(data: Array("secret".utf8)) && key != SymmetricKey(data: Array("secreT".utf8)))
        #expect(key != SymmetricKey(data: Array("secret1".utf8)) && SymmetricKey(data: []) == SymmetricKey(data: []))
        #expect(ConstantTime.equal([1, 2], [1, 2]) && !ConstantTime.equal([1, 2], [1, 3]))
        #expect(!ConstantTime.equal([1], [1, 2]) && ConstantTime.equal([], []))
    }

    @Test("constant-time equality is equality", arguments: [("", ""), ("a", "a"), ("a", "b"), ("a", "ab"), ("é", "e")])
    func constantTime(_ left: String, _ right: String) {
        #expect(ConstantTime.equal(left, right) == (left == right))
    }
}
