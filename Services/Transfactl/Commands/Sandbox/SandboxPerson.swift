import ArgumentParser
import Contracts

/// `transfactl sandbox person <name>`.
struct SandboxPerson: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "person",
        abstract: "Signs an invented person up, until there is a wallet, a PIN and a phone that approves payments.",
        discussion: """
            The name is also the username. Who is there already stays. PIN and keys are kept in the file of --people, for \
            transfactl sandbox fund and transfactl pay.
            """
    )

    private static let pin = "482193"

    @OptionGroup var output: OutputOptions
    @OptionGroup var people: PeopleOptions

    @Argument(help: "The name, such as ada: 3 to 20 small letters and digits, a letter first.")
    var name: String

    func validate() throws {
        guard self.name.contains(/^[a-z][a-z0-9]{2,19}$/) else {
            throw ValidationError("a name is 3 to 20 small letters and digits, a letter first")
        }
    }

    func run() async throws {
        try await self.output.reporting { caller, report throws(Failure) in
            let stage = try await self.people.stage(caller, report)
            if let person = try self.people.file.find(self.name), try await Self.isThere(person, stage) {
                report.note("\(self.name) is there already, with the account \(person.accountNumber ?? "")")
                Self.tell(of: person, report)
                return
            }
            let person = try await self.make(stage)
            try self.people.file.keep(person)
            Self.tell(of: person, report)
        }
    }

    private static func tell(of person: Person, _ report: Report) {
        report.note("a session token of \(person.name): transfactl token session \(person.clerkSubject)")
    }

    /// Databases may have been emptied since.
    private static func isThere(_ person: Person, _ stage: Stage) async throws(Failure) -> Bool {
        try await stage.send(.get(.service(.account), "/accounts/me"), as: person).status == 200
    }

    private func make(_ stage: Stage) async throws(Failure) -> Person {
        let run = RunNumber()
        let subject = "user_sandbox_\(self.name)_\(run.text)"
        let person = Person(name: self.name, username: self.name, clerkSubject: subject, pin: Self.pin)
        // Names have letters alone.
        let letters = self.name.filter(\.isLetter)
        let fullName = "\(letters.prefix(1).uppercased())\(letters.dropFirst()) Testperson"
        try await SignUp(stage: stage, people: [person]) { person in
            run.signUp(of: person, fullName, gender: "Others", number: 1)
        }()
        try await AwaitWallets(stage: stage, people: [person])()
        try await SecureAccounts(stage: stage, people: [person], owners: [person])()
        return person
    }
}
