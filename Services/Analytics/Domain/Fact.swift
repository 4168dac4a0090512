import Contracts
import Foundation
import Primitives

/// What was heard of one transfer that counts: it is counted once, whatever tells of it.
enum Fact: Sendable {
    /// Any transfer but a claim.
    case transfer(TransactionCompleted)
    /// A claim, which is told with its drop because the transfer does not name who gave the money.
    case claim(MoneyDropClaimed)

    /// Of the transfer.
    var id: UUID {
        switch self {
        case .transfer(let data): data.transactionID
        case .claim(let data): data.transactionID
        }
    }

    /// The day in Lagos; nil when its time is none.
    var day: CivilDate? {
        let timestamp =
            switch self {
            case .transfer(let data): data.timestamp
            case .claim(let data): data.timestamp
            }
        return Timestamp.parse(timestamp).map(LagosCalendar.day(of:))
    }

    /// What it moved.
    ///
    /// Nothing is zero: what did not move has no movement.
    func movements() throws(MoneyOverflow) -> [Movement] {
        switch self {
        case .transfer(let data): try Movement.all(of: data)
        case .claim(let data): Movement.all(of: data)
        }
    }
}
