import Foundation

/// How a transfer stands in our books when a message about it comes.
struct TransferStanding: Sendable {
    let id: UUID
    let state: String
    /// The provider's id of it, which only the provider's own answers have taught us.
    let providerID: String?
    /// Whether it fills a drop, whose claims are paid out of an account that all drops share.
    let isFunding: Bool

    /// Whether an outcome would change anything, or contradict something.
    func isNews(_ outcome: TransferVerdict.Outcome) -> Bool {
        switch self.state {
        case "completed": outcome == .failed || outcome == .reversed
        case "failed": outcome == .completed
        case "reversed": false
        default: true
        }
    }

    /// Whether a message is enough: it says that what we have sent has arrived, under the id that the provider gave us.
    ///
    /// What gives money back is asked about first. So is what others are paid from: elsewhere the money that a false
    /// message makes stays in an account of the provider's that does not have it.
    func isProven(by verdict: TransferVerdict) -> Bool {
        verdict.outcome == .completed && ["submitted", "unknown"].contains(self.state) && !self.isFunding
            && self.providerID != nil && self.providerID == verdict.providerID
    }
}
