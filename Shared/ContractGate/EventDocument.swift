import Contracts
import Messaging

/// What services say to each other, and how it travels: the content of the AsyncAPI document.
public struct EventDocument: Sendable, Hashable {
    /// One kind of event.
    public struct Kind: Sendable, Hashable {
        /// Such as `user.created`.
        public var type: String
        /// Of its data.
        public var majorVersion: Int64
        /// Who publishes it.
        public var source: String
        /// What its subject names; by the subject it finds its queue, and its place in the order.
        public var subject: String
        /// With the partition as a parameter.
        public var routingKey: String
        /// Who listens.
        public var consumers: [String]
        /// Who listened once: their bindings are taken away.
        public var formerConsumers: [String]
        /// The data.
        public var data: ValueShape
    }

    /// Where all events are published.
    public var exchange: String
    /// How many partitions a routing key may name.
    public var partitions: Int64
    /// The attributes around the data.
    public var envelope: ValueShape
    /// What a message says besides its body.
    public var headers: ValueShape
    /// By type.
    public var kinds: [Kind]
}

extension EventDocument {
    /// What this build publishes and reads.
    ///
    /// - Throws: `ShapeRecorder.Undescribed`.
    public static func ofThisBuild() throws -> EventDocument {
        EventDocument(
            exchange: Topology.exchange,
            partitions: Int64(Topology.partitions),
            envelope: try ShapeRecorder.shape(of: EventAttributes.self),
            headers: self.messageHeaders,
            kinds: try EventCatalogue.all.map(Kind.init).sorted { $0.type < $1.type }
        )
    }

    /// A table, because nothing reads them by type; a test compares it with what is published.
    private static let messageHeaders = ValueShape.object([
        FieldShape("ce-correlationid", .text(format: "uuid"), isRequired: false),
        FieldShape("ce-id", .text(format: "uuid")),
        FieldShape("ce-sequence", .integer(format: "int64")),
        FieldShape("ce-source", .text(format: nil)),
        FieldShape("ce-subject", .text(format: nil)),
        FieldShape("ce-type", .text(format: nil)),
        FieldShape("traceparent", .text(format: nil), isRequired: false),
    ])
}

extension EventDocument.Kind {
    init(_ definition: EventDefinition) throws {
        self.init(
            type: definition.type.rawValue,
            majorVersion: Int64(definition.majorVersion),
            source: definition.source.rawValue,
            subject: definition.subject.rawValue,
            routingKey: Self.pattern(of: definition.type),
            consumers: definition.consumers.map(\.rawValue).sorted(),
            formerConsumers: definition.formerConsumers.map(\.rawValue).sorted(),
            data: try ShapeRecorder.shape(of: definition.payload)
        )
    }

    /// A key as the relay makes it, with its partition left open.
    private static func pattern(of type: EventType) -> String {
        let key = Topology.routingKey(type: type, subject: "")
        return "{partition}" + key.drop { $0 != "." }
    }
}
