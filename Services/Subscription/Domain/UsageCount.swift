import Primitives

/// What `transaction` says of the free external transfers of a user in a month.
struct UsageCount: Hashable, Sendable {
    let user: UserID
    let month: UsageMonth
    /// The count; nil when only the change is known.
    let used: Int?
    /// The change.
    let step: Int
    /// Of the event: an older one changes nothing.
    let sequence: Int64
}
