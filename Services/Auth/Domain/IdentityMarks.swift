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

    /// Where requests have that number.
    static let registrationPointer = "/kyb_details/rc_number"

    /// Hashes checked details.
    init(_ identity: IdentityDetails, _ index: BlindIndex) {
        switch identity {
        case .person(let person):
            self.bvn = index.index("identity.bvn", person.bvn)
            self.bvnPointer = "/kyc_details/bvn"
            self.registration = nil
        case .business(let business):
            // The owner of a business name may use the BVN of a person's account for it: another field, another hash.
            self.bvn = business.businessBvn.map { index.index("identity.business_bvn", $0) }
            self.bvnPointer = "/kyb_details/business_bvn"
            self.registration = index.index("identity.registration", Self.registration(of: business))
        }
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
