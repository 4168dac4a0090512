import Foundation

/// PUT /users/me/settings; what is absent stays.
public struct SettingsRequest: Codable, Sendable, Hashable {
    /// False: receive only.
    public var allowSending: Bool?
    /// `external` or `wallet`.
    public var receivingPreference: String?
    /// `everyone`, `contacts` or `nobody`.
    public var whoMayRequest: String?

    /// Puts the values together.
    public init(allowSending: Bool? = nil, receivingPreference: String? = nil, whoMayRequest: String? = nil) {
        self.allowSending = allowSending
        self.receivingPreference = receivingPreference
        self.whoMayRequest = whoMayRequest
    }

    private enum CodingKeys: String, CodingKey {
        case allowSending = "allow_sending"
        case receivingPreference = "receiving_preference"
        case whoMayRequest = "who_may_request"
    }
}

/// The settings of a user.
public struct SettingsResource: Codable, Sendable, Hashable {
    /// False: receive only.
    public var allowSending: Bool
    /// `external` or `wallet`.
    public var receivingPreference: String
    /// `everyone`, `contacts` or `nobody`.
    public var whoMayRequest: String

    /// Puts the values together.
    public init(allowSending: Bool, receivingPreference: String, whoMayRequest: String) {
        self.allowSending = allowSending
        self.receivingPreference = receivingPreference
        self.whoMayRequest = whoMayRequest
    }

    private enum CodingKeys: String, CodingKey {
        case allowSending = "allow_sending"
        case receivingPreference = "receiving_preference"
        case whoMayRequest = "who_may_request"
    }
}

/// What anybody who is signed in may know of a user.
public struct ProfileSummary: Codable, Sendable, Hashable {
    /// Lower case.
    public var username: String
    /// `personal` or `merchant`.
    public var accountType: String
    /// Where the profile image is, if there is one.
    public var profileImageURL: String?

    /// Puts the values together.
    public init(username: String, accountType: String, profileImageURL: String? = nil) {
        self.username = username
        self.accountType = accountType
        self.profileImageURL = profileImageURL
    }

    private enum CodingKeys: String, CodingKey {
        case username
        case accountType = "account_type"
        case profileImageURL = "profile_image_url"
    }
}

/// GET /users?query=.
public struct ProfileList: Codable, Sendable, Hashable {
    /// In the order of their names.
    public var data: [ProfileSummary]

    /// Puts the values together.
    public init(data: [ProfileSummary]) { self.data = data }
}

/// GET /users/{username}: a public profile, and what has passed between its owner and the reader.
public struct ProfileResource: Codable, Sendable, Hashable {
    /// Lower case.
    public var username: String
    /// `personal` or `merchant`.
    public var accountType: String
    /// Where the profile image is, if there is one.
    public var profileImageURL: String?
    /// Payments between the two, newest first.
    public var transactionHistory: [TransactionResource]
    /// Opaque; nil on the last page.
    public var nextCursor: String?

    /// Puts the values together.
    public init(
        username: String,
        accountType: String,
        profileImageURL: String? = nil,
        transactionHistory: [TransactionResource],
        nextCursor: String? = nil
    ) {
        self.username = username
        self.accountType = accountType
        self.profileImageURL = profileImageURL
        self.transactionHistory = transactionHistory
        self.nextCursor = nextCursor
    }

    private enum CodingKeys: String, CodingKey {
        case username
        case accountType = "account_type"
        case profileImageURL = "profile_image_url"
        case transactionHistory = "transaction_history"
        case nextCursor = "next_cursor"
    }
}

/// Somebody whom the user has blocked.
public struct BlockResource: Codable, Sendable, Hashable {
    /// Lower case; nil when the profile is gone.
    public var username: String?
    /// RFC 3339, UTC.
    public var blockedAt: String

    /// Puts the values together.
    public init(username: String? = nil, blockedAt: String) {
        self.username = username
        self.blockedAt = blockedAt
    }

    private enum CodingKeys: String, CodingKey {
        case username
        case blockedAt = "blocked_at"
    }
}

/// GET /users/me/blocks.
public struct BlockList: Codable, Sendable, Hashable {
    /// Newest first.
    public var data: [BlockResource]

    /// Puts the values together.
    public init(data: [BlockResource]) { self.data = data }
}
