import Contracts
import Foundation
import Primitives
import Testing

@testable import ConsoleService

@Suite("What caused what")
struct CausalTreeTests {
    private static func event(_ id: UUID, by cause: UUID? = nil, in correlation: UUID? = nil) -> TracedEvent {
        TracedEvent(
            id: id,
            position: 1,
            time: Date(),
            source: "transaction",
            type: "transaction.created",
            subject: "s",
            sequence: 1,
            correlationID: correlation,
            causationID: cause,
            references: []
        )
    }

    private static func tree(_ events: [TracedEvent]) -> CausalTree { CausalTree(events.map { TraceStep($0) }) }

    /// Ids in parentheses under their causes.
    private static func text(_ nodes: [CausalTree.Node], _ names: [UUID: String]) -> String {
        nodes.map { node in
            let inner = self.text(node.children, names)
            let id = UUID(text: node.step.id)
            return (id.flatMap { names[$0] } ?? "?") + (inner.isEmpty ? "" : "(\(inner))")
        }.joined(separator: " ")
    }

    @Test("events stand under what caused them, branches under what started them, in any order of arrival")
    func forest() {
        let made = (0..<6).map { _ in ids.next() }
        let (request, webhook) = (UUID(), UUID())
        let names = Dictionary(uniqueKeysWithValues: zip(made, ["a", "b", "c", "d", "e", "f"]))
        let events = [
            Self.event(made[0], by: request, in: request), Self.event(made[1], by: made[0], in: request),
            Self.event(made[2], by: made[0], in: request), Self.event(made[3], by: webhook, in: webhook),
            Self.event(made[4], by: made[3], in: webhook), Self.event(made[5]),
        ]
        for _ in 0..<5 {
            let tree = Self.tree((events + events).shuffled())
            #expect(tree.branches.map(\.correlationID) == [request, webhook, nil])
            #expect(tree.branches.map { Self.text($0.roots, names) } == ["a(b c)", "d(e)", "f"])
        }
    }

    @Test("an event whose cause is not there, a circle, and a chain without end lose no event")
    func strange() {
        let made = (0..<300).map { _ in ids.next() }
        let circle = [Self.event(made[0], by: made[1]), Self.event(made[1], by: made[0])]
        #expect(Self.tree(circle).branches.map(\.count) == [2])
        #expect(Self.tree([Self.event(made[0], by: made[0])]).branches.map(\.count) == [1])
        #expect(Self.tree([Self.event(made[0], by: UUID())]).branches.map(\.count) == [1])
        let chain = made.enumerated().map { Self.event($1, by: $0 == 0 ? nil : made[$0 - 1]) }
        #expect(Self.tree(chain).branches.reduce(0) { $0 + $1.count } == 300)
        #expect(Self.tree([]).branches.isEmpty)
    }

    @Test("a transfer and its reference at the provider are one thing to a trace; names of people are none")
    func names() throws {
        let transfer = UUID()
        #expect(TraceKey(transfer.uuidString)?.names == [transfer.lowercased, "trf-\(transfer.lowercased)"])
        #expect(TraceKey("trf-abc")?.names == ["trf-abc", "abc"])
        #expect(TraceKey("anc_tx.1")?.names == ["anc_tx.1"])
        for bad in ["", "a b", "a%", "a\u{0}", "é", String(repeating: "a", count: 129)] {
            #expect(TraceKey(bad) == nil)
        }
        var aboutUser = Self.event(ids.next())
        aboutUser = TracedEvent(
            id: aboutUser.id,
            position: 1,
            time: aboutUser.time,
            source: "auth",
            type: "user.created",
            subject: "somebody",
            sequence: 1,
            correlationID: nil,
            causationID: nil,
            references: ["pay-1"]
        )
        #expect(TraceKey.names(in: [aboutUser]) == ["pay-1"])
        #expect(TraceKey.names(in: [Self.event(ids.next())]) == ["s"])
    }
}
