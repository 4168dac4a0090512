import Contracts
import Foundation
import Primitives

/// A question whose account a number is, asked before it is added; number and name sealed.
struct NameEnquiry: Sendable {
    /// How far it is.
    enum Status: String, Sendable {
        /// The bank is being asked.
        case pending
        /// The bank has said the holder's name.
        case found
        /// There is no such account.
        case rejected
    }

    let id: UUID
    let user: UserID
    let accountNumber: Sealed
    let bankCode: String
    var bankName: String?
    var accountName: Sealed?
    var status = Status.pending
    var rejectReason: RejectReason?
    let createdAt: Date

    /// Questions of one user within an hour: an answer is somebody's name, and nobody needs so many.
    static let hourlyLimit = 30
    /// Who asked no longer waits for an answer that is older.
    static let patience: TimeInterval = 600
}
