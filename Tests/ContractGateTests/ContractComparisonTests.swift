import ContractGate
import Contracts
import Foundation
import Testing

/// A change of the contracts, and what must be said of it.
struct ContractCase: Sendable, CustomStringConvertible {
    let description: String
    let kind: ContractChange.Kind
    let place: String
    let stopped: [String]
    let change: @Sendable (inout EventDocument) -> Void

    init(
        _ description: String,
        _ kind: ContractChange.Kind,
        at place: String = "",
        stops stopped: [String] = [],
        _ change: @escaping @Sendable (inout EventDocument.Kind) -> Void
    ) {
        self.init(
            everywhere: description,
            kind,
            at: place,
            stops: stopped,
            inAll: { document in
                guard let index = document.kinds.firstIndex(where: { $0.type == "user.restricted" }) else { return }
                change(&document.kinds[index])
            }
        )
    }

    init(
        everywhere description: String,
        _ kind: ContractChange.Kind,
        at place: String = "",
        stops stopped: [String] = [],
        inAll change: @escaping @Sendable (inout EventDocument) -> Void
    ) {
        self.description = description
        self.kind = kind
        self.place = place
        self.stopped = stopped
        self.change = change
    }
}

@Suite("What a change of the contracts breaks")
struct ContractComparisonTests {
    /// Who listens to user.restricted.
    private static let consumers = ["auth", "notification", "subscription", "transaction"]
    private static let everybody = [
        "account", "analytics", "auth", "customer", "notification", "subscription", "transaction",
    ]
    private static let number = ValueShape.integer(format: "int64")

    private static func fields(
        of shape: ValueShape,
        _ change: (inout [String: FieldShape]) -> Void
    ) -> ValueShape {
        guard case .object(let fields) = shape else { return shape }
        var named = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0) })
        change(&named)
        return .object(named.values.sorted { $0.name < $1.name })
    }

    private static let breaking: [ContractCase] = [
        ContractCase(
            everywhere: "an event is gone",
            .eventRemoved,
            stops: Self.consumers,
            inAll: { document in
                document.kinds.removeAll { $0.type == "user.restricted" }
            }
        ),
        ContractCase("the major version", .versionChanged, stops: Self.consumers) { $0.majorVersion = 2 },
        ContractCase("the publisher", .sourceChanged, stops: Self.consumers) { $0.source = "auth" },
        ContractCase("the subject", .subjectChanged, stops: Self.consumers) { $0.subject = "transaction" },
        ContractCase("the routing key", .routingKeyChanged, stops: Self.consumers) { kind in
            kind.routingKey = "user.restricted.{partition}"
        },
        ContractCase("a consumer that is forgotten", .consumerRemoved, stops: ["auth"]) { kind in
            kind.consumers.removeAll { $0 == "auth" }
        },
        ContractCase("a member is gone", .fieldRemoved, at: "/data/reason", stops: Self.consumers) { kind in
            kind.data = Self.fields(of: kind.data) { $0["reason"] = nil }
        },
        ContractCase("a member is retyped", .fieldRetyped, at: "/data/reason", stops: Self.consumers) { kind in
            kind.data = Self.fields(of: kind.data) { $0["reason"] = FieldShape("reason", Self.number) }
        },
        ContractCase("an id becomes any text", .fieldRetyped, at: "/data/user_id", stops: Self.consumers) { kind in
            kind.data = Self.fields(of: kind.data) { $0["user_id"] = FieldShape("user_id", .text(format: nil)) }
        },
        ContractCase("a member is new and required", .fieldAdded, at: "/data/until", stops: Self.consumers) { kind in
            kind.data = Self.fields(of: kind.data) { $0["until"] = FieldShape("until", .text(format: nil)) }
        },
        ContractCase("a member may be absent", .fieldNowOptional, at: "/data/reason", stops: Self.consumers) { kind in
            kind.data = Self.fields(of: kind.data) { fields in
                fields["reason"] = FieldShape("reason", .text(format: nil), isRequired: false)
            }
        },
        ContractCase("a word is gone", .wordsRemoved, at: "/data/restriction", stops: Self.consumers) { kind in
            kind.data = Self.fields(of: kind.data) { fields in
                fields["restriction"] = FieldShape("restriction", .words(["none", "frozen", "closed"]))
            }
        },
        ContractCase("a word is renamed", .wordsRemoved, at: "/data/restriction", stops: Self.consumers) { kind in
            kind.data = Self.fields(of: kind.data) { fields in
                let words = ["none", "no_debit", "frozen", "closed"]
                fields["restriction"] = FieldShape("restriction", .words(words))
            }
        },
        ContractCase(
            everywhere: "the exchange",
            .exchangeChanged,
            stops: Self.everybody,
            inAll: { $0.exchange = "others" }
        ),
        ContractCase(
            everywhere: "the partitions",
            .partitionsChanged,
            stops: Self.everybody,
            inAll: { $0.partitions = 32 }
        ),
        ContractCase(
            everywhere: "an attribute is gone",
            .fieldRemoved,
            at: "/sequence",
            stops: Self.everybody,
            inAll: { document in
                document.envelope = Self.fields(of: document.envelope) { $0["sequence"] = nil }
            }
        ),
        ContractCase(
            everywhere: "a header is gone",
            .fieldRemoved,
            at: "/headers/ce-id",
            stops: Self.everybody,
            inAll: { document in
                document.headers = Self.fields(of: document.headers) { $0["ce-id"] = nil }
            }
        ),
    ]

    private static let harmless: [ContractCase] = [
        ContractCase(
            everywhere: "a new event",
            .eventAdded,
            inAll: { document in
                document.kinds += document.kinds.prefix(1).map { kind in
                    var new = kind
                    new.type = "user.renamed"
                    return new
                }
            }
        ),
        ContractCase(
            everywhere: "an event that nobody heard is gone",
            .eventRemoved,
            inAll: { document in
                document.kinds.removeAll { $0.type == "money_drop.refunded" }
            }
        ),
        ContractCase("a new consumer", .consumerAdded) { $0.consumers.append("analytics") },
        ContractCase("a consumer that gives up its binding", .consumerRemoved) { kind in
            kind.consumers.removeAll { $0 == "auth" }
            kind.formerConsumers.append("auth")
        },
        ContractCase("a member that may be absent", .fieldAdded, at: "/data/until") { kind in
            kind.data = Self.fields(of: kind.data) { fields in
                fields["until"] = FieldShape("until", .text(format: nil), isRequired: false)
            }
        },
        ContractCase("a new word", .wordsAdded, at: "/data/restriction") { kind in
            kind.data = Self.fields(of: kind.data) { fields in
                let words = ["none", "post_no_debit", "frozen", "closed", "quarantined"]
                fields["restriction"] = FieldShape("restriction", .words(words))
            }
        },
        ContractCase(
            everywhere: "an attribute that may be absent",
            .fieldAdded,
            at: "/tenant",
            inAll: { document in
                document.envelope = Self.fields(of: document.envelope) { fields in
                    fields["tenant"] = FieldShape("tenant", .text(format: nil), isRequired: false)
                }
            }
        ),
    ]

    private static func changes(_ sample: ContractCase) throws -> [ContractChange] {
        let before = try EventDocument.ofThisBuild()
        var after = before
        sample.change(&after)
        // As it is done for a release: by way of the written documents.
        return ContractComparison(
            before: try EventDocument(asyncAPI: before.asyncAPI),
            after: try EventDocument(asyncAPI: after.asyncAPI)
        ).changes
    }

    @Test("a break is named with its place and whom it stops", arguments: Self.breaking)
    func breaks(_ sample: ContractCase) throws {
        let changes = try Self.changes(sample)
        let found = changes.filter { $0.kind == sample.kind && $0.place == sample.place }
        #expect(found.map(\.consumers) == [sample.stopped])
        #expect(!sample.stopped.isEmpty)
        #expect(changes.filter(\.isBreaking) == found)
    }

    @Test("what breaks nobody is listed and passes", arguments: Self.harmless)
    func passes(_ sample: ContractCase) throws {
        let changes = try Self.changes(sample)
        #expect(changes.map(\.kind) == [sample.kind])
        #expect(changes.map(\.place) == [sample.place])
        #expect(!changes.contains { $0.isBreaking })
    }

    @Test("a member that becomes required breaks, for who listens now reads events from before")
    func nowRequired() throws {
        var before = try EventDocument.ofThisBuild()
        let after = before
        let index = try #require(before.kinds.firstIndex { $0.type == "user.restricted" })
        before.kinds[index].data = Self.fields(of: before.kinds[index].data) { fields in
            fields["reason"] = FieldShape("reason", .text(format: nil), isRequired: false)
        }
        let changes = ContractComparison(before: before, after: after).changes
        #expect(changes.map(\.kind) == [.fieldNowRequired])
        #expect(changes.map(\.consumers) == [Self.consumers])
    }

    @Test("every kind of difference there is has a sample")
    func complete() {
        let sampled = Set((Self.breaking + Self.harmless).map(\.kind)).union([.fieldNowRequired])
        #expect(sampled == Set(ContractChange.Kind.allCases))
    }

    @Test("nothing differs from itself")
    func same() throws {
        let document = try EventDocument.ofThisBuild()
        #expect(ContractComparison(before: document, after: document).changes == [])
    }

    @Test("an accepted change covers the very change, and only with a reason")
    func accepted() throws {
        let change = try #require(try Self.changes(Self.breaking[6]).first)
        func accepted(_ place: String, _ why: String) throws -> Bool {
            let text = #"[{"change":"field_removed","event":"user.restricted","place":"\#(place)","why":"\#(why)"}]"#
            return try AcceptedChange.list(json: Data(text.utf8)).contains { $0.covers(change) }
        }
        #expect(try accepted("/data/reason", "nobody reads it since June"))
        #expect(try !accepted("/data/reason", ""))
        #expect(try !accepted("/data", "nobody reads it since June"))
    }
}
