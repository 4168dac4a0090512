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
    /// The provider's own reference, which all its names for the same money share.
    var providerReference: String?
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

    /// Keeps a reference that has the form of the provider's own: digits, then `-ref`.
    static func providers(_ reference: String?) -> String? {
        guard let reference, reference.utf8.count <= 64, reference.hasSuffix("-ref") else { return nil }
        let digits = reference.utf8.dropLast(4)
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return reference
    }

    /// The provider's word at the end of an id, such as `anc_py`: which of its views of the money the id belongs to.
    static func kind(of providerPaymentID: String) -> Substring {
        providerPaymentID.split(separator: "-", maxSplits: 1).last ?? ""
    }

    private static func isLetter(_ unit: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(unit)
    }

    private static func isIDUnit(_ unit: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(unit) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(unit)
            || unit == UInt8(ascii: "-")
    }
}
