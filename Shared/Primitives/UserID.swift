public import Foundation

/// A user, the same in every service.
///
/// It is computed from the subject of the sign-in token, so that no service has to look it up.
public struct UserID: Hashable, Sendable {
    /// The namespace of every user id.
    ///
    /// Changing it would orphan every account.
    public static let namespace = UUID(
        uuid: (0x6f, 0x1c, 0x0e, 0x52, 0x9a, 0x3b, 0x4d, 0x7e, 0x8c, 0x15, 0x2b, 0x64, 0xd0, 0xf7, 0xa9, 0x38)
    )

    /// The id as databases and events hold it.
    public let uuid: UUID

    /// Wraps an id that was computed before.
    public init(_ uuid: UUID) { self.uuid = uuid }

    /// Computes the id of the person that Clerk knows as `clerkSubject` (the token's `sub`).
    public init(clerkSubject: String) {
        self.uuid = UUID.v5(namespace: Self.namespace, name: clerkSubject)
    }

    /// Reads the text form, nil when it is none.
    public init?(text: some StringProtocol) {
        guard let uuid = UUID(text: text) else { return nil }
        self.uuid = uuid
    }
}

extension UserID: CustomStringConvertible {
    /// The id in lower case.
    public var description: String { self.uuid.lowercased }
}

extension UserID: Codable {
    /// Reads the text form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let uuid = UUID(text: text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a UUID")
        }
        self.uuid = uuid
    }

    /// Writes the text form in lower case.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.uuid.lowercased)
    }
}
