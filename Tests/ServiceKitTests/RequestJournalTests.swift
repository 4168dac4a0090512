import Foundation
import HTTPTypes
import Logging
import Messaging
import Postgres
import Primitives
import ServiceLifecycle
import ServiceTestSupport
import TestSupport
import Testing

@testable import ServiceKit

private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

@Suite("the journal of requests")
struct RequestJournalTests {
    private static func entry(_ id: UUID, status: Int = 202) -> RequestJournal.Entry {
        RequestJournal.Entry(
            id: id,
            method: .post,
            route: "/transactions/p2p",
            status: status,
            startedAt: Date(),
            duration: .milliseconds(9),
            trace: .root()
        )
    }

    /// A journal that runs on a database of its own until the end of `body`, which is a graceful shutdown.
    private static func withJournal(
        _ body: @escaping @Sendable (RequestJournal) async throws -> Void,
        then check: (TestDatabase) async throws -> Void
    ) async throws {
        try await withTestDatabase(from: .migrated("test", MessagingSchema.sets())) { database in
            let configuration = try PostgresConfiguration(url: database.workerURL)
            let postgres = PostgresClient(configuration: configuration, logger: quiet)
            let journal = RequestJournal(postgres: postgres, logger: quiet, metrics: PrometheusRegistry())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await postgres.run() }
                let services = ServiceGroup(
                    configuration: .init(services: [.init(service: journal)], logger: quiet)
                )
                try await withThrowingTaskGroup(of: Void.self) { inner in
                    inner.addTask { try await services.run() }
                    try await body(journal)
                    await services.triggerGracefulShutdown()
                    try await inner.waitForAll()
                }
                try await check(database)
                group.cancelAll()
            }
        }
    }

    @Test("requests are written down in groups, the last ones when the service stops, and a name may come twice")
    func written() async throws {
        let ids = (0..<2500).map { _ in UUID() }
        try await Self.withJournal { journal in
            for id in ids { journal.note(Self.entry(id)) }
            journal.note(Self.entry(ids[0], status: 403))
        } then: { database in
            let sql = "SELECT count(*), count(DISTINCT id), min(method), min(route), min(microseconds) FROM requests"
            let all = try await database.psql(sql)
            #expect(all == ["2501|2500|POST|/transactions/p2p|9000"])
            let first = try await database.psql("SELECT status FROM requests WHERE id = '\(ids[0])' ORDER BY status")
            #expect(first == ["202", "403"])
            let traced = try await database.psql("SELECT count(*) FROM requests WHERE traceparent LIKE '00-%-01'")
            #expect(traced == ["2501"])
        }
    }

    @Test("what may change something is kept, and no more than there is room for")
    func bounds() throws {
        for method in [HTTPRequest.Method.post, .put, .delete] {
            #expect(RequestJournal.isKept(method, answered: .accepted))
            #expect(RequestJournal.isKept(method, answered: .forbidden))
            #expect(!RequestJournal.isKept(method, answered: .unauthorized))
            #expect(!RequestJournal.isKept(method, answered: .tooManyRequests))
        }
        #expect(!RequestJournal.isKept(.get, answered: .ok))
        let registry = PrometheusRegistry()
        let url = "postgres://nobody:nothing@127.0.0.1:1/none"
        let postgres = PostgresClient(configuration: try PostgresConfiguration(url: url), logger: quiet)
        let journal = RequestJournal(postgres: postgres, logger: quiet, metrics: registry)
        for _ in 0..<10_003 { journal.note(Self.entry(UUID())) }
        #expect(registry.text().contains("transfa_requests_not_recorded_total 3"))
    }
}
