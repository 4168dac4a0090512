/// Why subscription says no.
enum SubscriptionError: Error, Hashable, Sendable {
    /// The id of a correction was used for another one.
    case adjustmentDiffers
}
