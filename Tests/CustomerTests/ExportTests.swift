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
import Testing

@testable import CustomerService

/// Pages that tests have made up, and services that are away.
private final class FakeSources: ExportSources {
    private let pages: [ServiceName: [ExportPage]]
    let away = Locked<Set<ServiceName>>([])
    let asked = Locked<[String]>([])

    init(_ pages: [ServiceName: [ExportPage]]) { self.pages = pages }

    func page(of person: UserID, at place: PersonalExport.Place) async throws -> ExportPage {
        self.asked.withLock { $0.append(place.text) }
        guard !self.away.withLock({ $0.contains(place.service) }) else {
            throw ExportUnavailable(service: place.service)
        }
        let number = place.cursor.flatMap { Int($0) } ?? 0
        let pages = self.pages[place.service] ?? []
        guard number < pages.count else { return ExportPage(table: "", leftOut: [:], rows: [], next: nil) }
        let page = pages[number]
        return ExportPage(
            table: page.table,
            leftOut: page.leftOut,
            rows: page.rows,
            next: number + 1 < pages.count ? "\(number + 1)" : nil
        )
    }
}

private func page(_ table: String, _ rows: [[String: JSONValue]], leftOut: [String: String] = [:]) -> ExportPage {
    ExportPage(table: table, leftOut: leftOut, rows: rows.map { .object($0) }, next: nil)
}

@Suite("One's own data in customer", .serialized)
struct ExportTests {
    private static let pages: [ServiceName: [ExportPage]] = [
        .auth: [page("users", [["username": .string("ada"), "details": .object(["bvn": .string("22212345678")])]])],
        .transaction: [
            page(
                "transfers_sent",
                [["id": .string("t-1"), "amount": .integer(300)]],
                leftOut: ["sender_id": "one's own"]
            ),
            page("transfers_sent", [["id": .string("t-2"), "amount": .integer(-5), "note": .string("=1+1, \"x\"")]]),
            page("entries", [["last": .bool(true), "none": .null]]),
        ],
    ]

    private func collect(_ world: CustomerWorld, _ sources: any ExportSources) -> CollectExport {
        CollectExport(
            database: world.work,
            exports: world.exports,
            sources: sources,
            keys: world.keys,
            clock: world.clock
        )
    }

    @discardableResult
    private func ask(_ world: CustomerWorld) async throws -> PersonalExport {
        try await world.asAda { try await AskForExport(users: world.users, exports: world.exports)(world.ada, in: $0) }
    }

    private func joins(_ world: CustomerWorld) async throws {
        try await world.hear(UserCreated(userID: world.ada.uuid, username: "ada", accountType: Open(.personal)))
    }

    private func run(
        _ world: CustomerWorld,
        _ export: PersonalExport,
        _ sources: any ExportSources
    ) async throws -> JobOutcome {
        let collect = self.collect(world, sources)
        return try await world.run(CustomerJob.collectExport, export.id.lowercased) { try await collect($0) }
    }

    private func text(_ world: CustomerWorld, _ form: ExportFile.Form) async throws -> String {
        let export = try #require(try await world.exports.newest(of: world.ada, on: world.requests))
        var file = ExportFile(form, of: export)
        var text = file.head
        for number in 0..<export.parts {
            let part = try #require(try await world.exports.part(number + 1, of: export, on: world.requests))
            let json = try world.adaKey.text(in: part.content, field: CollectExport.field, of: world.ada)
            text += try file.piece(JSONDecoder().decode(ExportPage.self, from: Data(json.utf8)), of: part.service)
        }
        return text + file.end
    }

    @Test("every table and column about people is given, or left out with a reason, and can be read")
    func declared() async throws {
        try await withCustomer { world in
            #expect(try await Exports.customer.gaps(in: world.service) == [])
            let stranger = UserID(clerkSubject: "user_eve")
            let none = try await Exports.customer.all(of: stranger, in: world.service, keys: world.keys)
            #expect(none.isEmpty)
        }
    }

    @Test("bank accounts are given opened, and who is blocked by name")
    func given() async throws {
        try await withCustomer { world in
            try await self.joins(world)
            _ = try await world.add("0123456789")
            let given = try await Exports.customer.all(of: world.ada, in: world.service, keys: world.keys)
            let account = try #require(given["beneficiaries"]?.first)
            #expect(account["account_number"]?.text == "0123456789" && account["account_name"] == .null)
            #expect(account["number_index"] == nil && given["users"]?.first?["username"]?.text == "ada")
        }
    }

    @Test("all services are asked, page by page, and the person is told once")
    func collected() async throws {
        try await withCustomer { world in
            try await self.joins(world)
            let asked = try await self.ask(world)
            #expect(asked.state == .requested)
            let sources = FakeSources(Self.pages)
            #expect(try await self.run(world, asked, sources) == .done)
            let services = ServiceName.allCases.flatMap { service in
                service == .transaction ? ["transaction", "transaction 1", "transaction 2"] : [service.rawValue]
            }
            #expect(sources.asked.withLock { $0 } == services)
            let ready = try #require(try await world.exports.newest(of: world.ada, on: world.requests))
            #expect(ready.state == .ready && ready.parts == 4 && ready.size > 0)
            let told = try await world.said(UserExportReady.self)
            #expect(told.map(\.exportID) == [asked.id] && told.first?.userID == world.ada.uuid)
            #expect(try await world.state(of: CustomerJob.collectExport, asked.id.lowercased) == "done")
        }
    }

    @Test("what is kept is sealed with the person's key, and another person sees nothing of it")
    func sealed() async throws {
        try await withCustomer { world in
            try await self.joins(world)
            _ = try await self.run(world, try await self.ask(world), FakeSources(Self.pages))
            let kept = try await world.database.psql("SELECT content FROM export_parts")
            #expect(kept.count == 4 && kept.allSatisfy { $0.hasPrefix("s1.") && !$0.contains("22212345678") })
            let other = UserID(clerkSubject: "user_eve")
            #expect(try await world.exports.newest(of: other, on: world.requests) == nil)
            let rows = try await world.requests.client.query("SELECT 1 FROM export_parts", as: other.uuid)
            #expect(rows.isEmpty)
        }
    }

    @Test("the file is one document of JSON, or lines of which no spreadsheet runs one")
    func forms() async throws {
        try await withCustomer { world in
            try await self.joins(world)
            _ = try await self.run(world, try await self.ask(world), FakeSources(Self.pages))
            let json = try await self.text(world, .json)
            let document = try #require(JSONValue(text: json)?.members)
            #expect(document["user_id"]?.text == world.ada.description)
            let services = try #require(document["services"]?.members)
            #expect(Set(services.keys) == ["auth", "transaction"])
            let sent = services["transaction"]?.members?["transfers_sent"]?.members
            #expect(sent?["left_out"] == .object(["sender_id": .string("one's own")]))
            guard case .array(let rows) = sent?["rows"] else { throw TestFailure("no rows") }
            #expect(rows.map { $0.members?["id"]?.text } == ["t-1", "t-2"])
            let lines = try await self.text(world, .csv).split(separator: "\r\n").map { String($0) }
            #expect(
                lines == [
                    "service,table,row,field,value",
                    #"auth,users,1,details,"{""bvn"":""22212345678""}""#, "auth,users,1,username,ada",
                    "transaction,transfers_sent,1,amount,300", "transaction,transfers_sent,1,id,t-1",
                    "transaction,transfers_sent,2,amount,-5", "transaction,transfers_sent,2,id,t-2",
                    #"transaction,transfers_sent,2,note,"'=1+1, ""x""""#,
                    "transaction,entries,1,last,true", "transaction,entries,1,none,",
                ]
            )
        }
    }

    @Test("nothing is a document too")
    func empty() async throws {
        try await withCustomer { world in
            try await self.joins(world)
            _ = try await self.run(world, try await self.ask(world), FakeSources([:]))
            let document = JSONValue(text: try await self.text(world, .json))?.members
            #expect(document?["services"] == .object([:]))
            #expect(try await self.text(world, .csv) == "service,table,row,field,value\r\n")
        }
    }

    @Test(
        "while one is collected it is the answer; for a day after it there is no other; one that failed does not count"
    )
    func again() async throws {
        try await withCustomer { world in
            try await self.joins(world)
            let first = try await self.ask(world)
            #expect(try await self.ask(world).id == first.id)
            _ = try await self.run(world, first, FakeSources(Self.pages))
            world.clock.advance(by: .seconds(3600))
            await #expect(throws: CustomerError.exportedToday(wait: 23 * 3600)) { try await self.ask(world) }
            world.clock.advance(by: .seconds(23 * 3600))
            let second = try await self.ask(world)
            #expect(second.id != first.id)
            try await world.work.transaction(cause: Cause()) { transaction in
                try await world.exports.fail(second, .tooLarge, in: transaction)
            }
            #expect(try await self.ask(world).id != second.id)
        }
    }

    @Test("who is not known, or erased, has nothing to ask for; who is closed has")
    func who() async throws {
        try await withCustomer { world in
            await #expect(throws: CustomerError.notOnboarded) { try await self.ask(world) }
            try await self.joins(world)
            try await world.hear(
                UserClosed(userID: world.ada.uuid, closedAt: Timestamp.text(world.clock.now)),
                sequence: 2
            )
            #expect(try await self.ask(world).isRunning)
        }
    }

    @Test("a service that is away is waited for, at the place where it was, and for six hours")
    func away() async throws {
        try await withCustomer { world in
            try await self.joins(world)
            let export = try await self.ask(world)
            let sources = FakeSources(Self.pages)
            sources.away.withLock { $0 = [.transaction] }
            #expect(
                try await self.run(world, export, sources) == .again(reason: "transaction_unavailable", after: nil)
            )
            let waiting = try #require(try await world.exports.find(export.id, on: world.work))
            #expect(waiting.state == .collecting && waiting.place?.text == "transaction" && waiting.parts == 1)
            world.clock.advance(by: .seconds(6 * 3600 + 1))
            #expect(try await self.run(world, export, sources) == .done)
            let failed = try #require(try await world.exports.find(export.id, on: world.work))
            #expect(failed.state == .failed && failed.reason == "not_collected")
            #expect(try await world.database.psql("SELECT count(*) FROM export_parts") == ["0"])
            #expect(try await world.exports.failures(since: .distantPast, on: world.work) == 1)
            #expect(try await world.said(UserExportReady.self).isEmpty)
        }
    }

    @Test("a file is gone after a day, and at once when the person is erased")
    func gone() async throws {
        try await withCustomer { world in
            try await self.joins(world)
            let export = try await self.ask(world)
            _ = try await self.run(world, export, FakeSources(Self.pages))
            let prune: () async throws -> Void = {
                try await world.work.transaction(cause: Cause()) { try await world.exports.prune(in: $0) }
            }
            try await prune()
            #expect(try await world.database.psql("SELECT count(*) FROM export_parts") == ["4"])
            world.clock.advance(by: .seconds(86_400))
            let over = try #require(try await world.exports.find(export.id, on: world.work))
            #expect(over.state == .ready && over.state(at: world.clock.now) == .expired)
            try await prune()
            #expect(try await world.exports.find(export.id, on: world.work)?.state == .expired)
            #expect(try await world.database.psql("SELECT count(*) FROM export_parts") == ["0"])

            let second = try await self.ask(world)
            _ = try await self.run(world, second, FakeSources(Self.pages))
            try await world.hear(UserErased(userID: world.ada.uuid), sequence: 3)
            #expect(try await world.database.psql("SELECT count(*) FROM exports") == ["0"])
            #expect(try await world.database.psql("SELECT count(*) FROM export_parts") == ["0"])
        }
    }

    @Test("a page that is fetched while the person is erased is not kept")
    func erasedMeanwhile() async throws {
        try await withCustomer { world in
            try await self.joins(world)
            let export = try await self.ask(world)
            try await world.hear(UserErased(userID: world.ada.uuid), sequence: 2)
            let outcome = try await self.run(world, export, FakeSources(Self.pages))
            #expect(outcome == .cancelled(reason: "no_longer_wanted"))
            let part = ExportStore.Part(service: .auth, content: Sealed("s1.c2VhbGVk"), size: 1)
            let isKept = try await world.work.transaction(cause: Cause()) { transaction in
                try await world.exports.advance(export, to: export.place, part: part, in: transaction)
            }
            #expect(!isKept)
        }
    }
}
