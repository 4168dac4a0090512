import Foundation

/// What a message of Clerk says, as far as it matters here.
enum ClerkMessage: Hashable, Sendable {
    /// `user.deleted`: this subject signs in no more.
    case userDeleted(subject: String)
    /// Anything else.
    case other

    /// Reads a body; nil for one that is no message.
    init?(parsing body: [UInt8]) {
        guard let message = try? JSONDecoder().decode(Wire.self, from: Data(body)) else { return nil }
        guard message.type == "user.deleted" else {
            self = .other
            return
        }
        guard let subject = message.data?.id, (1...255).contains(subject.utf8.count) else { return nil }
        self = .userDeleted(subject: subject)
    }

    private struct Wire: Decodable {
        struct Object: Decodable {
            let id: String?
        }

        let type: String
        let data: Object?

        private enum Key: CodingKey {
            case type
            case data
        }

        /// The data of other messages may have any form.
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            self.type = try container.decode(String.self, forKey: .type)
            self.data = try? container.decode(Object.self, forKey: .data)
        }
    }
}
