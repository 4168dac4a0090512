import Foundation

/// Why a text is no document of events.
public struct UnreadableDocument: Error, CustomStringConvertible {
    /// One sentence.
    public let description: String

    init(_ place: String) { self.description = "The document has nothing useful at \(place)." }
}

extension EventDocument {
    /// Reads a document that `asyncAPI` has written, also one of another version of the contracts.
    ///
    /// - Throws: `UnreadableDocument`.
    public init(asyncAPI document: JSONNode) throws(UnreadableDocument) {
        guard document["asyncapi"]?.text?.hasPrefix("3.") == true else { throw UnreadableDocument("/asyncapi") }
        guard let channels = document["channels"]?.members else { throw UnreadableDocument("/channels") }
        guard let schemas = document["components"]?["schemas"] else { throw UnreadableDocument("/components/schemas") }
        let heard = try Self.services(document["operations"]?.members ?? [:])
        self.exchange = try Self.same(channels, "/bindings/amqp/exchange/name") { channel in
            channel["bindings"]?["amqp"]?["exchange"]?["name"]?.text
        }
        self.partitions = try Self.same(channels, "/parameters/partition/enum") { channel in
            (channel["parameters"]?["partition"]?["enum"]?.elements?.count).map(Int64.init)
        }
        self.envelope = ValueShape(schema: schemas["envelope"] ?? .null)
        self.headers = ValueShape(schema: schemas["headers"] ?? .null)
        self.kinds = []
        for (key, channel) in channels.sorted(by: { $0.key < $1.key }) {
            self.kinds.append(try Kind(key, channel, schemas, heard))
        }
    }

    /// What all channels must have alike.
    private static func same<Value: Hashable>(
        _ channels: [String: JSONNode],
        _ place: String,
        _ value: (JSONNode) -> Value?
    ) throws(UnreadableDocument) -> Value {
        let values = Set(channels.values.map(value))
        guard values.count == 1, let only = values.first ?? nil else { throw UnreadableDocument("/channels/*\(place)") }
        return only
    }

    /// Who sends and who receives, by the channel.
    fileprivate struct Services {
        var sender: String?
        var receivers: [String] = []
    }

    private static func services(_ operations: [String: JSONNode]) throws(UnreadableDocument) -> [String: Services] {
        var found: [String: Services] = [:]
        for (name, operation) in operations {
            guard let channel = operation["channel"]?["$ref"]?.text, let service = operation["x-service"]?.text,
                channel.hasPrefix("#/channels/")
            else { throw UnreadableDocument("/operations/\(name)") }
            let key = String(channel.dropFirst("#/channels/".count))
            if operation["action"]?.text == "send" {
                found[key, default: Services()].sender = service
            } else {
                found[key, default: Services()].receivers.append(service)
            }
        }
        return found
    }
}

extension EventDocument.Kind {
    fileprivate init(
        _ key: String,
        _ channel: JSONNode,
        _ schemas: JSONNode,
        _ services: [String: EventDocument.Services]
    ) throws(UnreadableDocument) {
        let place = "/channels/\(key)"
        guard let name = channel["messages"]?.members?.keys.first, let mark = name.range(of: "-v", options: .backwards),
            let version = Int64(name[mark.upperBound...])
        else { throw UnreadableDocument("\(place)/messages") }
        guard let address = channel["address"]?.text else { throw UnreadableDocument("\(place)/address") }
        guard let source = services[key]?.sender else { throw UnreadableDocument("\(place): nobody sends it") }
        guard let data = schemas[name] else { throw UnreadableDocument("/components/schemas/\(name)") }
        self.init(
            type: key.replacing("-", with: "."),
            majorVersion: version,
            source: source,
            subject: channel["x-subject"]?.text ?? "",
            routingKey: address,
            consumers: (services[key]?.receivers ?? []).sorted(),
            formerConsumers: (channel["x-former-consumers"]?.texts ?? []).sorted(),
            data: ValueShape(schema: data)
        )
    }
}
