import Foundation

/// A projection that is being made beside the live one, or was.
struct Rebuild: Hashable, Sendable {
    let generation: Int
    /// The generation it stands beside.
    let replaces: Int
    /// Facts up to here are in it.
    let doneTo: UUID
    /// How many facts were looked at.
    let facts: Int
    /// In how many days of users it differs from what it replaced; nil until it is done.
    let daysChanged: Int?
    let startedAt: Date
    let finishedAt: Date?
}
