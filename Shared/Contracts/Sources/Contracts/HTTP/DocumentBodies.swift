import Foundation

/// A document that the bank wants to see of a person or a business.
public struct DocumentResource: Codable, Sendable, Hashable {
    /// Why it has to be handed in again.
    public struct Reason: Codable, Sendable, Hashable {
        /// For the app; more may come.
        public var code: String
        /// For the person: what to do now.
        public var detail: String

        /// Puts the values together.
        public init(code: String, detail: String) {
            self.code = code
            self.detail = detail
        }
    }

    /// The document.
    public var id: UUID
    /// What it is, in a word of the bank's; more may come.
    public var type: String
    /// `file` or `text`.
    public var format: String
    /// `wanted`, `sending`, `sent`, `approved` or `refused`.
    public var status: String
    /// With `refused`.
    public var reason: Reason?

    /// Puts the values together.
    public init(id: UUID, type: String, format: String, status: String, reason: Reason? = nil) {
        self.id = id
        self.type = type
        self.format = format
        self.status = status
        self.reason = reason
    }
}

/// GET /users/me/documents.
public struct DocumentList: Codable, Sendable, Hashable {
    /// By type.
    public var data: [DocumentResource]

    /// Puts the values together.
    public init(data: [DocumentResource]) { self.data = data }
}
