import Foundation
import Primitives

/// What one transfer or payment does to the totals.
struct Effect: Hashable, Sendable {
    /// Of the transfer or payment: its effect is counted once, whatever tells of it.
    let id: UUID
    /// In Lagos.
    let day: CivilDate
    /// The part of the totals it counts in: events of one part are handled one batch at a time, so that batches never
    /// wait for each other's rows.
    let part: Int
    let movements: [Movement]
}
