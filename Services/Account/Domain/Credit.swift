import Foundation
import Primitives

/// A payment from outside that belongs to a wallet.
struct Credit: Hashable, Sendable {
    /// The provider's id: credited once.
    let providerPaymentID: String
    /// The account it arrived on.
    let anchorAccountID: String
    let user: UserID
    let amount: Money
    /// The reference it carried, when that is one of ours.
    let reference: String?
    let paidAt: Date

    /// Keeps a reference that has the form of ours: three letters, a hyphen, an id.
    ///
    /// Anything else is the provider's own, or a payer's free text, which must not travel.
    static func ours(_ reference: String?) -> String? {
        guard let reference, (8...64).contains(reference.utf8.count) else { return nil }
        let parts = reference.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 3, parts[0].utf8.allSatisfy(Self.isLetter),
            parts[1].utf8.allSatisfy(Self.isIDUnit)
        else { return nil }
        return reference
    }

    private static func isLetter(_ unit: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(unit)
    }

    private static func isIDUnit(_ unit: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(unit) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(unit)
            || unit == UInt8(ascii: "-")
    }
}
