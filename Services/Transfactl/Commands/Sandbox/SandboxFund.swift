import ArgumentParser

/// `transfactl sandbox fund <name> <kobo>`.
struct SandboxFund: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fund",
        abstract: "Lets money from outside come in for an invented person, and waits until it is in the wallet."
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var people: PeopleOptions

    @Argument(help: "The name that was given to transfactl sandbox person.")
    var name: String

    @Argument(help: "The amount in kobo: 100 are one naira.")
    var amount: Int64

    func validate() throws {
        guard self.amount > 0 else { throw ValidationError("an amount is at least 1 kobo") }
    }

    func run() async throws {
        try await self.output.reporting { caller, report throws(Failure) in
            let person = try self.people.file.require(self.name)
            let stage = try await self.people.stage(caller, report)
            _ = try await FundWallet(stage: stage, person: person, amount: self.amount)()
        }
    }
}
