import Contracts
import Sealing

/// Keyed hashes of what tells a person or a business from all others.
///
/// Limits belong to a person: of the accounts with one mark only one may go on (`users_identity`, `users_registration`).
struct IdentityMarks: Hashable, Sendable {
    /// Of the BVN of the person or the business.
    let bvn: String?
    /// Where requests have that BVN.
    let bvnPointer: String
    /// Of the number under which the business is registered.
    let registration: String?
    /// Of everything that identifies the person or the business: who gives all of it again is the same.
    let person: String

    /// Where requests have that number.
    static let registrationPointer = "/kyb_details/rc_number"

    /// Hashes checked details.
    init(_ identity: IdentityDetails, _ index: BlindIndex) {
        switch identity {
        case .person(let person):
            self.bvn = index.index("identity.bvn", person.bvn)
            self.bvnPointer = "/kyc_details/bvn"
            self.registration = nil
            self.person = index.index(
                "identity.person",
                "\(person.bvn)|\(person.dateOfBirth)|\(Self.words(person.fullName))"
            )
        case .business(let business):
            // The owner of a business name may use the BVN of a person's account for it: another field, another hash.
            self.bvn = business.businessBvn.map { index.index("identity.business_bvn", $0) }
            self.bvnPointer = "/kyb_details/business_bvn"
            self.registration = index.index("identity.registration", Self.registration(of: business))
            let number = "\(Self.registration(of: business))|\(business.businessBvn ?? "")"
            self.person = index.index("identity.business", "\(number)|\(Self.words(business.businessName))")
        }
    }

    /// A name, however it was written: the same words in any order.
    private static func words(_ name: String) -> String {
        name.uppercased().split { !$0.isLetter && !$0.isNumber }.sorted().joined(separator: " ")
    }

    /// The register and the number in it, however they were written: `rc-00123` and `123` are one company.
    static func registration(of business: KYBDetails) -> String {
        let plain = business.rcNumber.uppercased().filter { $0.isLetter || $0.isNumber }
        let letters = plain.prefix(while: \.isLetter)
        let number = plain.dropFirst(letters.count).drop { $0 == "0" }
        let register = letters.isEmpty ? Self.register(of: business.registrationType) : String(letters)
        return register + String(number)
    }

    private static func register(of type: String?) -> String {
        switch type {
        case "Business_Name": "BN"
        case "Incorporated_Trustees": "IT"
        default: "RC"
        }
    }
}
