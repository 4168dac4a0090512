import Foundation

/// The attributes of an event: CloudEvents 1.0 and our extensions, without the data.
///
/// Source: CloudEvents 1.0.2 section 3; `correlationid`, `causationid`, `sequence` and `replayid` are extensions.
public struct EventAttributes: Sendable, Hashable, Codable {
    /// UUIDv7, unique over all services; consumers dedupe by it.
    public var id: UUID
    /// The service that published it.
    public var source: String
    /// What happened.
    public var type: EventType
    /// What it happened to; order is promised per source and subject.
    public var subject: String
    /// RFC 3339, UTC, milliseconds.
    public var time: String
    /// `transfa:<type>:<major version>`.
    public var dataschema: String
    /// W3C trace context of the work that caused it.
    public var traceparent: String?
    /// The request or webhook that started it all.
    public var correlationid: UUID?
    /// The event or job that caused it directly.
    public var causationid: UUID?
    /// Counts up from 1 per source and subject.
    public var sequence: Int64
    /// Set on a replayed event only.
    public var replayid: UUID?

    /// Puts the attributes together.
    public init(
        id: UUID,
        source: String,
        type: EventType,
        majorVersion: Int,
        subject: String,
        time: String,
        sequence: Int64,
        traceparent: String? = nil,
        correlationid: UUID? = nil,
        causationid: UUID? = nil,
        replayid: UUID? = nil
    ) {
        self.id = id
        self.source = source
        self.type = type
        self.subject = subject
        self.time = time
        self.dataschema = "transfa:\(type.rawValue):\(majorVersion)"
        self.traceparent = traceparent
        self.correlationid = correlationid
        self.causationid = causationid
        self.sequence = sequence
        self.replayid = replayid
    }

    /// The major version named by `dataschema`; nil when it has another form.
    public var majorVersion: Int? {
        self.dataschema.utf8.lastIndex(of: UInt8(ascii: ":")).flatMap { colon in
            Int(self.dataschema[colon...].dropFirst())
        }
    }
}

/// An event as it is handled: attributes and typed data.
public struct Event<Data: EventData>: Sendable, Equatable {
    /// The envelope.
    public var attributes: EventAttributes
    /// What the publisher said.
    public var data: Data

    /// Puts an event together.
    public init(attributes: EventAttributes, data: Data) {
        self.attributes = attributes
        self.data = data
    }
}

/// The envelope on the wire: structured-mode CloudEvents JSON.
public enum EventEnvelope {
    /// The content type of an envelope.
    public static let contentType = "application/cloudevents+json"

    private struct Incoming<Data: Decodable>: Decodable {
        let data: Data
    }

    /// Reads the attributes and leaves the data alone.
    public static func attributes(in body: Foundation.Data) throws -> EventAttributes {
        try JSONDecoder().decode(EventAttributes.self, from: body)
    }

    /// Reads the typed data.
    public static func data<Payload: EventData>(_ type: Payload.Type, in body: Foundation.Data) throws -> Payload {
        try JSONDecoder().decode(Incoming<Payload>.self, from: body).data
    }

    /// Joins attributes and the JSON text of the data.
    ///
    /// The data is spliced in as it was written, so that what a consumer reads is byte for byte what the publisher
    /// committed.
    public static func body(_ attributes: EventAttributes, dataJSON: String) throws -> Foundation.Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var body = try encoder.encode(attributes)
        // The encoder always ends an object with a brace; the remaining members go before it.
        body.removeLast()
        body.append(contentsOf: #","specversion":"1.0","datacontenttype":"application/json","data":"#.utf8)
        body.append(contentsOf: dataJSON.utf8)
        body.append(UInt8(ascii: "}"))
        return body
    }
}
