import Foundation
import Hummingbird
import Primitives
import ServiceKit

extension HistoryFilter {
    /// Reads `type`, `state`, and the days `from` and `to`, which are Lagos's and both count; a page begins where the one
    /// before it ended.
    ///
    /// - Throws: 400 `invalid_parameter`.
    init(_ request: Request, _ paging: Paging) throws(APIError) {
        let parameters = request.uri.queryParameters
        self.init()
        self.type = try Self.word(parameters.get("type"), "type", among: Self.types)
        self.state = try Self.word(parameters.get("state"), "state", among: Self.states)
        if let day = try Self.day(parameters.get("from"), "from") { self.from = LagosCalendar.start(of: day).firstID }
        if let day = try Self.day(parameters.get("to"), "to") {
            self.before = LagosCalendar.start(of: day.adding(days: 1)).firstID
        }
        let id = try paging.id()
        if id.bytes.lexicographicallyPrecedes(self.before.bytes) { self.before = id }
    }

    /// The types of `transfers` that lists show.
    static let types = [
        "p2p", "self_transfer", "money_drop", "drop_claim", "drop_refund", "subscription_charge", "inbound",
    ]
    /// The states of `transfers` as their parties see them.
    static let states = [
        "accepted", "submitted", "unknown", "completed", "failed", "reversed", "in_suspense", "returned",
    ]

    /// One of some words: a misspelt one would find nothing, and nobody would notice.
    private static func word(_ text: String?, _ parameter: String, among words: [String]) throws(APIError) -> String? {
        guard let text else { return nil }
        guard words.contains(text) else {
            throw .invalid(parameter: parameter, detail: "One of \(words.joined(separator: ", ")).")
        }
        return text
    }

    private static func day(_ text: String?, _ parameter: String) throws(APIError) -> CivilDate? {
        guard let text else { return nil }
        // The last year has no day after its end.
        guard let day = CivilDate(text: text), day.year < 9999 else {
            throw .invalid(parameter: parameter, detail: "A day of the form yyyy-MM-dd.")
        }
        return day
    }
}
