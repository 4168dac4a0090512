import Foundation

/// Somebody completed sign-up.
///
/// Published by auth.
public struct UserCreated: EventData {
    /// `user.created`.
    public static let type: EventType = "user.created"

    /// The person or business.
    public var userID: UUID
    /// Unique, lower case.
    public var username: String
    /// Personal or merchant.
    public var accountType: Open<AccountType>
    /// `KYCDetails` of a person, sealed.
    public var kycDetails: Sealed?
    /// `KYBDetails` of a merchant, sealed.
    public var kybDetails: Sealed?
    /// `ContactDetails` the provider needs, sealed; absent until given.
    public var contactDetails: Sealed?

    /// Puts the values together.
    public init(
        userID: UUID,
        username: String,
        accountType: Open<AccountType>,
        kycDetails: Sealed? = nil,
        kybDetails: Sealed? = nil,
        contactDetails: Sealed? = nil
    ) {
        self.userID = userID
        self.username = username
        self.accountType = accountType
        self.kycDetails = kycDetails
        self.kybDetails = kybDetails
        self.contactDetails = contactDetails
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case username
        case accountType = "account_type"
        case kycDetails = "kyc_details"
        case kybDetails = "kyb_details"
        case contactDetails = "contact_details"
    }
}

/// The details the provider needs are complete or were corrected.
///
/// Published by auth.
public struct UserDetailsProvided: EventData {
    /// `user.details_provided`.
    public static let type: EventType = "user.details_provided"

    /// The person or business.
    public var userID: UUID
    /// Personal or merchant.
    public var accountType: Open<AccountType>
    /// `KYCDetails` of a person, sealed.
    public var kycDetails: Sealed?
    /// `KYBDetails` of a merchant, sealed.
    public var kybDetails: Sealed?
    /// `ContactDetails`, sealed.
    public var contactDetails: Sealed

    /// Puts the values together.
    public init(
        userID: UUID,
        accountType: Open<AccountType>,
        kycDetails: Sealed? = nil,
        kybDetails: Sealed? = nil,
        contactDetails: Sealed
    ) {
        self.userID = userID
        self.accountType = accountType
        self.kycDetails = kycDetails
        self.kybDetails = kybDetails
        self.contactDetails = contactDetails
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case accountType = "account_type"
        case kycDetails = "kyc_details"
        case kybDetails = "kyb_details"
        case contactDetails = "contact_details"
    }
}

/// The user has deleted the sign-in: the profile is closed for ever.
///
/// Published by auth.
public struct UserClosed: EventData {
    /// `user.closed`.
    public static let type: EventType = "user.closed"

    /// The person or business.
    public var userID: UUID
    /// RFC 3339, UTC.
    public var closedAt: String

    /// Puts the values together.
    public init(userID: UUID, closedAt: String) {
        self.userID = userID
        self.closedAt = closedAt
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case closedAt = "closed_at"
    }
}

/// A profile has been closed for as long as its data must be kept: it is erased once no money is left.
///
/// Published by auth, and again every day until the answer comes.
public struct UserErasureDue: EventData {
    /// `user.erasure_due`.
    public static let type: EventType = "user.erasure_due"

    /// The person or business.
    public var userID: UUID

    /// Puts the values together.
    public init(userID: UUID) {
        self.userID = userID
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
    }
}

/// A profile that is to be erased has no money, and none is on its way.
///
/// Published by transaction.
public struct UserErasureCleared: EventData {
    /// `user.erasure_cleared`.
    public static let type: EventType = "user.erasure_cleared"

    /// The person or business.
    public var userID: UUID

    /// Puts the values together.
    public init(userID: UUID) {
        self.userID = userID
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
    }
}

/// The data key of a user was destroyed: sealed values can no longer be read.
///
/// Published by auth.
public struct UserErased: EventData {
    /// `user.erased`.
    public static let type: EventType = "user.erased"

    /// The person or business.
    public var userID: UUID

    /// Puts the values together.
    public init(userID: UUID) {
        self.userID = userID
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
    }
}

/// The settings of a user, whole, after a change.
///
/// Published by customer.
public struct UserSettingsChanged: EventData {
    /// `user.settings_changed`.
    public static let type: EventType = "user.settings_changed"

    /// The person or business.
    public var userID: UUID
    /// False: a receive-only merchant.
    public var allowSending: Bool
    /// Where payments should land.
    public var receivingPreference: Open<ReceivingPreference>
    /// Who may ask for money; nil in events of older publishers, and then as before.
    public var whoMayRequest: Open<RequestPolicy>?

    /// Puts the values together.
    public init(
        userID: UUID,
        allowSending: Bool,
        receivingPreference: Open<ReceivingPreference>,
        whoMayRequest: Open<RequestPolicy>? = nil
    ) {
        self.userID = userID
        self.allowSending = allowSending
        self.receivingPreference = receivingPreference
        self.whoMayRequest = whoMayRequest
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case allowSending = "allow_sending"
        case receivingPreference = "receiving_preference"
        case whoMayRequest = "who_may_request"
    }
}

/// What a user may do was narrowed or widened.
///
/// Published by customer.
public struct UserRestricted: EventData {
    /// `user.restricted`.
    public static let type: EventType = "user.restricted"

    /// The person or business.
    public var userID: UUID
    /// The restriction now in force.
    public var restriction: Open<Restriction>
    /// A code, never free text.
    public var reason: String

    /// Puts the values together.
    public init(userID: UUID, restriction: Open<Restriction>, reason: String) {
        self.userID = userID
        self.restriction = restriction
        self.reason = reason
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case restriction
        case reason
    }
}

/// A user was identified further, or less far, than before: limits follow.
///
/// Published by customer.
public struct UserTierChanged: EventData {
    /// `user.tier_changed`.
    public static let type: EventType = "user.tier_changed"

    /// The person or business.
    public var userID: UUID
    /// 1 by the BVN, 2 by documents, 3 by everything a bank asks for.
    public var tier: Int
    /// The tier until now.
    public var before: Int
    /// A code, never free text.
    public var reason: String

    /// Puts the values together.
    public init(userID: UUID, tier: Int, before: Int, reason: String) {
        self.userID = userID
        self.tier = tier
        self.before = before
        self.reason = reason
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case tier
        case before
        case reason
    }
}

/// All that is held about a user was collected because the user asked for it, and can be taken for a day.
///
/// Published by customer.
public struct UserExportReady: EventData {
    /// `user.export_ready`.
    public static let type: EventType = "user.export_ready"

    /// The person or business.
    public var userID: UUID
    /// What was asked for.
    public var exportID: UUID
    /// RFC 3339, UTC; then it is deleted.
    public var expiresAt: String

    /// Puts the values together.
    public init(userID: UUID, exportID: UUID, expiresAt: String) {
        self.userID = userID
        self.exportID = exportID
        self.expiresAt = expiresAt
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case exportID = "export_id"
        case expiresAt = "expires_at"
    }
}

/// A user has blocked somebody, or has taken that back.
///
/// Published by customer.
public struct UserBlockChanged: EventData {
    /// `user.block_changed`.
    public static let type: EventType = "user.block_changed"

    /// Who has blocked.
    public var userID: UUID
    /// Who is blocked, or is no longer.
    public var otherID: UUID
    /// Whether the other is blocked now.
    public var isBlocked: Bool

    /// Puts the values together.
    public init(userID: UUID, otherID: UUID, isBlocked: Bool) {
        self.userID = userID
        self.otherID = otherID
        self.isBlocked = isBlocked
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case otherID = "other_id"
        case isBlocked = "is_blocked"
    }
}
