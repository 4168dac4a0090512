import Contracts
import Foundation
import Primitives

/// GET /internal/users: a user without personal details.
struct InternalUser: Encodable {
    let userID: String
    let username: String?
    let accountType: String?
    let anchorCustomerID: String?
    let verificationStatus: String
    let allowSending: Bool
    let receivingPreference: String
    let restriction: String

    init(_ user: CustomerUser) {
        self.userID = user.id.description
        self.username = user.username
        self.accountType = user.accountType?.text
        self.anchorCustomerID = user.anchorCustomerID
        self.verificationStatus = user.verification.text
        self.allowSending = user.settings.allowSending
        self.receivingPreference = user.settings.receivingPreference.rawValue
        self.restriction = user.restriction.text
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case username
        case accountType = "account_type"
        case anchorCustomerID = "anchor_customer_id"
        case verificationStatus = "verification_status"
        case allowSending = "allow_sending"
        case receivingPreference = "receiving_preference"
        case restriction
    }
}

/// GET /internal/beneficiaries/default: where payments to a user go.
struct InternalBeneficiary: Encodable {
    let id: String
    let anchorCounterpartyID: String?
    let bankCode: String
    let bankName: String?

    init(_ beneficiary: Beneficiary) {
        self.id = beneficiary.id.uuidString.lowercased()
        self.anchorCounterpartyID = beneficiary.anchorCounterpartyID
        self.bankCode = beneficiary.bankCode
        self.bankName = beneficiary.bankName
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case anchorCounterpartyID = "anchor_counterparty_id"
        case bankCode = "bank_code"
        case bankName = "bank_name"
    }
}

/// PUT /internal/users/{user_id}/restriction.
struct RestrictionBody: Decodable {
    let restriction: String
    let reason: String
}
