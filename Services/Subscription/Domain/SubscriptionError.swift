/// Why subscription says no.
enum SubscriptionError: Error, Hashable, Sendable {
    /// The id of a correction was used for another one.
    case adjustmentDiffers
    /// The user has not signed up, or so recently that the news is still on its way.
    case notOnboarded
    /// The approval was used before.
    case approvalUsed
    /// Nobody can buy that plan now.
    case planUnknown
    /// The plan costs something else by now.
    case priceChanged
    /// A charge is under way.
    case chargePending
    /// The period that begins today was paid before.
    case periodPaid
    /// There is no plan to end.
    case notSubscribed
}
