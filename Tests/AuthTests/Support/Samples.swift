import Contracts

/// Requests that obey every rule.
enum Sample {
    static let bvn = "22212345678"

    static let person = KYCDetails(fullName: "Adaeze Okonkwo", bvn: Sample.bvn, dateOfBirth: "1994-02-28")

    static let contact = ContactDetails(
        email: "adaeze@example.com",
        phone: "+2348031234567",
        gender: "Female",
        address: PostalAddress(line1: "1 Marina Road", city: "Lagos", state: "Lagos", postalCode: "100001")
    )

    static let business = KYBDetails(
        businessName: "Okonkwo Foods",
        rcNumber: "RC123456",
        registrationType: "Private_Incorporated",
        industry: "Agriculture-AgriculturalCooperatives",
        dateOfRegistration: "2015-06-01",
        businessBvn: "22298765432",
        description: "Food",
        director: Sample.person
    )

    /// Somebody with a BVN of their own; Ada's is `bvn`.
    static func personal(_ username: String, contact: ContactDetails? = Sample.contact) -> OnboardingRequest {
        var person = Sample.person
        if username.lowercased() != "ada" { person.bvn = "222\(Self.digits(of: username))" }
        return OnboardingRequest(
            username: username,
            accountType: "personal",
            kycDetails: person,
            contactDetails: contact
        )
    }

    /// A business with numbers of its own; those of the first shop are `business`.
    static func merchant(_ username: String) -> OnboardingRequest {
        var business = Sample.business
        if username != "shop1" {
            business.rcNumber = "RC\(Self.digits(of: username))"
            business.businessBvn = "222\(Self.digits(of: "business \(username)"))"
        }
        return OnboardingRequest(
            username: username,
            accountType: "merchant",
            kybDetails: business,
            contactDetails: Sample.contact
        )
    }

    /// Eight digits that differ when the texts do (FNV-1a), and say nothing to the sandbox.
    private static func digits(of text: String) -> String {
        let hash = text.lowercased().utf8.reduce(0x811c_9dc5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        let number = String(hash % 10_000_000)
        return String(repeating: "0", count: 7 - number.count) + number + "1"
    }
}
