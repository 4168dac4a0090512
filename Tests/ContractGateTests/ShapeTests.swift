import ContractGate
import Contracts
import Foundation
import Testing

@Suite("Shapes of what is read")
struct ShapeTests {
    @Test("a golden file is of its shape, and every member of it is described", arguments: Golden.all)
    func golden(_ golden: Golden) throws {
        let (members, fields) = (try golden.members(), try golden.fields())
        #expect(ValueShape.object(fields).accepts(.object(members)))
        #expect(Set(members.keys).isSubset(of: fields.map(\.name)))
    }

    @Test("without a member the shape refuses a golden file exactly when the decoder does", arguments: Golden.all)
    func missing(_ golden: Golden) throws {
        let (members, fields) = (try golden.members(), try golden.fields())
        for field in fields {
            var fewer = members
            fewer[field.name] = nil
            let isRead = try golden.isRead(fewer)
            let isAccepted = ValueShape.object(fields).accepts(.object(fewer))
            #expect(isRead == isAccepted, "\(field.name)")
            #expect(isRead != field.isRequired, "\(field.name)")
        }
    }

    @Test(
        "with a member of another kind the shape refuses a golden file, and so does the decoder",
        arguments: Golden.all
    )
    func retyped(_ golden: Golden) throws {
        let (members, fields) = (try golden.members(), try golden.fields())
        for field in fields {
            for stranger in field.shape.strangers {
                var other = members
                other[field.name] = stranger
                let isRead = try golden.isRead(other)
                let isAccepted = ValueShape.object(fields).accepts(.object(other))
                #expect(!isRead && !isAccepted, "\(field.name): \(stranger)")
            }
        }
    }

    @Test("the envelope that is published is of the envelope's shape, with and without what may be absent")
    func envelope() throws {
        let shape = try ShapeRecorder.shape(of: EventAttributes.self)
        for isFull in [false, true] {
            let id = UUID()
            let attributes = EventAttributes(
                id: id,
                source: "auth",
                type: UserErased.type,
                majorVersion: 1,
                subject: "somebody",
                time: "2026-11-21T01:07:05.123Z",
                sequence: 7,
                traceparent: isFull ? "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" : nil,
                correlationid: isFull ? id : nil,
                causationid: isFull ? id : nil,
                replayid: isFull ? id : nil
            )
            let body = try JSONNode(json: EventEnvelope.body(attributes, dataJSON: "{}"))
            #expect(shape.accepts(body))
        }
    }

    @Test("a schema is read back as the shape that it was written from", arguments: Golden.all)
    func roundTrip(_ golden: Golden) throws {
        let shape = try ShapeRecorder.shape(of: golden.definition.payload)
        #expect(ValueShape(schema: shape.schema) == shape)
    }

    private struct Nested: Decodable {
        struct Inner: Decodable {
            let amount: Int64
            let kind: Open<AccountType>?
        }

        let inner: Inner
        let list: [Inner]?
    }

    @Test("objects in objects and lists are described too")
    func nested() throws {
        let inner = ValueShape.object([
            FieldShape("amount", .integer(format: "int64")),
            FieldShape("kind", .words(["merchant", "personal"]), isRequired: false),
        ])
        let shape = ValueShape.object([FieldShape("inner", inner), FieldShape("list", .list(inner), isRequired: false)])
        #expect(try ShapeRecorder.shape(of: Nested.self) == shape)
        #expect(ValueShape(schema: shape.schema) == shape)
    }

    private struct Closed: Decodable {
        let kind: AccountType
    }

    private struct Fractional: Decodable {
        let amount: Double
    }

    @Test("a closed enumeration and a fraction are refused with a sentence")
    func undescribed() {
        for type in [Closed.self, Fractional.self] as [any Decodable.Type] {
            #expect(throws: ShapeRecorder.Undescribed.self) { try ShapeRecorder.shape(of: type) }
        }
    }

    @Test("a schema that this version does not write is kept as it is")
    func foreignSchema() {
        let schema: JSONNode = ["type": "string", "maxLength": 5]
        #expect(ValueShape(schema: schema) == .other(schema))
    }
}
