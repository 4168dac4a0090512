import Contracts
import Foundation

/// Makes what must be unique different on every run.
struct RunNumber: Sendable {
    /// Seven digits.
    let text: String

    init() { self.text = String(Int.random(in: 1_000_000...9_999_999)) }

    /// Eleven digits that no bank gave out; the last one keeps clear of the sandbox's special endings.
    func bvn(_ person: Int) -> String { "22\(person)\(self.text)7" }

    /// Eleven digits in a range without subscribers.
    func phone(_ person: Int) -> String { "000\(self.text)\(person)" }

    /// Ten digits; the last one keeps clear of the sandbox's special endings.
    var accountNumber: String { "00\(self.text)7" }

    /// At a domain that is reserved for examples.
    func email(_ name: String) -> String { "\(name).\(self.text)@example.com" }
}

extension RunNumber {
    /// What an invented person says at sign-up.
    func signUp(of person: Person, _ fullName: String, gender: String, number: Int) -> OnboardingRequest {
        OnboardingRequest(
            username: person.username,
            accountType: "personal",
            kycDetails: self.identity(fullName, number: number),
            contactDetails: self.contact(person, gender: gender, number: number)
        )
    }

    func identity(_ fullName: String, number: Int) -> KYCDetails {
        KYCDetails(fullName: fullName, bvn: self.bvn(number), dateOfBirth: "1990-01-0\(number)")
    }

    func contact(_ person: Person, gender: String, number: Int) -> ContactDetails {
        ContactDetails(
            email: self.email(person.name),
            phone: self.phone(number),
            gender: gender,
            address: PostalAddress(
                line1: "\(number) Example Street",
                city: "Lagos",
                state: "Lagos",
                postalCode: "100001"
            )
        )
    }
}
