import Contracts

/// Requests that obey every rule.
enum Sample {
    static let bvn = "22212345678"

    static let person = KYCDetails(fullName: "Adaeze Okonkwo", bvn: Sample.bvn, dateOfBirth: "1994-02-28")

    static let contact = ContactDetails(
        email: "adaeze@example.com",
        phone: "08031234567",
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

    static func personal(_ username: String, contact: ContactDetails? = Sample.contact) -> OnboardingRequest {
        OnboardingRequest(
            username: username,
            accountType: "personal",
            kycDetails: Sample.person,
            contactDetails: contact
        )
    }

    static func merchant(_ username: String) -> OnboardingRequest {
        OnboardingRequest(
            username: username,
            accountType: "merchant",
            kybDetails: Sample.business,
            contactDetails: Sample.contact
        )
    }
}
