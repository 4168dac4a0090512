import Foundation

/// Somebody's request for all that is held about them.
public struct ExportResource: Codable, Sendable, Hashable {
    /// The request.
    public var id: UUID
    /// `requested`, `collecting`, `ready`, `failed` or `expired`.
    public var state: String
    /// RFC 3339, UTC.
    public var requestedAt: String
    /// RFC 3339, UTC; with `ready` and `expired`.
    public var readyAt: String?
    /// How many bytes the data has as JSON, about; with `ready`.
    public var size: Int64?
    /// RFC 3339, UTC; from then on there is no file.
    ///
    /// With `ready` and `expired`.
    public var expiresAt: String?
    /// A code; with `failed`.
    public var reason: String?

    /// Puts the values together.
    public init(
        id: UUID,
        state: String,
        requestedAt: String,
        readyAt: String? = nil,
        size: Int64? = nil,
        expiresAt: String? = nil,
        reason: String? = nil
    ) {
        self.id = id
        self.state = state
        self.requestedAt = requestedAt
        self.readyAt = readyAt
        self.size = size
        self.expiresAt = expiresAt
        self.reason = reason
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case state
        case requestedAt = "requested_at"
        case readyAt = "ready_at"
        case size
        case expiresAt = "expires_at"
        case reason
    }
}
