import Foundation

/// A message in the inbox.
public struct NotificationResource: Codable, Sendable, Hashable {
    /// The message.
    public var id: UUID
    /// `money`, `security`, `account`, `requests`, `drops` or `subscription`.
    public var category: String
    /// What it is about.
    public var kind: String
    /// A few words.
    public var title: String
    /// A sentence.
    public var body: String
    /// Whether it was read.
    public var read: Bool
    /// The id of what it is about.
    public var subject: String?
    /// RFC 3339, UTC.
    public var createdAt: String

    /// Puts the values together.
    public init(
        id: UUID,
        category: String,
        kind: String,
        title: String,
        body: String,
        read: Bool,
        subject: String? = nil,
        createdAt: String
    ) {
        self.id = id
        self.category = category
        self.kind = kind
        self.title = title
        self.body = body
        self.read = read
        self.subject = subject
        self.createdAt = createdAt
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case category
        case kind
        case title
        case body
        case read
        case subject
        case createdAt = "created_at"
    }
}

/// GET /notifications.
public struct NotificationPage: Codable, Sendable, Hashable {
    /// Newest first.
    public var data: [NotificationResource]
    /// How many are unread.
    public var unread: Int
    /// Opaque; nil on the last page.
    public var nextCursor: String?
    /// What follows the inbox; nil but on the first page.
    public var meta: Meta?

    /// What follows the inbox.
    public struct Meta: Codable, Sendable, Hashable {
        /// The `Last-Event-ID` of the stream that begins where this inbox ends: a message is in one of the two.
        public var lastEventID: String

        /// Puts the value in.
        public init(lastEventID: String) { self.lastEventID = lastEventID }

        private enum CodingKeys: String, CodingKey {
            case lastEventID = "last_event_id"
        }
    }

    /// Puts the values together.
    public init(data: [NotificationResource], unread: Int, nextCursor: String? = nil, meta: Meta? = nil) {
        self.data = data
        self.unread = unread
        self.nextCursor = nextCursor
        self.meta = meta
    }

    private enum CodingKeys: String, CodingKey {
        case data
        case unread
        case nextCursor = "next_cursor"
        case meta
    }
}

/// POST /notifications/read-all.
public struct ReadAllRequest: Codable, Sendable, Hashable {
    /// The newest message that the person has seen; nil for everything.
    ///
    /// What came after it stays unread.
    public var upTo: UUID?

    /// Puts the values together.
    public init(upTo: UUID? = nil) { self.upTo = upTo }

    private enum CodingKeys: String, CodingKey {
        case upTo = "up_to"
    }
}

/// How many messages are unread.
public struct UnreadCount: Codable, Sendable, Hashable {
    /// The number.
    public var unread: Int

    /// Puts the value in.
    public init(unread: Int) { self.unread = unread }
}

/// Where messages of a category are heard.
public struct NotificationChannels: Codable, Sendable, Hashable {
    /// In the inbox and the live stream; nil in a request leaves it as it is.
    public var inApp: Bool?
    /// On the phone's lock screen; nil in a request leaves it as it is.
    public var push: Bool?
    /// Whether both are always on; ignored in a request.
    public var locked: Bool?

    /// Puts the values together.
    public init(inApp: Bool? = nil, push: Bool? = nil, locked: Bool? = nil) {
        self.inApp = inApp
        self.push = push
        self.locked = locked
    }

    private enum CodingKeys: String, CodingKey {
        case inApp = "in_app"
        case push
        case locked
    }
}

/// The channels by category; nil in a request leaves a category as it is.
public struct NotificationCategories: Codable, Sendable, Hashable {
    /// Money that moved; always on.
    public var money: NotificationChannels?
    /// Devices, bank accounts, PIN, restrictions; always on.
    public var security: NotificationChannels?
    /// The wallet and the identity check.
    public var account: NotificationChannels?
    /// Payment requests.
    public var requests: NotificationChannels?
    /// Money drops.
    public var drops: NotificationChannels?
    /// The plan.
    public var subscription: NotificationChannels?

    /// Puts the values together.
    public init(
        money: NotificationChannels? = nil,
        security: NotificationChannels? = nil,
        account: NotificationChannels? = nil,
        requests: NotificationChannels? = nil,
        drops: NotificationChannels? = nil,
        subscription: NotificationChannels? = nil
    ) {
        self.money = money
        self.security = security
        self.account = account
        self.requests = requests
        self.drops = drops
        self.subscription = subscription
    }
}

/// GET and PUT /notifications/preferences, as they stand.
public struct NotificationPreferencesResource: Codable, Sendable, Hashable {
    /// Whether pushes say amounts.
    public var showAmounts: Bool
    /// Every category.
    public var categories: NotificationCategories

    /// Puts the values together.
    public init(showAmounts: Bool, categories: NotificationCategories) {
        self.showAmounts = showAmounts
        self.categories = categories
    }

    private enum CodingKeys: String, CodingKey {
        case showAmounts = "show_amounts"
        case categories
    }
}

/// PUT /notifications/preferences: what is left out stays.
public struct NotificationPreferencesRequest: Codable, Sendable, Hashable {
    /// Whether pushes say amounts.
    public var showAmounts: Bool?
    /// The categories to change.
    public var categories: NotificationCategories?

    /// Puts the values together.
    public init(showAmounts: Bool? = nil, categories: NotificationCategories? = nil) {
        self.showAmounts = showAmounts
        self.categories = categories
    }

    private enum CodingKeys: String, CodingKey {
        case showAmounts = "show_amounts"
        case categories
    }
}

/// POST /push-tokens.
public struct PushTokenRequest: Codable, Sendable, Hashable {
    /// What the push service gave the app, in hexadecimal.
    public var token: String
    /// The device that approves payments, if it is one; when it is removed, so is the token.
    public var deviceID: UUID?

    /// Puts the values together.
    public init(token: String, deviceID: UUID? = nil) {
        self.token = token
        self.deviceID = deviceID
    }

    private enum CodingKeys: String, CodingKey {
        case token
        case deviceID = "device_id"
    }
}

/// A phone that gets pushes.
public struct PushTokenResource: Codable, Sendable, Hashable {
    /// Names it, to remove it.
    public var id: UUID
    /// The device that approves payments, if it is one.
    public var deviceID: UUID?
    /// RFC 3339, UTC.
    public var registeredAt: String

    /// Puts the values together.
    public init(id: UUID, deviceID: UUID? = nil, registeredAt: String) {
        self.id = id
        self.deviceID = deviceID
        self.registeredAt = registeredAt
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case deviceID = "device_id"
        case registeredAt = "registered_at"
    }
}

/// GET /push-tokens.
public struct PushTokenList: Codable, Sendable, Hashable {
    /// Newest first.
    public var data: [PushTokenResource]

    /// Puts the list in.
    public init(data: [PushTokenResource]) { self.data = data }
}
