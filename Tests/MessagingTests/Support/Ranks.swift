import Contracts
import EventLoops
import Foundation
import Postgres
import Primitives
import TestSupport

@testable import Messaging

/// What a service makes of credits by a rule: a rank per person, and for those of rank gold an event and a job.
struct Ranks: Sendable {
    /// From this amount on it is gold.
    var gold: Int64 = 100
    /// What the rule says about small amounts.
    var plain = "plain"

    /// The replays that handlers were told of.
    let replays = Locked<[UUID?]>([])

    static let job: JobKind = "greet"

    private struct Greeting: Encodable {
        let words: String
    }

    /// The handlers; guarded by the sequence, as those of services are.
    func handlers() -> EventHandlers {
        var handlers = EventHandlers()
        handlers.on(WalletCredited.self) { event, transaction in
            self.replays.withLock { $0.append(event.attributes.replayid) }
            try await self.rank(event, transaction)
        }
        return handlers
    }

    private func rank(_ event: Event<WalletCredited>, _ transaction: EventTransaction) async throws {
        let (user, amount) = (event.data.userID, event.data.amount)
        let rank = amount >= self.gold ? "gold" : self.plain
        let ranked = try await transaction.query(
            """
            INSERT INTO ranks AS r (user_id, rank, name, digest, ranked_at, account_sequence)
            VALUES (\(user), \(rank), \("s1.c2VhbGVk\(rank)"), \(Array(rank.utf8)), \(transaction.now),
                \(event.attributes.sequence))
            ON CONFLICT (user_id) DO UPDATE SET rank = excluded.rank, name = excluded.name, digest = excluded.digest,
                ranked_at = excluded.ranked_at, account_sequence = excluded.account_sequence
            WHERE r.account_sequence < excluded.account_sequence
            RETURNING 1
            """
        )
        guard !ranked.isEmpty, rank == "gold" else { return }
        try await transaction.publish(credited(user, amount), about: "gold-\(user.lowercased)")
        try await transaction.enqueue(Self.job, key: user.lowercased, payload: Greeting(words: "to \(amount)"))
    }

    /// Makes its table.
    static func prepare(_ kit: Kit) async throws {
        try await kit.database.psql(
            """
            CREATE TABLE ranks (user_id uuid PRIMARY KEY, rank text NOT NULL, name text NOT NULL, digest bytea NOT NULL,
                ranked_at timestamptz NOT NULL, account_sequence bigint NOT NULL);
            GRANT SELECT, INSERT, UPDATE ON ranks TO \(kit.database.roleName(.worker));
            """,
            as: .owner
        )
    }
}

extension Kit {
    /// Handles events again as an operator asks for it.
    func replay(
        _ bodies: [Data],
        _ handlers: EventHandlers,
        _ mode: ReplayOrder.Mode,
        effects: ReplayOrder.Effects = .off,
        id: UUID = ids.next()
    ) async throws -> ReplayAnswer {
        let order = ReplayOrder(id: id, mode: mode, effects: effects, order: grace)
        return try await self.operations(handlers).replay(bodies, as: order)
    }
}

/// The bytes of a credit with a request that started it.
func envelope(_ user: UUID, _ amount: Int64, sequence: Int64 = 1, correlation: UUID) throws -> Data {
    let attributes = EventAttributes(
        id: ids.next(),
        source: "account",
        type: WalletCredited.type,
        majorVersion: 1,
        subject: user.lowercased,
        time: "2026-11-21T00:00:00.000Z",
        sequence: sequence,
        correlationid: correlation
    )
    let json = String(decoding: try JSONEncoder().encode(credited(user, amount)), as: UTF8.self)
    return try EventEnvelope.body(attributes, dataJSON: json)
}
