import Foundation

/// What a message of Clerk says, as far as it matters here.
enum ClerkMessage: Hashable, Sendable {
    /// `user.deleted`: this subject signs in no more.
    case userDeleted(subject: String)
    /// `session.ended`, `session.removed` or `session.revoked`: this session of the subject is over.
    case sessionEnded(subject: String, session: String)
    /// `user.created` and `user.updated`: what Clerk has verified of a subject.
    case userTold(VerifiedFacts)
    /// Anything else.
    case other

    /// What Clerk has verified of a subject: all its addresses and numbers that are.
    struct VerifiedFacts: Hashable, Sendable {
        let subject: String
        let emails: [String]
        let phones: [String]
        /// When it became so, in milliseconds since 1970.
        let changedAt: Int64
    }

    /// Reads a body; nil for one that is no message.
    init?(parsing body: [UInt8]) {
        guard let message = try? JSONDecoder().decode(Wire.self, from: Data(body)) else { return nil }
        switch message.type {
        case "user.deleted":
            guard let subject = message.data?.identifier else { return nil }
            self = .userDeleted(subject: subject)
        case "session.ended", "session.removed", "session.revoked":
            guard let session = message.data?.identifier, let subject = message.data?.owner else { return nil }
            self = .sessionEnded(subject: subject, session: session)
        case "user.created", "user.updated":
            // Without a time nobody knows whether it is news.
            guard let subject = message.data?.identifier, let changedAt = message.data?.updatedAt, changedAt > 0 else {
                self = .other
                return
            }
            self = .userTold(
                VerifiedFacts(
                    subject: subject,
                    emails: message.data?.verified(\.emails) ?? [],
                    phones: message.data?.verified(\.phones) ?? [],
                    changedAt: changedAt
                )
            )
        default: self = .other
        }
    }
}

extension ClerkMessage {
    /// A body as it comes; the data of other messages may have any form.
    private struct Wire: Decodable {
        let type: String
        let data: Object?

        private enum Key: CodingKey {
            case type
            case data
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            self.type = try container.decode(String.self, forKey: .type)
            self.data = try? container.decode(Object.self, forKey: .data)
        }
    }

    /// A user or a session of Clerk's.
    private struct Object: Decodable {
        let id: String?
        /// Of a session: whose it is.
        let userID: String?
        let updatedAt: Int64?
        let emails: [Address]?
        let phones: [Address]?

        /// So many of one kind are looked at.
        private static let most = 20

        private enum CodingKeys: String, CodingKey {
            case id
            case userID = "user_id"
            case updatedAt = "updated_at"
            case emails = "email_addresses"
            case phones = "phone_numbers"
        }

        var identifier: String? { Self.bounded(self.id) }
        var owner: String? { Self.bounded(self.userID) }

        private static func bounded(_ text: String?) -> String? {
            guard let text, (1...255).contains(text.utf8.count) else { return nil }
            return text
        }

        func verified(_ kind: KeyPath<Object, [Address]?>) -> [String] {
            (self[keyPath: kind] ?? []).lazy.filter(\.isVerified).compactMap(\.text).prefix(Self.most).map(\.self)
        }
    }

    /// An address or a number, and whether its owner has proven it.
    private struct Address: Decodable {
        struct Verification: Decodable {
            let status: String?
        }

        let email: String?
        let phone: String?
        let verification: Verification?

        private static let longest = 254

        private enum CodingKeys: String, CodingKey {
            case email = "email_address"
            case phone = "phone_number"
            case verification
        }

        var isVerified: Bool { self.verification?.status == "verified" }

        var text: String? {
            guard let text = self.email ?? self.phone, (1...Self.longest).contains(text.utf8.count) else { return nil }
            return text
        }
    }
}
