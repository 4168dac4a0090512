package import AMQP
package import Contracts
import Primitives

/// The headers of a published event: what of its attributes one may want to filter by without reading it.
package enum EventHeaders {
    /// The headers of an event with these attributes.
    package static func fields(_ attributes: EventAttributes) -> [String: AMQPValue] {
        var fields: [String: AMQPValue] = [
            "ce-id": .string(attributes.id.lowercased),
            "ce-type": .string(attributes.type.rawValue),
            "ce-source": .string(attributes.source),
            "ce-subject": .string(attributes.subject),
            "ce-sequence": .int64(attributes.sequence),
        ]
        if let trace = attributes.traceparent { fields["traceparent"] = .string(trace) }
        if let correlation = attributes.correlationid { fields["ce-correlationid"] = .string(correlation.lowercased) }
        return fields
    }
}
