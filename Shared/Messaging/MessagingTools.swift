import Foundation
import Primitives

/// What everything in this module needs and tests replace: the clock, ids, the JSON encoder.
struct MessagingTools: Sendable {
    let clock: any TimeSource
    let ids: any IdentifierSource
    /// Where spans go, if anywhere.
    var spans: (any SpanSink)?

    func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
