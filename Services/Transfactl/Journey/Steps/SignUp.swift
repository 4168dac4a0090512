import Contracts

/// Everybody signs up with all details.
struct SignUp {
    let stage: Stage
    let cast: Cast

    func callAsFunction() async throws(Failure) {
        self.stage.report.step("Two people and a merchant sign up")
        for person in self.cast.everybody {
            let call = try Call.post(.service(.auth), "/onboarding", self.cast.signUp(of: person))
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
