import Foundation
import HTTPTypes
import Testing

@testable import ServiceKit

private struct Payment: Decodable, Equatable {
    struct Details: Decodable, Equatable {
        let bvn: String
    }

    let amount: Int64
    var note: String?
    var details: Details?
    var tags: [String]?
    var items: [Item]?

    struct Item: Decodable, Equatable {
        let name: String
    }

    enum CodingKeys: String, CodingKey {
        case amount
        case note
        case details = "kyc_details"
        case tags, items
    }
}

private func refusal(_ text: String) -> APIError? {
    do {
        _ = try StrictJSONDecoder.decodeClosed(Payment.self, from: Array(text.utf8))
        return nil
    } catch let error as StrictJSONError {
        return APIError.from(error)
    } catch let error as DecodingError {
        return APIError.from(error)
    } catch {
        return APIError.unexpected
    }
}

@Suite("strict JSON")
struct StrictJSONTests {
    @Test("bytes that are not decoded here are one value in UTF-8, with each name once, or none")
    func undecoded() {
        #expect(StrictJSONText.isOne(Array(#"{"data":{"id":"a","type":"x"},"more":[1,{"id":"a"}]}"#.utf8)))
        for text in ["", "{", #"{"a":1,"a":2}"#, #"{"a":{"b":1,"\u0062":2}}"#, "{} {}", #"{"a":"\u0000"}"#] {
            #expect(!StrictJSONText.isOne(Array(text.utf8)), Comment(rawValue: text))
        }
        #expect(!StrictJSONText.isOne("{}".utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }))
    }

    @Test("what programs send decodes, and members that nobody knows yet are passed over")
    func good() throws {
        let text = #" {"amount": 9223372036854775807, "note":"a\u00e9\ud83d\ude00\n", "extra": [1.5, {"x": null}]} "#
        let payment = try StrictJSONDecoder.decode(Payment.self, from: Array(text.utf8))
        #expect(payment == Payment(amount: .max, note: "aé😀\n"))
    }

    @Test(
        "a member that the type does not ask for is refused with its place, wherever it is",
        arguments: [
            (#"{"amount":1,"nte":"a"}"#, "/nte"), (#"{"amount":1,"note":null,"x":null}"#, "/x"),
            (#"{"amount":1,"kyc_details":{"bvn":"1","nin":"2"}}"#, "/kyc_details/nin"),
            (#"{"amount":1,"Amount":2}"#, ""), (#"{"amount":1,"Ada Testperson":2}"#, ""),
            (#"{"amount":1,"items":[{"name":"a"},{"name":"b","nam":"c"}]}"#, "/items/1/nam"),
        ]
    )
    func unknown(text: String, pointer: String) {
        let error = refusal(text)
        #expect(error?.status.code == 400)
        #expect(error?.code == "unknown_field")
        #expect(error?.source == .pointer(pointer))
        #expect(error?.detail?.contains("Ada") == false)
    }

    @Test("members that a type asks for only sometimes are known when it has asked")
    func asked() throws {
        struct Word: Decodable {
            let text: String
            private enum CodingKeys: String, CodingKey { case kind, text }
            init(from decoder: any Decoder) throws {
                let members = try decoder.container(keyedBy: CodingKeys.self)
                let isKept = try members.decodeIfPresent(String.self, forKey: .kind) == "kept"
                self.text = isKept ? try members.decode(String.self, forKey: .text) : ""
            }
        }
        func decode(_ text: String) throws -> String {
            try StrictJSONDecoder.decodeClosed(Word.self, from: Array(text.utf8)).text
        }
        let kept = try decode(#"{"kind":"kept","text":"a"}"#)
        #expect(kept == "a")
        #expect(throws: StrictJSONError(reason: .unknownName, pointer: "/text")) {
            try decode(#"{"kind":"other","text":"a"}"#)
        }
        let free = Array(#"{"a":{"b":"1"},"c":{}}"#.utf8)
        let names = try StrictJSONDecoder.decodeClosed([String: [String: String]].self, from: free)
        #expect(names.count == 2)
    }

    @Test("null counts as absent for an optional member")
    func null() throws {
        let payment = try StrictJSONDecoder.decode(Payment.self, from: Array(#"{"amount":1,"note":null}"#.utf8))
        #expect(payment.note == nil)
    }

    @Test(
        "an amount that is not a plain integer in range is refused with its place",
        arguments: [
            ("1.0", "invalid_type"), ("1.5", "invalid_type"), ("1e3", "invalid_type"), ("\"1\"", "invalid_type"),
            ("true", "invalid_type"), ("null", "missing_field"), ("9223372036854775808", "invalid_value"),
            ("-9223372036854775809", "invalid_value"), ("[]", "invalid_type"),
        ]
    )
    func amounts(text: String, code: String) {
        let error = refusal(#"{"amount":\#(text)}"#)
        #expect(error?.status.code == 400)
        #expect(error?.code == code)
        #expect(error?.source == .pointer("/amount"))
    }

    @Test(
        "what RFC 8259 does not allow is malformed",
        arguments: [
            "", "{", "{]", #"{"amount":NaN}"#, #"{"amount":Infinity}"#, #"{"amount":01}"#, #"{"amount":+1}"#,
            #"{"amount":1.}"#, #"{"amount":.5}"#, #"{"amount":1,}"#, #"{'amount':1}"#, #"{"amount":1} x"#,
            #"{"amount":1 "note":""}"#, #"{"note":"\x"}"#, #"{"note":"\ud800"}"#, "{\"note\":\"\n\"}", "nul", "-",
            #"{"amount":1e}"#, "\u{feff}{}",
        ]
    )
    func malformed(text: String) {
        #expect(refusal(text)?.code == "invalid_json")
    }

    @Test("a duplicated member is refused with its place, also in an ignored object")
    func duplicates() {
        #expect(refusal(#"{"amount":1,"amount":2}"#)?.source == .pointer("/amount"))
        let nested = refusal(#"{"amount":1,"x":[{"a":1,"a":1}]}"#)
        #expect(nested?.code == "duplicate_field")
        #expect(nested?.source == .pointer("/x/0/a"))
    }

    @Test("a name that none of our members can have is not repeated: somebody has typed it into the wrong place")
    func strangeNames() {
        for name in ["Ada Testperson", "22112345678", "ada@example.com", "", String(repeating: "a", count: 41)] {
            let inside = refusal(#"{"amount":1,"details":{"\#(name)":{"a":tru}}}"#)
            #expect(inside?.code == "invalid_json" && inside?.source == .pointer("/details"))
            #expect(refusal(#"{"amount":1,"\#(name)":"#)?.source == .pointer(""))
        }
        #expect(refusal(#"{"amount":1,"kyc_details2":"#)?.source == .pointer("/kyc_details2"))
    }

    @Test("names that only differ in escapes are the same name")
    func escapedDuplicate() {
        #expect(refusal(#"{"amount":1,"\u0061mount":2}"#)?.code == "duplicate_field")
    }

    @Test("invalid UTF-8 is refused")
    func utf8() {
        #expect(throws: StrictJSONError(reason: .notUTF8, pointer: "")) {
            try StrictJSONParser.parse([0x22, 0xc3, 0x28, 0x22])
        }
    }

    @Test("the character zero is refused with its place, in a name too")
    func zero() {
        let value = refusal(#"{"amount":1,"note":"a\u0000b"}"#)
        #expect(value?.code == "null_character")
        #expect(value?.source == .pointer("/note"))
        #expect(refusal(#"{"amount":1,"no\u0000te":"a"}"#)?.code == "null_character")
    }

    @Test("every refusal has a sentence for people")
    func sentences() {
        for text in ["{", #"{"amount":1,"amount":1}"#, "{}", #"{"amount":"1"}"#, #"{"amount":99999999999999999999}"#] {
            #expect(refusal(text)?.detail?.hasSuffix(".") == true, "\(text)")
        }
    }

    @Test("a nested member is named by its whole path, and a missing one too")
    func paths() {
        #expect(refusal(#"{"amount":1,"kyc_details":{"bvn":22212345678}}"#)?.source == .pointer("/kyc_details/bvn"))
        let missing = refusal(#"{"amount":1,"kyc_details":{}}"#)
        #expect(missing?.code == "missing_field")
        #expect(missing?.source == .pointer("/kyc_details/bvn"))
        #expect(refusal(#"{"amount":1,"tags":["a",2]}"#)?.source == .pointer("/tags/1"))
    }

    @Test("depth is bounded")
    func depth() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(refusal(deep)?.code == "too_deep")
    }

    @Test("no refusal repeats a value")
    func quietRefusals() {
        let error = refusal(#"{"amount":"22212345678"}"#)
        #expect(error?.detail?.contains("222") == false)
    }

    @Test("names with slashes and tildes are escaped in pointers")
    func pointerEscapes() {
        #expect(JSONPointer.text(["a/b", "~c", "0"]) == "/a~1b/~0c/0")
    }

    @Test("dates, bytes and small integers decode strictly")
    func otherTypes() throws {
        struct Other: Decodable {
            let at: Date
            let raw: Data
            let small: UInt8
        }
        let good = #"{"at":"2026-11-21T01:07:05.123Z","raw":"AQI=","small":255}"#
        let value = try StrictJSONDecoder.decode(Other.self, from: Array(good.utf8))
        #expect(value.raw == Data([1, 2]))
        #expect(abs(value.at.timeIntervalSince1970 - 1_795_223_225.123) < 0.001)
        for bad in ["256", "-1"] {
            let text = #"{"at":"2026-11-21T01:07:05.123Z","raw":"AQI=","small":\#(bad)}"#
            #expect(throws: DecodingError.self) { try StrictJSONDecoder.decode(Other.self, from: Array(text.utf8)) }
        }
    }
}
