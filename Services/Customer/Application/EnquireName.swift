import Foundation
import Messaging
import Primitives
import Sealing

/// Asks whose account a number is, before it is added.
struct EnquireName: Sendable {
    let users: CustomerUserStore
    let enquiries: EnquiryStore

    /// Notes the question and asks for work.
    ///
    /// `key` is the user's data key, fetched before the transaction began.
    /// - Throws: `CustomerError.notOnboarded`, `tooManyEnquiries`.
    func callAsFunction(
        _ account: BankAccount,
        user: UserID,
        key: DataKey,
        in transaction: EventTransaction
    ) async throws -> NameEnquiry {
        guard try await self.users.lock(user, in: transaction)?.isErased == false else {
            throw CustomerError.notOnboarded
        }
        let hourAgo = transaction.now.addingTimeInterval(-3600)
        guard try await self.enquiries.count(of: user, since: hourAgo, in: transaction) < NameEnquiry.hourlyLimit else {
            throw CustomerError.tooManyEnquiries
        }
        let enquiry = NameEnquiry(
            id: transaction.makeID(),
            user: user,
            accountNumber: try key.seal(account.number, field: Beneficiary.numberField, of: user),
            bankCode: account.bankCode,
            createdAt: transaction.now
        )
        try await self.enquiries.insert(enquiry, in: transaction)
        try await transaction.enqueue(
            CustomerJob.enquireName,
            key: enquiry.id.lowercased,
            subject: user.description
        )
        return enquiry
    }
}
