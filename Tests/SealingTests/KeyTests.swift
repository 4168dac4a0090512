import Foundation
import Sealing
import Testing

@Suite("Keys")
struct KeyTests {
    private static func master(_ id: String, _ byte: UInt8) throws -> MasterKey {
        try MasterKey(id: id, bytes: Array(repeating: byte, count: 32))
    }

    @Test("a wrapped data key opens to the same key, also after travelling as text and JSON")
    func roundTrip() throws {
        let ring = try MasterKeyRing([try Self.master("2026-11", 1)])
        let user = UUID()
        let key = DataKey()
        let wrapped = try ring.wrap(key, for: user)
        #expect(wrapped.masterKeyID == "2026-11")
        #expect(try ring.unwrap(wrapped, for: user) == key)
        #expect(try ring.unwrap(try WrappedKey(text: wrapped.text), for: user) == key)
        let json = try JSONEncoder().encode([wrapped])
        #expect(try JSONDecoder().decode([WrappedKey].self, from: json) == [wrapped])
    }

    @Test("a wrapped key does not open for another user")
    func otherUser() throws {
        let ring = try MasterKeyRing([try Self.master("a", 1)])
        let wrapped = try ring.wrap(DataKey(), for: UUID())
        let error = #expect(throws: SealingError.self) { try ring.unwrap(wrapped, for: UUID()) }
        #expect(error?.code == .notAuthentic)
    }

    @Test("after rotation the first key wraps, the old one still opens, and a removed one does not")
    func rotation() throws {
        let old = try Self.master("old", 1)
        let new = try Self.master("new", 2)
        let user = UUID()
        let key = DataKey()
        let wrapped = try MasterKeyRing([old]).wrap(key, for: user)
        let both = try MasterKeyRing([new, old])
        #expect(try both.unwrap(wrapped, for: user) == key)
        #expect(both.needsRewrap(wrapped))
        let rewrapped = try both.wrap(try both.unwrap(wrapped, for: user), for: user)
        #expect(rewrapped.masterKeyID == "new")
        #expect(!both.needsRewrap(rewrapped))
        let onlyNew = try MasterKeyRing([new])
        #expect(try onlyNew.unwrap(rewrapped, for: user) == key)
        let error = #expect(throws: SealingError.self) { try onlyNew.unwrap(wrapped, for: user) }
        #expect(error?.code == .unknownMasterKey)
    }

    @Test("a wrapped key that claims another master key does not open")
    func swappedID() throws {
        // The same bytes under two ids: only the id in the associated data tells them apart.
        let ring = try MasterKeyRing([try Self.master("a", 1), try Self.master("b", 1)])
        let user = UUID()
        let wrapped = try ring.wrap(DataKey(), for: user)
        let forged = try WrappedKey(text: wrapped.text.replacing("k1.a.", with: "k1.b."))
        let error = #expect(throws: SealingError.self) { try ring.unwrap(forged, for: user) }
        #expect(error?.code == .notAuthentic)
    }

    @Test("a change of any byte makes unwrapping fail")
    func tampered() throws {
        let ring = try MasterKeyRing([try Self.master("a", 1)])
        let user = UUID()
        let text = try ring.wrap(DataKey(), for: user).text
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        for position in "k1.a.".count..<text.count {
            var characters = Array(text)
            let index = try #require(alphabet.firstIndex(of: characters[position]))
            // The highest of the six bits: never one of the unused last ones.
            characters[position] = alphabet[index ^ 32]
            #expect(throws: SealingError.self) { try ring.unwrap(try WrappedKey(text: String(characters)), for: user) }
        }
    }

    @Test("the configuration text names several keys, in either base64 alphabet")
    func configurationText() throws {
        let first = Data(repeating: 0xfb, count: 32).base64EncodedString()
        let second = Data(repeating: 0xff, count: 32).base64EncodedString()
        let urlSafe = second.replacing("/", with: "_").replacing("=", with: "")
        let ring = try MasterKeyRing(text: "k2:\(first), k1:\(urlSafe)")
        let wrapped = try MasterKey(id: "k1", bytes: Data(repeating: 0xff, count: 32)).wrap(DataKey(), for: UUID())
        #expect(ring.needsRewrap(wrapped))
        #expect(try ring.wrap(DataKey(), for: UUID()).masterKeyID == "k2")
    }

    @Test(
        "a bad configuration text is refused and not quoted",
        arguments: [
            "", "hunter2", "k1:", "k1:hunter2", "k1:\(String(repeating: "A", count: 40))",
            ":\(String(repeating: "A", count: 43))",
        ]
    )
    func badConfigurationText(_ text: String) {
        let error = #expect(throws: SealingError.self) { try MasterKeyRing(text: text) }
        #expect(error.map { "\($0)".contains("hunter2") } == false)
    }

    @Test("two keys of the same id and an empty ring are refused")
    func badRings() {
        #expect(throws: SealingError.self) { try MasterKeyRing([]) }
        #expect(throws: SealingError.self) { try MasterKeyRing([try Self.master("a", 1), try Self.master("a", 2)]) }
        #expect(throws: SealingError.self) { try Self.master("a.b", 1) }
        #expect(throws: SealingError.self) { try MasterKey(id: "a", bytes: [1]) }
        #expect(throws: SealingError.self) { try DataKey(bytes: [1]) }
    }

    @Test("no text form, mirror or dump of a secret shows its bytes")
    func redacted() throws {
        let bytes = Array("hunter2hunter2hunter2hunter2hun!".utf8)
        let secrets: [Any] = [
            try DataKey(bytes: bytes), try MasterKey(id: "a", bytes: bytes),
            try MasterKeyRing([try MasterKey(id: "a", bytes: bytes)]), try BlindIndex(key: bytes),
            try DevicePrivateKey(bytes: bytes), try SvixSecret(text: "whsec_" + Data(bytes).base64EncodedString()),
        ]
        for secret in secrets {
            var dumped = ""
            dump(secret, to: &dumped)
            for text in ["\(secret)", String(reflecting: secret), dumped] {
                #expect(!text.contains("hunter2") && !text.contains("104") && !text.contains("aHVudGVy"))
            }
        }
    }
}
