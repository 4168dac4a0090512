import Contracts
public import Foundation
import Postgres
import Primitives

/// The projections of a service, and their rebuilds.
///
/// Console reads the archive and sends what it finds, page by page; a page that is sent twice takes effect once. Each
/// page is a transaction that has the projection for itself: handlers wait for no more than that.
public struct Projections: Sendable {
    private let declared: [String: Projection]
    let database: EventDatabase

    /// The most events of a page.
    public static let maximumPage = 500

    init(_ declared: [Projection], database: EventDatabase) {
        self.declared = Dictionary(declared.map { ($0.name, $0) }) { _, _ in
            preconditionFailure("two projections have the same name")
        }
        self.database = database
    }

    /// Whether the service has none.
    public var isEmpty: Bool { self.declared.isEmpty }

    /// Whether the service has one of this name.
    public func contains(_ name: String) -> Bool { self.declared[name] != nil }

    func projection(_ name: String) throws(RebuildProblem) -> Projection {
        guard let projection = self.declared[name] else { throw .unknownProjection }
        return projection
    }

    // MARK: Looking

    /// How they stand, by name.
    public func status() async throws -> [ProjectionStatus] {
        var all: [ProjectionStatus] = []
        for projection in self.declared.values.sorted(by: { $0.name < $1.name }) {
            let rows = try await self.database.client.query(
                "SELECT live::bigint, since FROM projections WHERE name = \(projection.name)"
            )
            guard let (live, since) = try rows.first?.decode(Int64.self, Date.self) else { continue }
            let rebuild = try await self.database.client.query(
                """
                SELECT \(ProjectionRebuild.columns) FROM projection_rebuilds WHERE name = \(projection.name)
                ORDER BY generation DESC LIMIT 1
                """
            ).first.map(ProjectionRebuild.init)
            all.append(
                ProjectionStatus(projection: projection, generation: Int(live), since: since, rebuild: rebuild)
            )
        }
        return all
    }

    // MARK: Beginning and ending

    /// Begins a rebuild; while that of the same replay is under way, and when it has ended well, that one.
    ///
    /// - Parameters:
    ///   - name: Of which projection.
    ///   - replay: Whose events it is made of.
    ///   - beginning: The moment from which on the archive is whole; nil when it always was.
    ///   - order: Who orders it and why.
    /// - Returns: The rebuild.
    /// - Throws: `RebuildProblem`, `PostgresError`.
    public func begin(
        _ name: String,
        of replay: UUID,
        archiveFrom beginning: Date?,
        by order: OperatorOrder
    ) async throws -> ProjectionRebuild {
        _ = try self.projection(name)
        return try await self.database.transaction(cause: Cause(correlationID: order.request)) { transaction in
            let place = try await Self.lock(name, transaction)
            if let building = place.building {
                guard let known = try await Self.rebuild(name, building, transaction), known.replay == replay else {
                    throw RebuildProblem.underWay
                }
                return known
            }
            // Whoever asks has not heard that it is done.
            if let done = try await Self.done(name, replay, transaction) { return done }
            if let beginning, beginning > place.since {
                throw RebuildProblem.archiveBeginsLater(archive: beginning, projection: place.since)
            }
            let rows = try await transaction.query(
                """
                INSERT INTO projection_rebuilds
                    (name, generation, replaces, replay_id, state, ordered_by, order_reason, started_at)
                SELECT \(name), greatest(\(place.live), coalesce(max(generation), 0)) + 1, \(place.live), \(replay),
                    'building', \(order.name), \(order.reason), \(transaction.now)
                FROM projection_rebuilds WHERE name = \(name)
                RETURNING \(ProjectionRebuild.columns)
                """
            )
            guard let rebuild = try rows.first.map(ProjectionRebuild.init) else { throw RebuildProblem.notUnderWay }
            try await transaction.stage(
                "UPDATE projections SET building = \(Int16(rebuild.generation)) WHERE name = \(name)"
            )
            try await transaction.record("projection.rebuild_begun", on: name, after: Audited(rebuild), by: order)
            return rebuild
        }
    }

    /// Shows the new generation to people, if it has everything that the service has handled.
    ///
    /// - Throws: `RebuildProblem`, `PostgresError`.
    public func finish(_ name: String, of replay: UUID, by order: OperatorOrder) async throws -> RebuildEnd {
        let projection = try self.projection(name)
        guard let rebuild = try await self.newest(name), rebuild.replay == replay else {
            throw RebuildProblem.notUnderWay
        }
        guard rebuild.state == .building else {
            guard rebuild.state == .live else { throw RebuildProblem.notUnderWay }
            return .live(rebuild)
        }
        // What is handled from now on is in both generations, so what is not missing now will never be.
        let missing = try await self.missing(projection, rebuild)
        guard missing == 0 else { return .missing(missing) }
        let changed = await self.rowsChanged(projection, rebuild)
        return .live(try await self.swap(projection, rebuild, changed: changed, by: order))
    }

    private func swap(
        _ projection: Projection,
        _ rebuild: ProjectionRebuild,
        changed: Int?,
        by order: OperatorOrder
    ) async throws -> ProjectionRebuild {
        let name = projection.name
        let generation = Int16(rebuild.generation)
        return try await self.database.transaction(cause: Cause(correlationID: order.request)) { transaction in
            guard try await Self.lock(name, transaction).building == generation else {
                // Whoever asked at the same time was first.
                if let done = try await Self.done(name, rebuild.replay, transaction) { return done }
                throw RebuildProblem.notUnderWay
            }
            let rows = try await transaction.query(
                """
                UPDATE projection_rebuilds SET state = 'live', finished_at = \(transaction.now),
                    rows_changed = \(changed.map(Int64.init))
                WHERE name = \(name) AND generation = \(generation) RETURNING \(ProjectionRebuild.columns)
                """
            )
            guard let done = try rows.first.map(ProjectionRebuild.init) else { throw RebuildProblem.notUnderWay }
            try await transaction.stage(
                """
                UPDATE projections p SET live = \(generation), building = NULL, since = least(p.since, r.first_event_at)
                FROM projection_rebuilds r
                WHERE p.name = \(name) AND r.name = p.name AND r.generation = \(generation)
                """
            )
            try await transaction.enqueue(CleanProjections.kind, key: "\(name)/\(rebuild.replaces)", subject: name)
            try await transaction.record("projection.rebuilt", on: name, after: Audited(done), by: order)
            return done
        }
    }

    /// Gives a rebuild up; people see what they saw.
    ///
    /// - Throws: `RebuildProblem`, `PostgresError`.
    public func cancel(_ name: String, of replay: UUID, by order: OperatorOrder) async throws -> ProjectionRebuild {
        _ = try self.projection(name)
        return try await self.database.transaction(cause: Cause(correlationID: order.request)) { transaction in
            guard let building = try await Self.lock(name, transaction).building,
                try await Self.rebuild(name, building, transaction)?.replay == replay
            else { throw RebuildProblem.notUnderWay }
            let rows = try await transaction.query(
                """
                UPDATE projection_rebuilds SET state = 'cancelled', finished_at = \(transaction.now)
                WHERE name = \(name) AND generation = \(building) RETURNING \(ProjectionRebuild.columns)
                """
            )
            guard let gone = try rows.first.map(ProjectionRebuild.init) else { throw RebuildProblem.notUnderWay }
            try await transaction.stage("UPDATE projections SET building = NULL WHERE name = \(name)")
            try await transaction.enqueue(CleanProjections.kind, key: "\(name)/\(building)", subject: name)
            try await transaction.record("projection.rebuild_cancelled", on: name, after: Audited(gone), by: order)
            return gone
        }
    }

    // MARK: What the audit says of them

    private struct Audited: Encodable, Sendable {
        let generation: Int
        let replaces: Int
        let replay: String
        let applied: Int
        let rowsChanged: Int?

        init(_ rebuild: ProjectionRebuild) {
            self.generation = rebuild.generation
            self.replaces = rebuild.replaces
            self.replay = rebuild.replay.lowercased
            self.applied = rebuild.applied
            self.rowsChanged = rebuild.rowsChanged
        }

        private enum CodingKeys: String, CodingKey {
            case generation, replaces, replay, applied
            case rowsChanged = "rows_changed"
        }
    }

    // MARK: Rows

    /// Where a projection stands; the row is this transaction's alone until it ends.
    static func lock(
        _ name: String,
        _ transaction: EventTransaction
    ) async throws -> (live: Int16, building: Int16?, since: Date) {
        let rows = try await transaction.query(
            "SELECT live, building, since FROM projections WHERE name = \(name) FOR UPDATE"
        )
        guard let row = rows.first else { throw RebuildProblem.unknownProjection }
        let (live, building, since) = try row.decode(Int16.self, Int16?.self, Date.self)
        return (live, building, since)
    }

    static func rebuild(
        _ name: String,
        _ generation: Int16,
        _ transaction: EventTransaction
    ) async throws -> ProjectionRebuild? {
        try await transaction.query(
            """
            SELECT \(ProjectionRebuild.columns) FROM projection_rebuilds
            WHERE name = \(name) AND generation = \(generation)
            """
        ).first.map(ProjectionRebuild.init)
    }

    private static func done(
        _ name: String,
        _ replay: UUID,
        _ transaction: EventTransaction
    ) async throws -> ProjectionRebuild? {
        try await transaction.query(
            """
            SELECT \(ProjectionRebuild.columns) FROM projection_rebuilds
            WHERE name = \(name) AND replay_id = \(replay) AND state = 'live'
            """
        ).first.map(ProjectionRebuild.init)
    }

    private func newest(_ name: String) async throws -> ProjectionRebuild? {
        try await self.database.client.query(
            """
            SELECT \(ProjectionRebuild.columns) FROM projection_rebuilds WHERE name = \(name)
            ORDER BY generation DESC LIMIT 1
            """
        ).first.map(ProjectionRebuild.init)
    }
}
