import Contracts
import Foundation
import Testing

@Suite("Events as contracts")
struct EventContractTests {
    private static let golden = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "Golden"
    )

    @Test("each kind of event has a golden file that it still reads and writes", arguments: eventSamples)
    func golden(_ sample: EventSample) throws {
        let file = Self.golden.appendingPathComponent("\(sample.name).json")
        if ProcessInfo.processInfo.environment["TRANSFA_WRITE_GOLDEN"] == "1" {
            try FileManager.default.createDirectory(at: Self.golden, withIntermediateDirectories: true)
            try Data(sample.json.utf8).write(to: file)
        }
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(try sample.roundTrips(text), "the golden file no longer means the same")
        #expect(text == sample.json, "what is written today differs from the golden file")
    }

    @Test("ids are written in lower case")
    func lowerCase() {
        let text = eventSamples.map(\.json).joined()
        #expect(text.contains(sampleID.uuidString.lowercased()))
        #expect(!text.contains(sampleID.uuidString))
    }

    @Test("every kind in the catalogue has a sample, and no golden file is left over")
    func complete() throws {
        let names = Set(EventCatalogue.all.map { "\($0.type.rawValue).v\($0.majorVersion)" })
        #expect(names == Set(eventSamples.map(\.name)))
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.golden.path)
        #expect(Set(files) == Set(names.map { $0 + ".json" }))
    }

    @Test("unknown fields are ignored and unknown words are kept")
    func openness() throws {
        let json =
            #"{"user_id":"01932F5E-0000-7000-8000-000000000001","restriction":"quarantined","reason":"x","new":1}"#
        let event = try JSONDecoder().decode(UserRestricted.self, from: Data(json.utf8))
        #expect(event.restriction == .unknown("quarantined"))
        #expect(String(decoding: try JSONEncoder().encode(event.restriction), as: UTF8.self) == #""quarantined""#)
    }

    @Test("a missing field is refused")
    func missingField() {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(UserErased.self, from: Data("{}".utf8))
        }
    }
}

@Suite("The envelope")
struct EventEnvelopeTests {
    private let attributes = EventAttributes(
        id: sampleID,
        source: "auth",
        type: UserErased.type,
        majorVersion: 1,
        subject: "somebody",
        time: "2026-11-21T01:07:05.123Z",
        sequence: 7,
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        correlationid: sampleID
    )

    @Test("attributes and data come back as they went in")
    func roundTrip() throws {
        let data = #"{"user_id":"01932F5E-0000-7000-8000-000000000001"}"#
        let body = try EventEnvelope.body(self.attributes, dataJSON: data)
        #expect(try EventEnvelope.attributes(in: body) == self.attributes)
        #expect(try EventEnvelope.data(UserErased.self, in: body) == UserErased(userID: sampleID))
        #expect(String(decoding: body, as: UTF8.self).hasSuffix(#""data":\#(data)}"#))
    }

    @Test("it is CloudEvents 1.0: the required attributes are there under their names")
    func cloudEvents() throws {
        let body = try EventEnvelope.body(self.attributes, dataJSON: "{}")
        let object = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        #expect(object["specversion"] as? String == "1.0")
        #expect(object["id"] as? String == sampleID.uuidString.lowercased())
        #expect(object["source"] as? String == "auth")
        #expect(object["type"] as? String == "user.erased")
        #expect(object["datacontenttype"] as? String == "application/json")
        #expect(object["dataschema"] as? String == "transfa:user.erased:1")
    }

    @Test("the major version is read from dataschema", arguments: [("transfa:a.b:2", 2), ("transfa:a.b:x", nil)])
    func version(schema: String, expected: Int?) {
        var attributes = self.attributes
        attributes.dataschema = schema
        #expect(attributes.majorVersion == expected)
    }
}
