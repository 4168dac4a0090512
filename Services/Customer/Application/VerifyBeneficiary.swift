import AnchorClient
import Contracts
import Foundation
import Messaging
import Primitives
import Sealing
import ServiceKit

/// Job: asks the bank whose account it is and registers it at the provider, which answers the same account with the same
/// counterparty: so repeating is safe.
struct VerifyBeneficiary: Sendable {
    let database: EventDatabase
    let users: CustomerUserStore
    let beneficiaries: BeneficiaryStore
    let keys: any DataKeys
    let provider: any CustomerProvider
    let banks: BankDirectory
    let calls: ProviderCalls
    let nameLengths: NameLengths

    /// What the bank says.
    private enum Answer {
        case unclear(bankName: String, holder: String)
        case confirmed(bankName: String, holder: String, counterpartyID: String)
        case rejected(RejectReason)
    }

    /// Runs the job; its key is the beneficiary's id.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        try await JobOutcome.of { try await self.run(job) }
    }

    private func run(_ job: Job) async throws -> JobOutcome {
        guard let id = UUID(text: job.key), let found = try await self.beneficiaries.find(id, on: self.database) else {
            return .cancelled(reason: "unknown_beneficiary")
        }
        guard found.deletedAt == nil else { return .cancelled(reason: "deleted") }
        guard found.status == .pending else { return .done }
        guard let key = try await self.keys.key(for: found.user) else { throw CustomerError.erased }
        let number = try key.text(in: found.accountNumber, field: Beneficiary.numberField, of: found.user)
        guard let owner = try await self.users.find(found.user, as: nil, on: self.database) else {
            throw CustomerError.notOnboarded
        }
        let accepted = found.isNameAccepted ? found.accountName : nil
        let acceptedName = try accepted.map { try key.text(in: $0, field: Beneficiary.nameField, of: found.user) }
        let details = try await OpenDetails(keys: self.keys)(owner)
        switch try await self.ask(job, found, number: number, owner: details, accepted: acceptedName) {
        case .unclear(let bank, let holder):
            var unclear = found
            unclear.status = .review
            unclear.isNameAccepted = false
            unclear.bankName = bank
            unclear.accountName = try key.seal(holder, field: Beneficiary.nameField, of: found.user)
            return try await self.save(job, unclear, owner)
        case .rejected(let reason):
            return try await self.reject(job, found, reason, owner)
        case .confirmed(let bank, let holder, let counterparty):
            var confirmed = found
            confirmed.status = .verified
            confirmed.bankName = bank
            confirmed.accountName = try key.seal(holder, field: Beneficiary.nameField, of: found.user)
            confirmed.anchorCounterpartyID = counterparty
            return try await self.confirm(job, confirmed, owner)
        }
    }

    private func ask(
        _ job: Job,
        _ beneficiary: Beneficiary,
        number: String,
        owner: CustomerDetails,
        accepted: String?
    ) async throws -> Answer {
        guard let bank = try await self.banks.name(of: beneficiary.bankCode) else { return .rejected(.unknownBank) }
        do {
            let code = beneficiary.bankCode
            guard let holder = try await self.provider.verifyAccount(bank: code, number: number, deadline: nil) else {
                return .rejected(.accountNotFound)
            }
            // Money leaves only to accounts in the name of who was identified.
            switch HolderName(holder, cutAt: self.nameLengths[code]).match(owner) {
            case .same: break
            // People have looked at this very name.
            case .unclear where holder == accepted: break
            case .unclear: return .unclear(bankName: bank, holder: holder)
            case .different: return .rejected(.nameMismatch)
            }
            let draft = CounterpartyDraft(bankCode: code, accountName: holder, accountNumber: number)
            let made = try await self.calls.call(
                "create_counterparty",
                "beneficiary:\(beneficiary.id.lowercased)",
                of: job
            ) {
                try await self.provider.createCounterparty(draft, deadline: nil)
            }
            return .confirmed(bankName: bank, holder: made.accountName, counterpartyID: made.id)
        } catch AnchorError.refused {
            return .rejected(.refusedByProvider)
        } catch AnchorError.notFound {
            return .rejected(.accountNotFound)
        }
    }

    private func reject(
        _ job: Job,
        _ beneficiary: Beneficiary,
        _ reason: RejectReason,
        _ owner: CustomerUser
    ) async throws -> JobOutcome {
        var rejected = beneficiary
        rejected.status = .rejected
        rejected.rejectReason = reason
        return try await self.save(job, rejected, owner)
    }

    /// Saves an answer that nobody else hears of.
    private func save(_ job: Job, _ beneficiary: Beneficiary, _ owner: CustomerUser) async throws -> JobOutcome {
        try await self.database.transaction(cause: job.cause) { transaction in
            guard try await self.isCurrent(owner, in: transaction) else { return Self.repeated }
            try await job.finish(in: transaction)
            try await self.beneficiaries.saveAnswer(beneficiary, in: transaction)
            return .done
        }
    }

    private func confirm(_ job: Job, _ beneficiary: Beneficiary, _ owner: CustomerUser) async throws -> JobOutcome {
        try await self.database.transaction(cause: job.cause) { transaction in
            guard try await self.isCurrent(owner, in: transaction) else { return Self.repeated }
            try await job.finish(in: transaction)
            let others = try await self.beneficiaries.all(beneficiary.user, in: transaction)
            // Deleted while the bank was asked: then nobody is to hear of it.
            guard others.contains(where: { $0.id == beneficiary.id }) else { return .done }
            var book = BeneficiaryBook(others)
            var added = beneficiary
            added.isDefault = book.add(.init(id: added.id, createdAt: added.createdAt))
            try await self.beneficiaries.saveAnswer(added, in: transaction)
            guard let event = BeneficiaryAdded(added) else { return .done }
            try await transaction.publish(event, about: added.user)
            return .done
        }
    }

    /// Whether the name that the bank's answer was compared with is still the user's; locks the user.
    ///
    /// `CompareNames` sees verified accounts alone, so a correction that came meanwhile is ours to notice.
    private func isCurrent(_ owner: CustomerUser, in transaction: EventTransaction) async throws -> Bool {
        try await self.users.lock(owner.id, in: transaction)?.authSequence == owner.authSequence
    }

    private static let repeated = JobOutcome.again(reason: "details_changed", after: .zero)
}

extension BeneficiaryBook {
    /// The verified ones of a user's beneficiaries.
    init(_ all: [Beneficiary]) {
        let verified = all.filter { $0.status == .verified }
        self.init(
            entries: verified.map { Entry(id: $0.id, createdAt: $0.createdAt) },
            defaultID: verified.first(where: \.isDefault)?.id
        )
    }
}

extension BeneficiaryAdded {
    /// What others hear of a verified beneficiary; nil for any other.
    init?(_ beneficiary: Beneficiary) {
        guard beneficiary.status == .verified, let counterparty = beneficiary.anchorCounterpartyID,
            let name = beneficiary.accountName
        else { return nil }
        self.init(
            userID: beneficiary.user.uuid,
            beneficiaryID: beneficiary.id,
            anchorCounterpartyID: counterparty,
            isDefault: beneficiary.isDefault,
            bankName: beneficiary.bankName ?? "",
            bankCode: beneficiary.bankCode,
            accountNumber: beneficiary.accountNumber,
            accountName: name
        )
    }
}
