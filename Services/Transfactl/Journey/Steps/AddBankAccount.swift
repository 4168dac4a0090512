import Contracts
import Primitives

/// Bola names the bank account to which payments go.
struct AddBankAccount {
    let stage: Stage
    let cast: Cast

    func callAsFunction() async throws(Failure) {
        self.stage.report.step("Bola adds a bank account, which becomes the default")
        let call = try Call.post(.service(.customer), "/beneficiaries", self.cast.bankAccount)
        let answer = try await self.stage.require(
            201,
            202,
            from: call,
            as: self.cast.bola,
            causing: [BeneficiaryAdded.type]
        )
        let id = try answer.decode(BeneficiaryResource.self).id
        let found = try await self.stage.wait(
            for: "the bank has confirmed bola's account",
            asking: .get(.service(.customer), "/beneficiaries/\(id.lowercased)"),
            as: self.cast.bola
        ) { answer throws(Failure) -> BeneficiaryResource? in
            let beneficiary = try answer.decode(BeneficiaryResource.self)
            return beneficiary.status == "verified" ? beneficiary : nil
        }
        self.stage.report.check("it is the default", found.isDefault, "is_default \(found.isDefault)")
    }
}
