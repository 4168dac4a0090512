import Contracts
import EventLoops
import Foundation
import Postgres
import Primitives
import TestSupport
import Testing

@testable import Messaging

@Suite("Dry runs")
struct DryRunTests {
    /// Three people of amounts 50, 80 and 120, handled by the rule that is in force.
    private struct Past {
        let kit: Kit
        let users: [UUID]
        let bodies: [Data]

        static func with(_ body: (Past) async throws -> Void) async throws {
            try await Kit.with { kit in
                try await Ranks.prepare(kit)
                let (users, request) = ([UUID(), UUID(), UUID()], ids.next())
                let bodies = try zip(users, [50, 80, 120]).map { user, amount in
                    try envelope(user, Int64(amount), correlation: request)
                }
                let events = bodies.compactMap { IncomingEvent(body: $0) }
                try await kit.processor(Ranks().handlers()).process(events)
                try await body(Past(kit: kit, users: users, bodies: bodies))
            }
        }

        func id(_ index: Int) throws -> UUID { try EventEnvelope.attributes(in: self.bodies[index]).id }
    }

    @Test("the rule that is in force would change nothing, and nothing is written")
    func sameRule() async throws {
        try await Past.with { past in
            let before = try await past.kit.database.checksums()
            let answer = try await past.kit.replay(past.bodies, Ranks().handlers(), .dryRun)
            #expect(answer.results.map(\.outcome) == [.applied, .applied, .applied])
            #expect(answer.differing == 0)
            #expect(answer.changes.isEmpty)
            #expect(try await past.kit.database.checksums() == before)
        }
    }

    @Test(
        "a changed rule shows as exactly the rows, events and jobs that it would write otherwise, and nothing is written"
    )
    func changedRule() async throws {
        try await Past.with { past in
            let before = try await past.kit.database.checksums()
            // 80 becomes gold too; what is said about 50 and 120 stays.
            let answer = try await past.kit.replay(past.bodies, Ranks(gold: 80).handlers(), .dryRun)
            #expect(try await past.kit.database.checksums() == before)
            let (user, cause) = (past.users[1].lowercased, try past.id(1))
            #expect(answer.changes.map(\.kind) == [.row, .event, .job])
            #expect(answer.changes.map(\.change) == [.updated, .added, .added])
            #expect(answer.changes.map(\.name) == ["ranks", "wallet.credited", "greet"])
            #expect(answer.changes.map(\.key) == [user, "gold-\(user)", user])
            #expect(answer.changes.map(\.causedBy) == [[cause], [cause], [cause]])
            #expect(answer.differing == 3)
            let row = try #require(answer.changes.first)
            #expect(row.before?["rank"] == .string("plain"))
            #expect(row.after?["rank"] == .string("gold"))
            // The moment at which it would be written is no difference.
            #expect(row.after?.keys.sorted() == ["digest", "name", "rank"])
        }
    }

    @Test("what the rule would no longer say is missing, and what it would say otherwise is changed")
    func lessAndOtherwise() async throws {
        try await Past.with { past in
            let none = try await past.kit.replay(past.bodies, Ranks(gold: 1000).handlers(), .dryRun)
            #expect(none.changes.map(\.change) == [.updated, .missing, .missing])
            #expect(none.changes.map(\.name) == ["ranks", "wallet.credited", "greet"])
            // Handled first with other words: the job's key is the same, its contents are not.
            let id = try past.id(2)
            try await past.kit.execute("UPDATE jobs SET payload = '{\"words\":\"hello\"}' WHERE causation_id = \(id)")
            let other = try await past.kit.replay(past.bodies, Ranks().handlers(), .dryRun)
            #expect(other.changes.map(\.change) == [.changed])
            #expect(other.changes.first?.before == ["words": .string("hello")])
            #expect(other.changes.first?.after == ["words": .string("to 120")])
        }
    }

    @Test("what is sealed, and bytes, are shown as hashes")
    func sealed() async throws {
        try await Past.with { past in
            let answer = try await past.kit.replay(past.bodies, Ranks(plain: "bronze").handlers(), .dryRun)
            let text = String(decoding: try JSONEncoder().encode(answer), as: UTF8.self)
            #expect(answer.changes.count == 2)
            #expect(!text.contains("c2VhbGVk") && !text.contains(Hex.encode(Array("bronze".utf8))))
            let row = try #require(answer.changes.first)
            #expect(row.after?["name"]?.text?.hasPrefix("sealed:") == true)
            #expect(row.after?["digest"]?.text?.hasPrefix("bytes:") == true)
            #expect(row.after?["name"] != row.before?["name"])
        }
    }

    @Test("an event whose row later events have written is marked, and not counted")
    func overtaken() async throws {
        try await Past.with { past in
            let user = past.users[0]
            let later = try envelope(user, 500, sequence: 2, correlation: ids.next())
            let events = [later].compactMap { IncomingEvent(body: $0) }
            try await past.kit.processor(Ranks().handlers()).process(events)
            let one = try await past.kit.replay([past.bodies[0]], Ranks().handlers(), .dryRun)
            #expect(one.changes.map(\.isOvertaken) == [true])
            #expect(one.differing == 0)
            // Together they end as it is.
            let both = try await past.kit.replay([past.bodies[0], later], Ranks().handlers(), .dryRun)
            #expect(both.changes.isEmpty)
        }
    }

    @Test("events that were never handled are tried too; one whose handler fails says so, and the others are tried")
    func neverHandled() async throws {
        try await Kit.with { kit in
            let (ada, bayo) = (UUID(), UUID())
            let bodies = [try envelope(ada, 1), try envelope(bayo, 2), try envelope(ada, 3)]
            let before = try await kit.database.checksums()
            let answer = try await kit.replay(bodies, Till(refusing: [2]).handlers(), .dryRun)
            #expect(answer.results.map(\.outcome) == [.applied, .failed, .applied])
            #expect(answer.results[1].reason == "HandlerFailure")
            // One by one, and each from what is there: twice a row of sums and one of effects.
            #expect(answer.changes.map(\.name).sorted() == ["effects", "effects", "sums", "sums"])
            #expect(answer.changes.allSatisfy { $0.change == .inserted })
            #expect(try await kit.database.checksums() == before)
        }
    }

    @Test("a dry run gives up on rows that somebody else has locked, and says so")
    func locked() async throws {
        try await Past.with { past in
            let user = past.users[2]
            try await past.kit.client.withTransaction { sql in
                _ = try await sql.execute("UPDATE ranks SET rank = rank WHERE user_id = \(user)")
                await #expect(throws: ReplayProblem.busy) {
                    try await past.kit.replay([past.bodies[2]], Ranks(gold: 1).handlers(), .dryRun)
                }
            }
            let answer = try await past.kit.replay([past.bodies[2]], Ranks(plain: "p").handlers(), .dryRun)
            #expect(answer.results.map(\.outcome) == [.applied])
        }
    }

    @Test("a table has its recorder from the first dry run on, and a row costs hardly more with it")
    func cost() async throws {
        try await Past.with { past in
            let plain = try await Self.fastest { try await Self.fill(past.kit) }
            _ = try await past.kit.replay(past.bodies, Ranks().handlers(), .dryRun)
            #expect(try await past.kit.texts("SELECT t FROM unrecorded_tables() t").isEmpty)
            let own: SQL = """
                SELECT count(*) FROM pg_trigger WHERE tgname = 'record_row_change'
                    AND tgrelid::regclass::text IN ('requests', 'projection_events', 'parked_tries', 'inbox')
                """
            #expect(try await past.kit.number(own) == 0)
            let recorded = try await Self.fastest { try await Self.fill(past.kit) }
            let ratio = recorded / plain
            FileHandle.standardError.write(Data("20,000 rows: \(plain), with recorders \(recorded), \(ratio)\n".utf8))
            // Less than a microsecond per row, which is less than what two runs on a busy machine differ by.
            #expect(ratio < 5)
        }
    }

    private static func fill(_ kit: Kit) async throws {
        try await kit.execute(
            "INSERT INTO effects (user_id, amount) SELECT gen_random_uuid(), g FROM generate_series(1, 20000) g"
        )
    }

    private static func fastest(_ body: () async throws -> Void) async throws -> Duration {
        var best = Duration.seconds(3600)
        for _ in 0..<5 { best = min(best, try await ContinuousClock().measure { try await body() }) }
        return best
    }
}
