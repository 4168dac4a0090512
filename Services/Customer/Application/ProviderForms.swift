import AnchorClient
import Contracts
import Primitives

/// Fills in the provider's forms from a user's details; nil while something is missing.
enum ProviderForms {
    /// The key under which the provider echoes our user id.
    static let userIDKey = "user_id"

    /// A person; `email` is the address that the provider gets.
    static func individual(_ details: CustomerDetails, email: String, user: UserID) -> IndividualCustomer? {
        guard let person = details.person, let contact = details.contact, let name = Self.name(person.fullName),
            contact.gender != nil
        else { return nil }
        return IndividualCustomer(
            fullName: name,
            address: Self.address(contact.address),
            email: email,
            phoneNumber: Self.national(contact.phone),
            metadata: [Self.userIDKey: user.description]
        )
    }

    /// A business; its director owns it all, as the sign-up form knows of nobody else.
    static func business(_ details: CustomerDetails, email: String, user: UserID) -> BusinessCustomer? {
        guard let business = details.business, let contact = details.contact, let industry = business.industry,
            let type = business.registrationType, let bvn = business.businessBvn,
            let registered = business.dateOfRegistration, let description = business.description,
            let officer = Self.owner(business.director, contact, email: email)
        else { return nil }
        return BusinessCustomer(
            detail: BusinessDetail(
                industry: industry,
                registrationType: type,
                businessName: business.businessName,
                businessBvn: bvn,
                dateOfRegistration: registered,
                description: description,
                website: business.website
            ),
            contact: BusinessContact(
                email: email,
                phoneNumber: Self.national(contact.phone),
                address: Self.address(contact.address)
            ),
            officers: [officer],
            metadata: [Self.userIDKey: user.description]
        )
    }

    /// What identifies a person.
    static func verification(_ details: CustomerDetails) -> IndividualVerification? {
        guard let person = details.person,
            let gender = details.contact?.gender.flatMap({ IndividualVerification.Gender(rawValue: $0) })
        else { return nil }
        return IndividualVerification(bvn: person.bvn, dateOfBirth: person.dateOfBirth, gender: gender)
    }

    private static func owner(
        _ director: KYCDetails?,
        _ contact: ContactDetails,
        email: String
    ) -> BusinessOfficer? {
        guard let director, let name = Self.name(director.fullName) else { return nil }
        return BusinessOfficer(
            role: .owner,
            fullName: name,
            address: Self.address(contact.address),
            dateOfBirth: director.dateOfBirth,
            email: email,
            phoneNumber: Self.national(contact.phone),
            bvn: director.bvn,
            title: "CEO",
            percentageOwned: 100
        )
    }

    /// The provider takes a number as it is dialled inside of the country.
    private static func national(_ phone: String) -> String { PhoneNumber(phone)?.national ?? phone }

    private static func name(_ fullName: String) -> PersonName? {
        NameParts(fullName).map { PersonName(firstName: $0.first, lastName: $0.last, middleName: $0.middle) }
    }

    /// The provider names states in upper case with underscores: AKWA_IBOM.
    private static func address(_ address: Contracts.PostalAddress) -> ProviderAddress {
        ProviderAddress(
            line1: address.line1,
            line2: address.line2,
            city: address.city,
            state: address.state.uppercased().split { $0 == " " || $0 == "-" }.joined(separator: "_"),
            postalCode: address.postalCode
        )
    }
}
