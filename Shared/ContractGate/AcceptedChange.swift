public import Foundation

/// A change that breaks somebody and is meant to be: a line of `deploy/events/accepted.json`.
public struct AcceptedChange: Sendable, Hashable, Codable {
    /// As the check names it, such as `field_removed`.
    public let change: String
    /// The kind of event.
    public let event: String
    /// Where in it; empty for the event itself.
    public let place: String
    /// Why nobody is hurt, for who reads it later.
    public let why: String

    /// Reads a list of them.
    ///
    /// - Throws: What `JSONDecoder` throws.
    public static func list(json: Data) throws -> [AcceptedChange] {
        try JSONDecoder().decode([AcceptedChange].self, from: json)
    }

    /// Whether it speaks of this change.
    public func covers(_ change: ContractChange) -> Bool {
        self.change == change.kind.rawValue && self.event == change.event && self.place == change.place
            && !self.why.isEmpty
    }
}
