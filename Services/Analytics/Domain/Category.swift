/// What money was for.
enum Category: String, Hashable, Sendable, CaseIterable {
    /// To people.
    case transfers
    /// To merchants.
    case shopping
    /// Drops, given and claimed.
    case gifts
    /// A plan's price.
    case subscriptions
    /// Fees and stamp duty.
    case fees
    /// From people.
    case received
    /// What a merchant takes.
    case sales
    /// From outside.
    case topUps = "top_ups"
    /// Restaurants and takeaway.
    case food
    /// The market and the supermarket.
    case groceries
    /// Rides, fuel, tickets.
    case transport
    /// Rent and repairs.
    case housing
    /// Power, water, internet.
    case bills
    /// Airtime and data.
    case airtime
    /// Pharmacy and hospital.
    case health
    /// Fees of schools, books, courses.
    case education
    /// Going out, films, games.
    case entertainment
    /// Wages.
    case salary
    /// Put aside.
    case savings
    /// Giving to charity and places of worship.
    case charity
    /// Anything else.
    case other

    /// Whether a person may choose it: fees are what they are.
    var canBeChosen: Bool { self != .fees }
}
