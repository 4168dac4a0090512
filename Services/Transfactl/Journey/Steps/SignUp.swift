import Contracts

/// Everybody signs up with all details.
struct SignUp {
    let stage: Stage
    let people: [Person]
    /// What somebody says of themselves.
    let details: (Person) -> OnboardingRequest

    func callAsFunction() async throws(Failure) {
        self.stage.report.step("Sign-up: \(self.people.map(\.name).joined(separator: ", "))")
        for person in self.people {
            let call = try Call.post(.service(.auth), "/onboarding", self.details(person))
            let answer = try await self.stage.require(
                201,
                from: call,
                as: person,
                causing: [UserCreated.type, CustomerCreated.type]
            )
            person.userID = try answer.decode(OnboardingResponse.self).userID
        }
    }
}
