import Foundation
import Primitives

/// The body of an export: `ExportTraceServiceRequest` in OTLP's JSON.
struct OTLPDocument: Sendable {
    private let resource: Resource

    init(service: String, version: String) {
        self.resource = Resource(attributes: [
            Attribute("service.namespace", .text("transfa")), Attribute("service.name", .text(service)),
            Attribute("service.version", .text(version)),
            Attribute("service.instance.id", .text(UUID().lowercased)),
        ])
    }

    func bytes(of spans: [Span]) -> Data {
        let request = Request(resourceSpans: [
            ResourceSpans(
                resource: self.resource,
                scopeSpans: [ScopeSpans(scope: Scope(name: "transfa"), spans: spans.map(OTLPSpan.init))]
            )
        ])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        // Texts and whole numbers alone: there is nothing that cannot be encoded.
        return (try? encoder.encode(request)) ?? Data()
    }

    private struct Request: Encodable {
        let resourceSpans: [ResourceSpans]
    }

    private struct ResourceSpans: Encodable {
        let resource: Resource
        let scopeSpans: [ScopeSpans]
    }

    private struct Resource: Encodable {
        let attributes: [Attribute]
    }

    private struct ScopeSpans: Encodable {
        let scope: Scope
        let spans: [OTLPSpan]
    }

    private struct Scope: Encodable {
        let name: String
    }

    fileprivate struct Attribute: Encodable {
        let key: String
        let value: Value

        init(_ key: String, _ value: Span.Value) {
            self.key = key
            switch value {
            case .text(let text): self.value = Value(stringValue: text)
            case .number(let number): self.value = Value(intValue: "\(number)")
            }
        }

        struct Value: Encodable {
            var stringValue: String?
            // Numbers of 64 bits are texts in JSON.
            var intValue: String?
        }
    }

    private struct OTLPSpan: Encodable {
        let traceId: String
        let spanId: String
        let parentSpanId: String?
        let name: String
        let kind: Int
        let startTimeUnixNano: String
        let endTimeUnixNano: String
        let attributes: [Attribute]
        let status: Status?

        struct Status: Encodable {
            let code: Int
            let message: String

            /// `STATUS_CODE_ERROR`.
            static let error = 2
        }

        init(_ span: Span) {
            self.traceId = span.context.traceID
            self.spanId = span.context.spanID
            self.parentSpanId = span.parent?.spanID
            self.name = span.name
            self.kind = span.kind.rawValue
            let start = Int64(span.start.timeIntervalSince1970 * 1_000_000) * 1000
            self.startTimeUnixNano = "\(start)"
            self.endTimeUnixNano = "\(start + Int64(span.duration / .nanoseconds(1)))"
            self.attributes = span.attributes.sorted { $0.key < $1.key }.map { Attribute($0.key, $0.value) }
            self.status = span.failure.map { Status(code: Status.error, message: $0) }
        }
    }
}
