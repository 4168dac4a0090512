import Contracts
import EventLoops
import Foundation
import Messaging
import Postgres
import Primitives
import Sealing
import ServiceKit
import ServiceTestSupport
import TestSupport

@testable import AnalyticsService

/// Analytics on a database of its own, without HTTP and broker.
struct AnalyticsWorld: ServiceWorld {
    let service: ServiceDatabase
    /// The keys of those who have one.
    let keys = InMemoryDataKeys()

    let bayo = UserID(clerkSubject: "user_bayo")
    let chi = UserID(clerkSubject: "user_chi")

    var handlers: EventHandlers { AnalyticsHandlers.make(money: Self.money, people: CounterpartyStore()) }
    static var money: Projection { MoneyProjection.make(FactStore()) }
    /// Everything that was said, in order, as the archive has it.
    let archive = Locked<[Data]>([])

    // MARK: What people see

    /// What a user sees of some days.
    func totals(_ user: UserID, from: String, to: String) async throws -> Totals {
        try await TotalStore().sum(try self.period(from, to), of: user, on: self.requests)
    }

    /// What a user sees of November 2026.
    func november(_ user: UserID) async throws -> Totals {
        try await self.totals(user, from: "2026-11-01", to: "2026-11-30")
    }

    /// What a user sees per bucket.
    func series(_ user: UserID, by step: LagosPeriod.Step, from: String, to: String) async throws -> [AnalyticsSummary]
    {
        let period = try self.period(from, to)
        return try period.series(by: step, of: try await TotalStore().days(period, of: user, on: self.requests))
    }

    /// What a user sees per category in November 2026: money in and money out.
    func categories(_ user: UserID) async throws -> [String: [Int64]] {
        let totals = try await CategoryStore()
            .totals(try self.period("2026-11-01", "2026-11-30"), of: user, on: self.requests)
        return Dictionary(uniqueKeysWithValues: totals.map { ($0.category, [$0.moneyIn.kobo, $0.moneyOut.kobo]) })
    }

    /// Whom a user sees in November 2026.
    func counterparties(_ user: UserID, by flow: Flow, limit: Int = 10) async throws -> [CounterpartyTotal] {
        try await CounterpartyStore()
            .top(limit, by: flow, try self.period("2026-11-01", "2026-11-30"), of: user, on: self.requests)
    }

    /// What a user's transfer is for.
    func category(of transfer: UUID, for user: UserID) async throws -> CategoryOfTransfer? {
        try await self.asUser(user) { try await CategoryStore().category(of: transfer, for: user, in: $0) }
    }

    /// A user chooses what a transfer was for.
    func chooses(_ user: UserID, _ category: AnalyticsService.Category?, for transfer: UUID) async throws {
        try await self.asUser(user) { try await CategoryStore().choose(category, for: transfer, of: user, in: $0) }
    }

    private func period(_ from: String, _ to: String) throws -> LagosPeriod {
        try LagosPeriod(from: from, to: to, now: self.clock.now)
    }

    // MARK: What there is

    /// How many rows of totals the role of requests sees for a user.
    func rows(visibleTo user: UserID?) async throws -> Int64? {
        let sql: SQL = "SELECT count(*) FROM day_totals"
        return try await self.requests.client.query(sql, as: user?.uuid).first?.decode(Int64.self)
    }

    /// The live projection, row by row.
    func projection() async throws -> [String] {
        try await self.database.psql(
            """
            WITH l AS (SELECT live FROM projections WHERE name = 'money')
            SELECT 'facts', to_jsonb(t) - 'generation' FROM facts t WHERE generation = (SELECT live FROM l)
            UNION ALL
            SELECT 'movements', to_jsonb(t) - 'generation' FROM movements t WHERE generation = (SELECT live FROM l)
            UNION ALL
            SELECT 'day_totals', to_jsonb(t) - 'generation' FROM day_totals t WHERE generation = (SELECT live FROM l)
            UNION ALL
            SELECT 'day_categories', to_jsonb(t) - 'generation' FROM day_categories t
            WHERE generation = (SELECT live FROM l)
            ORDER BY 1, 2
            """
        )
    }

    // MARK: Making it again

    /// The operator of these tests.
    private var order: OperatorOrder { OperatorOrder(name: "grace", reason: "a test") }

    /// Begins to make the projection again.
    func begin(_ replay: UUID, archiveFrom beginning: Date? = nil) async throws -> ProjectionRebuild {
        try await self.service.ownOperations.projections.begin(
            "money",
            of: replay,
            archiveFrom: beginning,
            by: self.order
        )
    }

    /// Sends some of the archive, in pages.
    func send(_ replay: UUID, _ envelopes: some Collection<Data>) async throws {
        var rest = Array(envelopes)
        while !rest.isEmpty {
            _ = try await self.service.ownOperations.projections.take(Array(rest.prefix(7)), for: "money", of: replay)
            rest.removeFirst(min(7, rest.count))
        }
    }

    /// Ends a rebuild.
    func finish(_ replay: UUID) async throws -> RebuildEnd {
        try await self.service.ownOperations.projections.finish("money", of: replay, by: self.order)
    }

    /// Gives a rebuild up.
    func cancel(_ replay: UUID) async throws -> ProjectionRebuild {
        try await self.service.ownOperations.projections.cancel("money", of: replay, by: self.order)
    }

    /// Makes the projection again from all that was said, to the end.
    func rebuilds() async throws -> ProjectionRebuild {
        let replay = self.ids.next()
        _ = try await self.begin(replay)
        try await self.send(replay, self.archive.withLock { $0 })
        guard case .live(let rebuild) = try await self.finish(replay) else { throw TestFailure("it is not whole") }
        return rebuild
    }

    /// Hears an event as the consumer does, inbox row and all; the archive has it too.
    func hears<Payload: EventData>(
        _ data: Payload,
        about subject: UUID,
        id: UUID? = nil,
        isArchived: Bool = true
    ) async throws {
        let body = try self.said(data, about: subject, id: id)
        if isArchived { self.archive.withLock { $0.append(body) } }
        try await self.handles([body])
    }

    /// An event as it is published, by its publisher unless told otherwise.
    func said<Payload: EventData>(
        _ data: Payload,
        about subject: UUID,
        id: UUID? = nil,
        by source: String? = nil
    ) throws -> Data {
        let attributes = EventAttributes(
            id: id ?? self.ids.next(),
            source: source ?? EventCatalogue.definition(of: Payload.type)?.source.rawValue ?? "test",
            type: Payload.type,
            majorVersion: Payload.majorVersion,
            subject: subject.lowercased,
            time: Timestamp.text(self.clock.now),
            sequence: 1
        )
        return try EventEnvelope.body(
            attributes,
            dataJSON: String(decoding: try JSONEncoder().encode(data), as: UTF8.self)
        )
    }

    /// Handles a batch as the consumer does.
    func handles(_ bodies: [Data]) async throws {
        try await self.service.consume(bodies)
    }
}

extension AnalyticsWorld {
    /// Ada's transfer to Bayo.
    func completed(
        _ id: UUID,
        amount: Int64 = 500_000,
        type: TransactionType = .p2p,
        route: TransferRoute = .external,
        reason: String? = nil,
        to kind: AccountType = .personal,
        words: String? = nil,
        at timestamp: String = "2026-11-21T09:00:00.000Z"
    ) -> TransactionCompleted {
        TransactionCompleted(
            transactionID: id,
            senderID: self.ada.uuid,
            recipientID: self.bayo.uuid,
            amount: amount,
            type: Open(type),
            route: Open(route),
            fee: 2_500,
            duty: 5_000,
            routeReason: reason,
            recipientType: Open(kind),
            description: words.map { Sealed($0) },
            timestamp: timestamp
        )
    }

    /// The return of Ada's transfer to Bayo.
    func reversed(_ id: UUID, at timestamp: String = "2026-11-23T09:00:00.000Z") -> TransactionReversed {
        TransactionReversed(
            transactionID: id,
            senderID: self.ada.uuid,
            recipientID: self.bayo.uuid,
            amount: 500_000,
            type: Open(.p2p),
            route: Open(.external),
            fee: 2_500,
            duty: 5_000,
            timestamp: timestamp
        )
    }

    /// Money for Bayo from outside.
    func inbound(_ id: UUID, amount: Int64, reason: String = "credited") -> TransactionCompleted {
        TransactionCompleted(
            transactionID: id,
            recipientID: self.bayo.uuid,
            amount: amount,
            type: Open(.inbound),
            route: Open(.internal),
            fee: 0,
            duty: 0,
            routeReason: reason,
            timestamp: "2026-11-21T09:00:00.000Z"
        )
    }

    /// A claim of Bayo's from a drop of Ada's.
    func claimed(_ id: UUID, amount: Int64 = 20_000) -> MoneyDropClaimed {
        MoneyDropClaimed(
            moneyDropID: self.ids.next(),
            creatorID: self.ada.uuid,
            amountPerClaim: amount,
            slots: 5,
            claimantID: self.bayo.uuid,
            transactionID: id,
            claimed: 1,
            timestamp: "2026-11-21T09:00:00.000Z"
        )
    }

    /// What Ada wrote, sealed with a key that she has from now on.
    func sealed(_ words: String) throws -> String {
        let key = DataKey()
        self.keys.set(key, for: self.ada)
        let context = SealContext(user: self.ada.uuid, field: "description", schema: 1)
        return try SealedField.seal(words, key: key, context: context).text
    }

    /// Reads the words of a transfer.
    func readsWords(of transfer: UUID) async throws -> JobOutcome {
        let words = ReadWords(database: self.work, facts: FactStore(), money: Self.money, keys: self.keys)
        return try await self.run(AnalyticsJob.readWords, transfer.lowercased) { try await words($0) }
    }
}

/// Runs `body` with analytics on a fresh database.
func withAnalytics(_ body: (AnalyticsWorld) async throws -> Void) async throws {
    try await withServiceDatabase(
        .analytics,
        schema: try AnalyticsSchema.sets(),
        handlers: AnalyticsHandlers.make(money: AnalyticsWorld.money, people: CounterpartyStore()),
        projections: [AnalyticsWorld.money]
    ) { service in
        try await body(AnalyticsWorld(service: service))
    }
}
