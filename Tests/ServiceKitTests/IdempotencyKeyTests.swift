import Cryptography
import Foundation
import HTTPTypes
import Primitives
import Sealing
import Testing

@testable import ServiceKit

@Suite("idempotency keys")
struct IdempotencyKeyTests {
    @Test("a key is taken as it stands, or from the quoted string of the draft")
    func good() {
        #expect(IdempotencyKey("8e03978e-40d5")?.text == "8e03978e-40d5")
        #expect(IdempotencyKey("\"8e03978e-40d5\"")?.text == "8e03978e-40d5")
        #expect(IdempotencyKey(#""a\"b\\c""#)?.text == #"a"b\c"#)
        #expect(IdempotencyKey(String(repeating: "k", count: 255)) != nil)
    }

    @Test(
        "anything else is no key",
        arguments: [
            "", "\"\"", "a b", "\"a", "a\u{7f}", "ключ", #""a"b""#, #""a\n""#, String(repeating: "k", count: 256),
        ]
    )
    func bad(header: String) {
        #expect(IdempotencyKey(header) == nil)
    }

    @Test("a fingerprint differs when any part does, also when bytes move between parts")
    func fingerprints() {
        let all = [
            RequestFingerprint(method: "POST", path: "/a", body: [1]),
            RequestFingerprint(method: "PUT", path: "/a", body: [1]),
            RequestFingerprint(method: "POST", path: "/b", body: [1]),
            RequestFingerprint(method: "POST", path: "/a", body: [2]),
            RequestFingerprint(method: "POST/", path: "a", body: [1]),
        ]
        #expect(Set(all).count == all.count)
    }

    @Test("a keyed hash tells texts apart, needs its key, and shows nothing of it")
    func keyedHash() {
        let key = SymmetricKey(data: Data(repeating: 7, count: 32))
        let hash = KeyedHash(key)
        #expect(hash("sesame") == KeyedHash(key)("sesame") && hash("sesame") != hash("sesami"))
        #expect(hash("sesame") != KeyedHash(SymmetricKey(size: .bits256))("sesame"))
        #expect(hash("sesame").count == 64)
        var dumped = ""
        dump(hash, to: &dumped)
        #expect("\(hash)" == "KeyedHash([redacted])" && dumped.contains("[redacted]") && !dumped.contains("key"))
    }

    @Test("a request is the same one on every replica while the key of its hash is being replaced")
    func replacedKey() throws {
        let old = try BlindIndex(key: Array(repeating: 1, count: 32))
        let new = try BlindIndex(key: Array(repeating: 2, count: 32))
        let scope = { (body: [UInt8], indexes: [BlindIndex]) in
            IdempotencyScope(
                user: UserID(UUID()),
                route: "PUT /pin",
                key: try #require(IdempotencyKey("k")),
                fingerprint: RequestFingerprint(method: "PUT", path: "/pin", body: body)
            ).hashed(with: indexes)
        }
        for (writer, reader) in [([old, new], [new, old]), ([new, old], [old, new]), ([old], [new, old])] {
            let answer = StoredAnswer(APIResponse(.ok, body: []), for: try scope([1], writer))
            #expect(try answer.replay(for: try scope([1], reader)).status == .ok)
            #expect(throws: APIError.self) { try answer.replay(for: try scope([2], reader)) }
        }
        let answer = StoredAnswer(APIResponse(.ok, body: []), for: try scope([1], [old]))
        #expect(throws: APIError.self) { try answer.replay(for: try scope([1], [new])) }
        #expect(try scope([1], [old]).fingerprint != scope([1], []).fingerprint)
    }

    @Test("a keyed hash knows what it would have been under the other keys")
    func former() {
        let (first, second) = (SymmetricKey(size: .bits256), SymmetricKey(size: .bits256))
        let hash = KeyedHash(first, others: [second])
        #expect(hash("sesame") == KeyedHash(first)("sesame"))
        #expect(hash.former("sesame") == [KeyedHash(second)("sesame")])
        #expect(KeyedHash(first).former("sesame").isEmpty)
    }

    @Test("success and business refusals are final, the rest may end otherwise")
    func final() {
        for code in [200, 201, 202, 204, 404, 410, 422] {
            #expect(StoredAnswer.isFinal(.init(code: code)))
        }
        for code in [400, 401, 403, 409, 429, 500, 503, 301] {
            #expect(!StoredAnswer.isFinal(.init(code: code)))
        }
    }

    @Test("an answer survives the trip through Redis")
    func text() {
        let answer = StoredAnswer(requestHash: [0, 255], status: 201, body: #"{"a": "b c"}"#)
        #expect(StoredAnswer(text: answer.text) == answer)
        let placed = StoredAnswer(requestHash: [7], status: 202, location: "/things/1", body: "")
        #expect(StoredAnswer(text: placed.text) == placed)
        #expect(StoredAnswer(text: "nonsense") == nil)
    }
}
