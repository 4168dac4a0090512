import Foundation

/// A message in the inbox.
public struct NotificationResource: Codable, Sendable, Hashable {
    /// The message.
    public var id: UUID
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
        kind: String,
        title: String,
        body: String,
        read: Bool,
        subject: String? = nil,
        createdAt: String
    ) {
        self.id = id
        self.kind = kind
        self.title = title
        self.body = body
        self.read = read
        self.subject = subject
        self.createdAt = createdAt
    }

    private enum CodingKeys: String, CodingKey {
        case id
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

    /// Puts the values together.
    public init(data: [NotificationResource], unread: Int, nextCursor: String? = nil) {
        self.data = data
        self.unread = unread
        self.nextCursor = nextCursor
    }

    private enum CodingKeys: String, CodingKey {
        case data
        case unread
        case nextCursor = "next_cursor"
    }
}
