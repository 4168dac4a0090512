import Foundation
import Primitives

/// One JSON:API answer.
///
/// Unknown fields at every level are ignored.
struct Envelope<Attributes: Decodable>: Decodable {
    var data: Resource<Attributes>
    var included: [Included]?
}

/// One page of a JSON:API list.
struct ListEnvelope<Attributes: Decodable>: Decodable {
    struct Meta: Decodable {
        struct Pagination: Decodable {
            var number: Int?
            var totalPages: Int?
        }

        var pagination: Pagination?
    }

    var data: [Resource<Attributes>]
    var meta: Meta?
}

struct Resource<Attributes: Decodable>: Decodable {
    var id: String
    var type: String?
    var attributes: Attributes
    var relationships: Relationships?
}

/// A resource that came along.
///
/// One whose attributes have another form is kept without them.
struct Included: Decodable {
    var id: String?
    var type: String?
    var accountNumber: AccountNumberAttributes?

    private enum Key: CodingKey {
        case id
        case type
        case attributes
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.id = try? container.decode(String.self, forKey: .id)
        self.type = try? container.decode(String.self, forKey: .type)
        guard self.type == "AccountNumber" else { return }
        self.accountNumber = try? container.decode(AccountNumberAttributes.self, forKey: .attributes)
    }
}

/// Relationships to one resource by name.
///
/// Lists and empty ones are left out.
struct Relationships: Decodable {
    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }

    private struct Target: Decodable {
        struct Link: Decodable {
            var id: String?
        }

        var data: Link?
    }

    private var ids: [String: String] = [:]

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Name.self)
        for name in container.allKeys {
            guard let target = try? container.decode(Target.self, forKey: name), let id = idOnly(target.data?.id) else {
                continue
            }
            self.ids[name.stringValue] = id
        }
    }

    /// The id under the first of the names that is there.
    func id(_ names: String...) -> String? {
        for name in names {
            if let id = self.ids[name] { return id }
        }
        return nil
    }

    /// The first id of a kind, whatever its name.
    func id(ofKind suffix: String) -> String? {
        self.ids.values.sorted().first { $0.hasSuffix(suffix) }
    }
}

/// The body of a request: `{data: {type, attributes, relationships}}`.
struct Draft<Attributes: Encodable>: Encodable {
    struct Link: Encodable {
        struct Target: Encodable {
            var id: String
            var type: String
        }

        var data: Target

        init(_ id: String, _ type: String) { self.data = Target(id: id, type: type) }
    }

    struct Content: Encodable {
        var type: String
        var attributes: Attributes
        var relationships: [String: Link]?
    }

    var data: Content

    init(type: String, attributes: Attributes, relationships: [String: Link]? = nil) {
        self.data = Content(type: type, attributes: attributes, relationships: relationships)
    }
}

/// A date and time of the provider: with or without zone and fraction; without a zone it is UTC.
struct WireDate: Decodable {
    var date: Date

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let date = Timestamp.parse(text) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "date"))
        }
        self.date = date
    }
}
