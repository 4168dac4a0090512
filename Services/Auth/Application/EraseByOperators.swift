import Contracts
import Foundation
import Messaging
import Primitives

/// Erases a user because operators say so.
///
/// Nobody whose money is left, or who owes something, is erased by one person's word: one operator is enough when
/// transaction has said a moment ago that nothing is left; otherwise another one has to say the same within a day.
struct EraseByOperators: Sendable {
    /// What came of an operator's order.
    enum Outcome: Sendable {
        /// Now or before; there may never have been such a user.
        case erased
        /// Another operator has to agree, or transaction to answer.
        case proposed
    }

    let users: UserStore
    let eraseUser: EraseUser

    /// How long the word that nothing is left counts: of a closed profile nothing gets more by itself.
    private static let clearedFor = TimeInterval(60 * 60)
    private static let proposalLasts = TimeInterval(24 * 60 * 60)

    /// What an audit shows of an erasure that two people wanted.
    private struct Proposal: Encodable, Sendable {
        let proposedBy: String

        private enum CodingKeys: String, CodingKey {
            case proposedBy = "proposed_by"
        }
    }

    /// Erases, or proposes it; once more by the same operator changes nothing.
    func callAsFunction(
        _ user: UserID,
        by order: OperatorOrder,
        in transaction: EventTransaction
    ) async throws -> Outcome {
        guard let state = try await self.users.erasureState(user, in: transaction) else { return .erased }
        let now = transaction.now
        if let cleared = state.clearedAt, cleared > now.addingTimeInterval(-Self.clearedFor) {
            try await self.eraseUser(user, by: order, in: transaction)
            return .erased
        }
        let isOpen = state.proposedAt.map { $0 > now.addingTimeInterval(-Self.proposalLasts) } ?? false
        if isOpen, let proposer = state.proposedBy {
            guard proposer != order.name else { return .proposed }
            try await self.eraseUser(user, in: transaction)
            let before = Proposal(proposedBy: proposer)
            try await transaction.record("user.erased", on: user, before: before, by: order)
            return .erased
        }
        try await self.users.proposeErasure(of: user, by: order.name, in: transaction)
        try await transaction.publish(UserErasureDue(userID: user.uuid), about: user)
        try await transaction.record("user.erasure_proposed", on: user, by: order)
        return .proposed
    }
}
