import Contracts

/// The document as AsyncAPI 3.0 describes it; extensions (`x-`) carry what it has no word for.
extension EventDocument {
    static let version = "3.0.0"

    /// The document.
    public var asyncAPI: JSONNode {
        [
            "asyncapi": .text(Self.version),
            "info": [
                "title": "Events of Transfa",
                "version": "1.0.0",
                "description": .text(Self.about),
            ],
            "defaultContentType": .text(EventEnvelope.contentType),
            "channels": self.byName(\.key) { self.channel($0) },
            "operations": .object(Dictionary(self.kinds.flatMap(Self.operations)) { $1 }),
            "components": [
                "messages": self.byName(\.message) { Self.message($0) },
                "schemas": .object(
                    Dictionary(self.kinds.map { ($0.message, $0.data.schema) }) { $1 }
                        .merging(["envelope": self.envelope.schema, "headers": self.headers.schema]) { $1 }
                ),
            ],
        ]
    }

    private static let about = """
        Generated from the package Contracts by scripts/events. Every event is CloudEvents 1.0 in structured mode. Order \
        is promised per source and subject, by sequence. Members and words that are not named here may come: readers \
        ignore the ones and keep the others. Texts of the format `sealed` are encrypted with the key of the person they \
        are about.
        """

    private func byName(_ name: (Kind) -> String, _ value: (Kind) -> JSONNode) -> JSONNode {
        .object(Dictionary(self.kinds.map { (name($0), value($0)) }) { $1 })
    }

    private func channel(_ kind: Kind) -> JSONNode {
        [
            "address": .text(kind.routingKey),
            "description": .text("\(kind.type), published by \(kind.source). The subject names: \(kind.subject)."),
            "messages": .object([kind.message: ["$ref": .text("#/components/messages/\(kind.message)")]]),
            "parameters": [
                "partition": [
                    "description": "The first byte of the SHA-256 of the subject, modulo the number of partitions.",
                    "enum": .texts((0..<self.partitions).map { $0 < 10 ? "0\($0)" : "\($0)" }),
                ]
            ],
            "bindings": [
                "amqp": [
                    "is": "routingKey",
                    "exchange": [
                        "name": .text(self.exchange), "type": "topic", "durable": true, "autoDelete": false,
                    ],
                    "bindingVersion": "0.3.0",
                ]
            ],
            "x-subject": .text(kind.subject),
            "x-former-consumers": .texts(kind.formerConsumers),
        ]
    }

    private static func operations(_ kind: Kind) -> [(String, JSONNode)] {
        [(kind.source, "send")].map { self.operation(kind, of: $0, $1) }
            + kind.consumers.map { self.operation(kind, of: $0, "receive") }
    }

    private static func operation(_ kind: Kind, of service: String, _ action: String) -> (String, JSONNode) {
        let channel = "#/channels/\(kind.key)"
        return (
            "\(service)-\(action)-\(kind.key)",
            [
                "action": .text(action),
                "title": .text("\(service) \(action)s \(kind.type)"),
                "channel": ["$ref": .text(channel)],
                "messages": [["$ref": .text("\(channel)/messages/\(kind.message)")]],
                "x-service": .text(service),
            ]
        )
    }

    private static func message(_ kind: Kind) -> JSONNode {
        [
            "name": .text(kind.type),
            "contentType": .text(EventEnvelope.contentType),
            "correlationId": ["location": "$message.payload#/correlationid"],
            "headers": ["$ref": "#/components/schemas/headers"],
            "payload": [
                "allOf": [
                    ["$ref": "#/components/schemas/envelope"],
                    [
                        "type": "object",
                        "required": ["data", "datacontenttype", "specversion"],
                        "properties": [
                            "specversion": ["const": "1.0"],
                            "datacontenttype": ["const": "application/json"],
                            "type": ["const": .text(kind.type)],
                            "source": ["const": .text(kind.source)],
                            "dataschema": ["const": .text("transfa:\(kind.type):\(kind.majorVersion)")],
                            "data": ["$ref": .text("#/components/schemas/\(kind.message)")],
                        ],
                    ],
                ]
            ],
            "bindings": ["amqp": ["messageType": .text(kind.type), "bindingVersion": "0.3.0"]],
        ]
    }
}

extension EventDocument.Kind {
    /// The kind as names in the document may be: they have no dots, and types no hyphens.
    fileprivate var key: String { self.type.replacing(".", with: "-") }

    /// Kind and version, such as `user-created-v1`.
    fileprivate var message: String { "\(self.key)-v\(self.majorVersion)" }
}
