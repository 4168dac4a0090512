import Contracts

/// Who takes part, with what they say of themselves at sign-up.
struct Cast {
    let ada: Person
    let bola: Person
    let merchant: Person
    private let run: RunNumber

    init(run: RunNumber) {
        self.run = run
        self.ada = Person(name: "ada", run: run, pin: "482193")
        self.bola = Person(name: "bola", run: run, pin: "739155")
        self.merchant = Person(name: "shop", run: run, pin: "915573")
    }

    var everybody: [Person] { [self.ada, self.bola, self.merchant] }

    /// Where bola's money goes.
    var bankAccount: BeneficiaryRequest {
        BeneficiaryRequest(accountNumber: self.run.accountNumber, bankCode: "000013")
    }

    func signUp(of person: Person) -> OnboardingRequest {
        switch person.name {
        case self.ada.name: self.run.signUp(of: person, "Ada Testperson", gender: "Female", number: 1)
        case self.bola.name: self.run.signUp(of: person, "Bola Testperson", gender: "Male", number: 2)
        default: self.business(person)
        }
    }

    private func business(_ person: Person) -> OnboardingRequest {
        OnboardingRequest(
            username: person.username,
            accountType: "merchant",
            kybDetails: KYBDetails(
                businessName: "Invented Shop",
                rcNumber: "RC\(self.run.text)",
                registrationType: "Private_Incorporated",
                industry: "Agriculture-AgriculturalCooperatives",
                dateOfRegistration: "2015-06-01",
                businessBvn: self.run.bvn(3),
                description: "Sells what nobody needs",
                director: self.run.identity("Chidi Testperson", number: 4)
            ),
            contactDetails: self.run.contact(person, gender: "Others", number: 3)
        )
    }
}
