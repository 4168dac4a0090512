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
        self.type = try Self.word(parameters.get("type"), "type")
        self.state = try Self.word(parameters.get("state"), "state")
        if let day = try Self.day(parameters.get("from"), "from") { self.from = LagosCalendar.start(of: day).firstID }
        if let day = try Self.day(parameters.get("to"), "to") {
            self.before = LagosCalendar.start(of: day.adding(days: 1)).firstID
        }
        let id = try paging.id()
        if id.bytes.lexicographicallyPrecedes(self.before.bytes) { self.before = id }
    }

    /// The longest word of a type or state.
    private static let longestWord = 40

    /// A word; one that is not known finds nothing, for words may come that a client knows before this service.
    private static func word(_ text: String?, _ parameter: String) throws(APIError) -> String? {
        guard let text else { return nil }
        let isWord = text.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == 0x5f || $0 == 0x32
        }
        guard isWord, (1...Self.longestWord).contains(text.utf8.count) else {
            throw .invalid(parameter: parameter, detail: "A word of small letters, such as p2p or completed.")
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
