import Foundation
import Hummingbird
import Primitives
import ServiceKit

extension EventFilter {
    /// The names of the query's parameters.
    static let parameters = ["from", "to", "type", "source", "subject", "correlation", "causation"]

    /// Reads `from`, `to`, `type`, `source`, `subject`, `correlation` and `causation`.
    ///
    /// - Throws: 400 `invalid_parameter`.
    init(_ request: Request) throws(APIError) {
        let parameters = request.uri.queryParameters
        self.init()
        self.first = try Self.moment(parameters.get("from"), "from")
        self.end = try Self.moment(parameters.get("to"), "to")
        self.type = try Self.name(parameters.get("type"), "type", detail: "A kind of event, such as user.created.")
        self.source = try Self.name(parameters.get("source"), "source", detail: "A service, such as auth.")
        self.subject = try Self.name(parameters.get("subject"), "subject", detail: "What events are about: an id.")
        self.correlation = try Self.id(parameters.get("correlation"), "correlation")
        self.causation = try Self.id(parameters.get("causation"), "causation")
    }

    /// The lowest id of a moment.
    static func moment(_ text: String?, _ parameter: String) throws(APIError) -> UUID? {
        guard let text else { return nil }
        guard let moment = Timestamp.parse(text) else {
            throw .invalid(parameter: parameter, detail: "A moment, such as 2026-11-21T01:07:05Z.")
        }
        return moment.firstID
    }

    private static func name(_ text: String?, _ parameter: String, detail: String) throws(APIError) -> String? {
        guard let text else { return nil }
        guard let key = TraceKey(text) else { throw .invalid(parameter: parameter, detail: detail) }
        return key.text
    }

    private static func id(_ text: String?, _ parameter: String) throws(APIError) -> UUID? {
        guard let text else { return nil }
        guard let id = UUID(text: text) else { throw .invalid(parameter: parameter, detail: "An id (a UUID).") }
        return id
    }
}
