import Contracts
import Foundation
import OutgoingHTTP
import TestSupport
import Testing

extension Probes {
    /// Every GET, asked by two people who share a phone, against the table of what a cache may keep.
    @Suite struct CachingTests {
        private static let askers: [Asker] = [.owner, .stranger]

        private static func operations() throws -> [Endpoint] {
            try Endpoint.ofClients().filter { $0.method == "GET" }
        }

        @Test(
            "two people on one phone are each shown their own, whatever its cache keeps, and HEAD tells what GET would"
        )
        func onePhone() async throws {
            let operations = try Self.operations()
            let table = try CachingTable.read()
            try #require(table.differences(from: operations.map(\.name)) == [])
            let world = try await MatrixWorld.make(try RunningSuite.current)
            var ways: [PrivateCache.Shown.Way: Int] = [:]
            for operation in operations {
                let row = try #require(table.rows[operation.name])
                try await Self.checkHead(operation, row, world)
                for first in Self.askers where !operation.isStream {
                    for shown in try await world.share(operation, first: first, forms: Self.forms(operation)) {
                        ways[shown.way, default: 0] += 1
                        #expect(row.differences(from: shown.reply) == [], "\(operation.name)")
                    }
                }
            }
            // All three were met: a cache that keeps nothing shows nothing of others.
            #expect(ways[.unasked, default: 0] >= 6 && ways[.validated, default: 0] >= 20)
            var differing: Set<String> = []
            for operation in operations where table.rows[operation.name]?.hasTag == true {
                if try await Self.hasOwnTag(operation, world) { differing.insert(operation.name) }
            }
            #expect(differing.isSuperset(of: ["GET /notifications", "GET /users/me/qr", "GET /wallet"]))
        }

        /// The forms that a drawn picture is asked for in; all else is asked for as it comes.
        private static func forms(_ operation: Endpoint) -> [String?] {
            operation.name.hasSuffix("/qr") ? ["image/png", "image/svg+xml"] : [nil]
        }

        private static func checkHead(_ operation: Endpoint, _ row: CachingRow, _ world: MatrixWorld) async throws {
            let head = try await world.get(operation, as: .owner, method: .head)
            #expect(head.status == 200 && head.body.isEmpty, "\(operation.name)")
            #expect(row.differences(from: head) == [], "HEAD of \(operation.name)")
            if !operation.isStream {
                let whole = try await world.get(operation, as: .owner)
                #expect(head.contentType == whole.contentType && !whole.body.isEmpty, "\(operation.name)")
            }
            let refused = try await world.get(operation, as: .nobody, method: .head)
            #expect(refused.status == (operation.access == .open ? 200 : 401), "\(operation.name)")
            #expect(refused.body.isEmpty)
        }

        /// Whether the two are answered otherwise; then the tag of one must not tell the other that anything stands.
        private static func hasOwnTag(_ operation: Endpoint, _ world: MatrixWorld) async throws -> Bool {
            let tag = try await eventually("\(operation.name) to stand still", within: .seconds(20)) { () -> String? in
                let now = try await world.get(operation, as: .owner)
                let again = try await world.get(operation, as: .owner, tag: now.header("ETag"))
                return again.status == 304 && again.body.isEmpty ? now.header("ETag") : nil
            }
            let own = try await world.get(operation, as: .owner)
            let other = try await world.get(operation, as: .stranger)
            guard own.body != other.body else { return false }
            let crossed = try await world.get(operation, as: .stranger, tag: tag)
            #expect(crossed.status == other.status && crossed.status != 304, "\(operation.name)")
            return true
        }

        @Test(
            "two people whose inboxes have changed equally often have two tags, and none is told of the other's inbox"
        )
        func inboxes() async throws {
            let suite = try RunningSuite.current
            let (ada, bola) = (try await suite.person("shares"), try await suite.person("borrows"))
            let theirs = "user_id IN ('\(ada.id)', '\(bola.id)')"
            try await eventually("both inboxes at one revision", within: .seconds(20)) {
                try await suite.rows("notification", "UPDATE inboxes SET revision = 1000 WHERE \(theirs)")
                let equal = "SELECT count(*) FROM inboxes WHERE revision = 1000 AND \(theirs)"
                return try await suite.number(equal, of: "notification") == 2
            }
            for path in ["/notifications", "/notifications/unread"] {
                let first = try await suite.call("GET", .notification, path, as: ada.subject)
                let tag = try #require(first.header("ETag"))
                let headers = ["If-None-Match": tag]
                let second = try await suite.call("GET", .notification, path, as: bola.subject, headers: headers)
                #expect(second.status == 200 && second.header("ETag") != tag, "\(path)")
            }
        }
    }
}

extension MatrixWorld {
    /// Two people ask on one phone, twice each and in each form; what is shown out of the cache must be what the service
    /// would have answered.
    fileprivate func share(
        _ operation: Endpoint,
        first: Asker,
        forms: [String?]
    ) async throws -> [PrivateCache.Shown] {
        let second: Asker = first == .owner ? .stranger : .owner
        var cache = PrivateCache()
        var all: [PrivateCache.Shown] = []
        for asker in [first, second, first, second] {
            for form in forms {
                var question = try await self.question(operation, as: asker)
                question.headers["Accept"] = form
                let shown = try await cache.show(question) { try await self.suite.send($0) }
                all.append(shown)
                if shown.madeFor != question.asker {
                    let own = try await self.suite.send(question)
                    let isOwn = own.status == shown.reply.status && own.body == shown.reply.body
                    #expect(isOwn, "\(operation.name): \(asker) is shown what was made for \(shown.madeFor)")
                }
                if let form, shown.reply.status == 200 {
                    #expect(shown.reply.contentType == form, "\(operation.name)")
                }
            }
        }
        return all
    }

    fileprivate func question(_ operation: Endpoint, as asker: Asker) async throws -> PrivateCache.Question {
        let call = try self.call(operation, as: asker)
        let url = self.suite.environment.publicURL(operation.service) + call.path
        var question = PrivateCache.Question(url: url, asker: asker.rawValue)
        if asker != .nobody {
            let token = try await self.suite.token(of: call.subject ?? self.person(asker).subject)
            question.headers["Authorization"] = "Bearer \(token)"
        }
        return question
    }

    /// One answer, past any cache.
    fileprivate func get(
        _ operation: Endpoint,
        as asker: Asker,
        method: HTTPMethod = .get,
        tag: String? = nil
    ) async throws -> Reply {
        let question = try await self.question(operation, as: asker)
        var headers = question.headers
        headers["If-None-Match"] = tag
        return try await self.suite.send(method.rawValue, question.url, headers: headers)
    }
}

extension RunningSuite {
    fileprivate func send(_ question: PrivateCache.Question) async throws -> Reply {
        try await self.send("GET", question.url, headers: question.headers)
    }
}
