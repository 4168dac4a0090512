import Foundation
import Primitives
import ServiceKit
import Testing

@testable import ConsoleService

@Suite("What is an event")
struct ArchivedEventTests {
    @Test("an envelope is kept byte for byte, with what it can be found by")
    func whole() throws {
        let (id, correlation, causation) = (ids.next(), UUID(), UUID())
        let data = #"{"transaction_id":"t-1","amount":5,"reference":"trf-1","new":{"deep":[1,2]},"payment_id":7}"#
        let body = try envelope(
            id,
            subject: "s",
            sequence: 9,
            correlation: correlation,
            causation: causation,
            data: data
        )
        let event = try ArchivedEvent(bytes: Array(body))
        #expect(event.id == id && event.type == "transaction.created" && event.subject == "s" && event.sequence == 9)
        #expect(event.correlationID == correlation && event.causationID == causation)
        // A member of another type than expected is no reference, and no problem.
        #expect(event.references == ["t-1", "trf-1"])
        #expect(Data(event.body.utf8) == body)
        #expect(event.time.millisecondsSince1970 == id.version7Milliseconds)
        #expect(event.day == Int(try #require(id.version7Milliseconds)) / 86_400_000)
    }

    @Test("what its subject is, or what is too long for an index, is no reference")
    func references() throws {
        let long = String(repeating: "x", count: 513)
        let data = #"{"transaction_id":"s","reference":"\#(long)"}"#
        #expect(try ArchivedEvent(bytes: Array(try envelope(subject: "s", data: data))).references == [])
    }

    @Test("data of any form is taken, and a time that cannot be read is that of the id")
    func oddData() throws {
        for data in ["null", "[]", "5", #""text""#, #"{"transaction_id":{"a":1}}"#] {
            #expect(try ArchivedEvent(bytes: Array(try envelope(data: data))).references == [])
        }
        let text = String(decoding: try envelope(), as: UTF8.self)
        let broken = text.replacing(/"time":"[^"]*"/, with: #""time":"yesterday""#)
        let event = try ArchivedEvent(bytes: Array(broken.utf8))
        #expect(event.time.millisecondsSince1970 == event.id.version7Milliseconds)
    }

    @Test("bytes that are no event say why")
    func odd() throws {
        let subject = String(repeating: "s", count: 513)
        let cases: [([UInt8], ArchivedEvent.MalformedReason)] = [
            ([], .notAnEnvelope), (Array("{}".utf8), .notAnEnvelope), (Array("[1,2".utf8), .notAnEnvelope),
            ([0xff, 0xfe], .notText), (Array(try envelope()) + [0], .notText),
            (Array(try envelope(UUID())), .badID), (Array(try envelope(subject: subject)), .badAttribute),
        ]
        for (bytes, reason) in cases {
            #expect(throws: reason) { try ArchivedEvent(bytes: bytes) }
        }
    }

    @Test("an envelope that was written on several lines is one line of the feed, whatever ends its lines")
    func lines() {
        let body = "{\r\n\"a\":\n1\r}"
        let event = StoredEvent(id: ids.next(), position: 1, storedAt: Date(), origin: "stream", body: body)
        let answer = EventListText.lines([event], nextCursor: "c")
        #expect(String(decoding: answer.body, as: UTF8.self) == "{  \"a\": 1 }\n")
    }
}
