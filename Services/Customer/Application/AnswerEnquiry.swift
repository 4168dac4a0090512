import AnchorClient
import Foundation
import Messaging
import Primitives
import Sealing
import ServiceKit

/// Job: asks the bank whose account it is.
struct AnswerEnquiry: Sendable {
    let database: EventDatabase
    let enquiries: EnquiryStore
    let keys: any DataKeys
    let provider: any CustomerProvider
    let banks: BankDirectory
    let clock: any TimeSource

    /// Runs the job; its key is the enquiry's id.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        try await JobOutcome.of { try await self.run(job) }
    }

    private func run(_ job: Job) async throws -> JobOutcome {
        guard let id = UUID(text: job.key), let found = try await self.enquiries.find(id, on: self.database) else {
            return .cancelled(reason: "unknown_enquiry")
        }
        guard found.status == .pending else { return .done }
        guard self.clock.now.timeIntervalSince(found.createdAt) < NameEnquiry.patience else {
            return .cancelled(reason: "too_old")
        }
        guard let key = try await self.keys.key(for: found.user) else { throw CustomerError.erased }
        let number = try key.text(in: found.accountNumber, field: Beneficiary.numberField, of: found.user)
        var answered = found
        switch try await self.ask(found.bankCode, number) {
        case .found(let bank, let holder):
            answered.status = .found
            answered.bankName = bank
            answered.accountName = try key.seal(holder, field: Beneficiary.nameField, of: found.user)
        case .rejected(let reason):
            answered.status = .rejected
            answered.rejectReason = reason
        }
        let saved = answered
        try await self.database.transaction(cause: job.cause) { transaction in
            try await job.finish(in: transaction)
            try await self.enquiries.saveAnswer(saved, in: transaction)
        }
        return .done
    }

    private enum Answer {
        case found(bank: String, holder: String)
        case rejected(RejectReason)
    }

    private func ask(_ code: String, _ number: String) async throws(AnchorError) -> Answer {
        guard let bank = try await self.banks.name(of: code) else { return .rejected(.unknownBank) }
        do throws(AnchorError) {
            guard let holder = try await self.provider.verifyAccount(bank: code, number: number, deadline: nil) else {
                return .rejected(.accountNotFound)
            }
            return .found(bank: bank, holder: holder)
        } catch .refused {
            return .rejected(.refusedByProvider)
        } catch .notFound {
            return .rejected(.accountNotFound)
        }
    }
}
