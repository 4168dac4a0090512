import Primitives

/// What moved for one thing.
struct CategoryTotal: Hashable, Sendable {
    let category: String
    let moneyIn: Money
    let moneyOut: Money
}

/// What moved between the user and somebody else.
struct CounterpartyTotal: Hashable, Sendable {
    /// Nil when it is not known (yet), or the person was erased.
    let username: String?
    let moneyIn: Money
    let moneyOut: Money
    let payments: Int
}

/// The category of one transfer, as its user sees it.
struct CategoryOfTransfer: Hashable, Sendable {
    /// What was found without the user.
    let automatic: String
    /// What the user has chosen.
    let chosen: String?
}

/// Which money a list of counterparties is sorted by.
enum Flow: String, Sendable, CaseIterable {
    case `in`
    case out
}
