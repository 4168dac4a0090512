import Foundation
import Sealing
import Testing

@Suite("Sealed fields")
struct SealedFieldTests {
    private let key = DataKey()
    private let context = SealContext(user: UUID(), field: "beneficiary.account_number", schema: 2)

    @Test(
        "what was sealed opens to the same text",
        arguments: ["", "0123456789", "Adébáyọ̀ Ọlọ́runfẹ́mi", "₦", String(repeating: "x", count: 100_000), "a\u{0}b"]
    )
    func roundTrip(_ text: String) throws {
        let sealed = try SealedField.seal(text, key: self.key, context: self.context)
        #expect(try sealed.open(key: self.key, context: self.context) == text)
        let travelled = try SealedField(text: sealed.text)
        #expect(travelled == sealed)
        #expect(try travelled.open(key: self.key, context: self.context) == text)
    }

    @Test("a file that is no text opens to the same bytes, and not as a text")
    func file() throws {
        let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 * 31) }
        let sealed = try SealedField.seal(bytes: bytes, key: self.key, context: self.context)
        #expect(try SealedField(text: sealed.text).openBytes(key: self.key, context: self.context) == bytes)
        #expect(throws: SealingError.self) { try sealed.open(key: self.key, context: self.context) }
        #expect(throws: SealingError.self) { try sealed.openBytes(key: DataKey(), context: self.context) }
    }

    @Test("the same text sealed a thousand times gives a thousand results")
    func noncesDiffer() throws {
        let all = try Set((0..<1000).map { _ in try SealedField.seal("same", key: self.key, context: self.context) })
        #expect(all.count == 1000)
    }

    @Test("a change of any single bit makes opening fail")
    func tamperedBits() throws {
        let sealed = try SealedField.seal("22222222226", key: self.key, context: self.context)
        let raw = try #require(Data(base64Encoded: Self.padded(String(sealed.text.dropFirst(3)))))
        for bit in 0..<raw.count * 8 {
            var changed = raw
            changed[bit / 8] ^= 1 << (bit % 8)
            let text =
                "s1."
                + changed.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
                    "=",
                    with: ""
                )
            let field = try SealedField(text: text)
            #expect(Self.code { try field.open(key: self.key, context: self.context) } == .notAuthentic)
        }
    }

    @Test("a cut or lengthened value does not open")
    func tamperedLength() throws {
        let sealed = try SealedField.seal("12345678", key: self.key, context: self.context)
        for text in [String(sealed.text.dropLast(4)), sealed.text + "AAAA"] {
            let field = try SealedField(text: text)
            #expect(Self.code { try field.open(key: self.key, context: self.context) } == .notAuthentic)
        }
    }

    @Test("another user, field, schema or key does not open it")
    func wrongContext() throws {
        let sealed = try SealedField.seal("12345678", key: self.key, context: self.context)
        let others = [
            SealContext(user: UUID(), field: self.context.field, schema: 2),
            SealContext(user: self.context.user, field: "beneficiary.account_name", schema: 2),
            SealContext(user: self.context.user, field: self.context.field, schema: 1),
            SealContext(user: self.context.user, field: "", schema: 2),
        ]
        for other in others {
            #expect(Self.code { try sealed.open(key: self.key, context: other) } == .notAuthentic)
        }
        #expect(Self.code { try sealed.open(key: DataKey(), context: self.context) } == .notAuthentic)
    }

    @Test(
        "text that is no sealed field is refused",
        arguments: [
            "", "s1.", "s1.AAAA", "s2.\(String(repeating: "A", count: 40))", "hello",
            "s1.\(String(repeating: "=", count: 40))",
        ]
    )
    func notSealed(_ text: String) {
        #expect(Self.code { try SealedField(text: text) } == .malformed)
    }

    @Test("its JSON is its text form, and its description shows nothing")
    func coding() throws {
        let sealed = try SealedField.seal("12345678", key: self.key, context: self.context)
        let json = try JSONEncoder().encode([sealed])
        #expect(String(decoding: json, as: UTF8.self) == "[\"\(sealed.text)\"]")
        #expect(try JSONDecoder().decode([SealedField].self, from: json) == [sealed])
        #expect("\(sealed)" == "[sealed]")
    }

    @Test("a blind index is equal for equal values and differs by field, value and key")
    func blindIndex() throws {
        let index = try BlindIndex(key: Array(repeating: 7, count: 32))
        #expect(index.index("phone", "+2348012345678") == index.index("phone", "+2348012345678"))
        let different = [
            index.index("phone", "+2348012345678"), index.index("phone", "+2348012345679"),
            index.index("bvn", "+2348012345678"), index.index("phon", "e+2348012345678"), index.index("phone", ""),
            try BlindIndex(key: Array(repeating: 8, count: 32)).index("phone", "+2348012345678"),
        ]
        #expect(Set(different).count == different.count)
        #expect(different.allSatisfy { $0.utf8.count == 64 })
        // Pinned: another value would lose every stored index.
        #expect(index.index("bvn", "22222222226") == "4b7ed2eec760a4712576f4aadef2db62c57792983ea5fef331c740c2108d256a")
        #expect(Self.code { try BlindIndex(key: [1, 2, 3]) } == .invalidKey)
    }

    private static func code<Value>(_ body: () throws -> Value) -> SealingError.Code? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? SealingError)?.code
        }
    }

    private static func padded(_ text: String) -> String {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        return plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
    }
}
