import Contracts
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport

@testable import CustomerService

extension CustomerWorld {
    static func account(_ number: String, bank: String = "000014") throws -> BankAccount {
        try BankAccount(checking: BeneficiaryRequest(accountNumber: number, bankCode: bank))
    }

    /// Adds a bank account of Ada's.
    func add(_ number: String, bank: String = "000014") async throws -> Beneficiary {
        let account = try Self.account(number, bank: bank)
        let add = AddBeneficiary(users: self.users, beneficiaries: self.beneficiaries, index: self.index)
        return try await self.asAda { transaction in
            try await add(account, user: self.ada, key: self.adaKey, in: transaction)
        }
    }

    /// Asks the bank about it.
    func verify(_ beneficiary: Beneficiary) async throws -> JobOutcome {
        try await self.run(CustomerJob.verifyBeneficiary, beneficiary.id.lowercased) {
            try await self.verifyBeneficiary($0)
        }
    }

    /// Adds one that the bank knows as hers.
    func addVerified(_ number: String) async throws -> Beneficiary {
        try await self.addChecked(number, holder: "ADAEZE OKONKWO")
    }

    /// Adds one, and compares its holder's name.
    func addChecked(_ number: String, holder: String) async throws -> Beneficiary {
        self.provider.addAccount(number, holder: holder)
        let added = try await self.add(number)
        let outcome = try await self.verify(added)
        guard outcome == .done, let found = try await self.beneficiaries.find(added.id, of: self.ada, on: self.requests)
        else { throw TestFailure("\(number) was not checked: \(outcome)") }
        return found
    }
}
