import Contracts
import Foundation
import Primitives
import ServiceKit

/// The body of a request to replay events.
struct ReplayRequest: Decodable {
    let service: ServiceName
    let mode: Replay.Mode
    let effects: Replay.Effects?
    let rate: Int?
    let selection: SelectionBody
    let reason: String

    /// What it asks for.
    ///
    /// - Throws: 400 with the place.
    func order() throws(APIError) -> Replay.Order {
        let rate = self.rate ?? Replay.usualRate
        guard Replay.rates.contains(rate) else {
            throw .invalid(
                "/rate",
                detail: "Events per second, \(Replay.rates.lowerBound) to \(Replay.rates.upperBound)."
            )
        }
        guard self.mode != .rebuild else {
            throw .invalid("/mode", detail: "A rebuild begins at /internal/rebuilds.")
        }
        return Replay.Order(
            service: try PlanRequest.target(self.service),
            mode: self.mode,
            effects: self.effects ?? .off,
            rate: rate,
            selection: try self.selection.checked()
        )
    }
}

/// The body of a question what a replay would be about.
struct PlanRequest: Decodable {
    let service: ServiceName
    let selection: SelectionBody

    /// A service that hears events.
    ///
    /// - Throws: 400 with the place.
    static func target(_ service: ServiceName) throws(APIError) -> ServiceName {
        guard !EventCatalogue.types(consumedBy: service).isEmpty else {
            throw .invalid("/service", detail: "This service hears no events.")
        }
        return service
    }
}

/// Which events, as a body says it.
struct SelectionBody: Decodable {
    let from: String?
    let to: String?
    let types: [String]?
    let subject: String?
    let correlation: String?
    let ids: [String]?

    /// The selection.
    ///
    /// - Throws: 400 with the place.
    func checked() throws(APIError) -> ReplaySelection {
        var selection = ReplaySelection()
        selection.from = try Self.moment(self.from, "/selection/from")
        selection.to = try Self.moment(self.to, "/selection/to")
        selection.types = try self.checkedTypes()
        selection.subject = try Self.name(self.subject, "/selection/subject")
        selection.correlation = try self.correlation.map { text throws(APIError) in
            try Self.id(text, "/selection/correlation")
        }
        selection.ids = try self.checkedIDs()
        guard selection.isBounded else {
            throw .invalid("/selection", detail: "Name from, subject, correlation or ids.")
        }
        return selection
    }

    private func checkedTypes() throws(APIError) -> [String]? {
        guard let types = self.types else { return nil }
        guard (1...ReplaySelection.maximumTypes).contains(types.count) else {
            throw .invalid("/selection/types", detail: "1 to \(ReplaySelection.maximumTypes) kinds of events.")
        }
        var checked: [String] = []
        for (index, type) in types.enumerated() {
            checked.append(try Self.name(type, "/selection/types/\(index)") ?? type)
        }
        return checked
    }

    private func checkedIDs() throws(APIError) -> [UUID]? {
        guard let ids = self.ids else { return nil }
        guard (1...ReplaySelection.maximumIDs).contains(ids.count) else {
            throw .invalid("/selection/ids", detail: "1 to \(ReplaySelection.maximumIDs) ids.")
        }
        var checked: [UUID] = []
        for (index, text) in ids.enumerated() { checked.append(try Self.id(text, "/selection/ids/\(index)")) }
        return checked
    }

    private static func moment(_ text: String?, _ pointer: String) throws(APIError) -> Date? {
        guard let text else { return nil }
        guard let moment = Timestamp.parse(text) else {
            throw .invalid(pointer, detail: "A moment, such as 2026-11-21T01:07:05Z.")
        }
        return moment
    }

    private static func name(_ text: String?, _ pointer: String) throws(APIError) -> String? {
        guard let text else { return nil }
        guard let key = TraceKey(text) else {
            throw .invalid(pointer, detail: "A name or an id, such as user.created.")
        }
        return key.text
    }

    private static func id(_ text: String, _ pointer: String) throws(APIError) -> UUID {
        guard let id = UUID(text: text) else { throw .invalid(pointer, detail: "An id (a UUID).") }
        return id
    }
}
