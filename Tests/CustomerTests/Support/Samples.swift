import Contracts
import Foundation
import Primitives
import Sealing
import ServiceTestSupport

@testable import CustomerService

/// Details that are complete.
enum Sample {
    static let person = KYCDetails(fullName: "Adaeze Chidinma Okonkwo", bvn: "22212345678", dateOfBirth: "1994-02-28")

    static let contact = ContactDetails(
        email: "adaeze@example.com",
        phone: "08031234567",
        gender: "Female",
        address: PostalAddress(line1: "1 Marina Road", city: "Uyo", state: "Akwa Ibom", postalCode: "520001")
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
}

extension CustomerWorld {
    /// Seals a value as auth does.
    func sealed(_ value: some Encodable, _ field: String) throws -> Sealed {
        let json = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
        return try self.adaKey.seal(json, field: field, of: self.ada)
    }

    /// Ada has signed up, with an address that is proven unless it is said otherwise; perhaps once more.
    func adaSignsUp(
        contact: ContactDetails? = Sample.contact,
        isProven: Bool = true,
        succeeds former: UserID? = nil,
        sequence: Int64 = 1
    ) async throws {
        try await self.hear(
            UserCreated(
                userID: self.ada.uuid,
                username: "ada",
                accountType: Open(.personal),
                kycDetails: try self.sealed(Sample.person, "kyc_details"),
                contactDetails: try contact.map { try self.sealed($0, "contact_details") },
                emailVerified: isProven,
                succeeds: former?.uuid
            ),
            sequence: sequence
        )
    }

    /// Ada has a paid plan for thirty days.
    func adaSubscribes(sequence: Int64 = 1) async throws {
        let end = Timestamp.text(self.clock.now.addingTimeInterval(30 * 86_400))
        try await self.hear(
            SubscriptionActivated(userID: self.ada.uuid, plan: "plus", activeUntil: end),
            sequence: sequence
        )
    }

    /// Ada has signed up as a merchant.
    func adaOpensShop() async throws {
        try await self.hear(
            UserCreated(
                userID: self.ada.uuid,
                username: "ada",
                accountType: Open(.merchant),
                kybDetails: try self.sealed(Sample.business, "kyb_details"),
                contactDetails: try self.sealed(Sample.contact, "contact_details"),
                emailVerified: true
            ),
            sequence: 1
        )
    }
}
