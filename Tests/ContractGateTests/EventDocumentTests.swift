import AMQP
import ContractGate
import Contracts
import Foundation
import Messaging
import TestSupport
import Testing

@Suite("The document of all events")
struct EventDocumentTests {
    private static let committed = Repository.path("deploy/events/asyncapi.json")

    private static func key(_ type: EventType) -> String { type.rawValue.replacing(".", with: "-") }

    @Test("the committed document is the one of this build; scripts/events writes it")
    func fresh() throws {
        let now = try EventDocument.ofThisBuild().asyncAPI.document()
        if ProcessInfo.processInfo.environment["TRANSFA_WRITE_GOLDEN"] == "1" {
            try now.write(to: URL(fileURLWithPath: Self.committed))
        }
        let text = try String(contentsOfFile: Self.committed, encoding: .utf8)
        #expect(text == String(decoding: now, as: UTF8.self), "stale: run scripts/events")
    }

    @Test("it is read back as it was written")
    func roundTrip() throws {
        let document = try EventDocument.ofThisBuild()
        let text = try document.asyncAPI.document()
        #expect(try EventDocument(asyncAPI: JSONNode(json: text)) == document)
    }

    @Test("it names who sends and who receives each kind of event, as the catalogue does")
    func operations() throws {
        let operations = try #require(try EventDocument.ofThisBuild().asyncAPI["operations"]?.members)
        let expected = EventCatalogue.all.flatMap { definition in
            ["\(definition.source.rawValue)-send-\(Self.key(definition.type))"]
                + definition.consumers.map { "\($0.rawValue)-receive-\(Self.key(definition.type))" }
        }
        #expect(Set(operations.keys) == Set(expected))
    }

    @Test("a routing key is of the described form, and its partition among the described ones")
    func routingKeys() throws {
        let channels = try #require(try EventDocument.ofThisBuild().asyncAPI["channels"])
        for definition in EventCatalogue.all {
            let channel = try #require(channels[Self.key(definition.type)])
            let key = Topology.routingKey(type: definition.type, subject: UUID().uuidString)
            let partition = String(key.prefix { $0 != "." })
            #expect(channel["address"]?.text == "{partition}" + key.dropFirst(partition.count))
            let partitions = channel["parameters"]?["partition"]?["enum"]?.elements?.compactMap(\.text)
            #expect(partitions?.contains(partition) == true)
        }
    }

    @Test("the headers of a published event are those that are described")
    func headers() throws {
        let document = try EventDocument.ofThisBuild()
        guard case .object(let fields) = document.headers else { throw TestFailure("headers are an object") }
        for isFull in [false, true] {
            let attributes = EventAttributes(
                id: UUID(),
                source: "auth",
                type: UserErased.type,
                majorVersion: 1,
                subject: "somebody",
                time: "2026-11-21T01:07:05.123Z",
                sequence: 7,
                traceparent: isFull ? "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" : nil,
                correlationid: isFull ? UUID() : nil
            )
            let published = EventHeaders.fields(attributes).mapValues { value -> JSONNode in
                switch value {
                case .string(let text): .text(text)
                case .int64(let number): .number(number)
                default: .null
                }
            }
            #expect(document.headers.accepts(.object(published)))
            let described = fields.filter { isFull || $0.isRequired }.map(\.name)
            #expect(Set(published.keys) == Set(described))
        }
    }

    @Test("another implementation of AsyncAPI and JSON Schema takes it with all golden files, and refuses spoilt ones")
    func otherTools() async throws {
        let file = "\(Scratch.directory)/asyncapi-\(Scratch.shortName()).json"
        let document = try EventDocument.ofThisBuild().asyncAPI
        try document.document().write(to: URL(fileURLWithPath: file))
        try await TestPython.run("asyncapi.py", [file, Golden.folder])
    }

    @Test(
        "a document that is not AsyncAPI, or does not fit the golden files, is noticed by the other implementation",
        arguments: [
            (["asyncapi"], "4.5.6"), (["info"], [:]),
            (["channels", "user-erased", "bindings", "amqp", "is"], "nothing"),
            (["operations", "auth-send-user-erased", "action"], "shout"),
            (["operations", "auth-send-user-erased", "channel", "$ref"], "#/channels/nothing"),
            (["components", "schemas", "user-erased-v1", "properties", "user_id", "type"], "integer"),
            (["components", "schemas", "user-erased-v1", "properties", "user_id", "type"], "whatever"),
        ] as [([String], JSONNode)]
    )
    func spoilt(path: [String], value: JSONNode) async throws {
        let file = "\(Scratch.directory)/asyncapi-\(Scratch.shortName()).json"
        let document = try EventDocument.ofThisBuild().asyncAPI.replacing(path[...], by: value)
        try document.document().write(to: URL(fileURLWithPath: file))
        await #expect(throws: TestFailure.self) { try await TestPython.run("asyncapi.py", [file, Golden.folder]) }
    }

    @Test(
        "what is no document of events is refused with the place",
        arguments: ["{}", #"{"asyncapi":"3.0.0"}"#, #"{"asyncapi":"3.0.0","channels":{}}"#]
    )
    func unreadable(_ text: String) throws {
        let node = try JSONNode(json: Data(text.utf8))
        #expect(throws: UnreadableDocument.self) { try EventDocument(asyncAPI: node) }
    }
}
