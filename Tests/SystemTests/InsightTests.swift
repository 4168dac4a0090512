import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

extension Journeys {
    @Suite struct InsightTests {
        @Test("a month's insights and statement agree with the wallet, by HTTP")
        func month() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("insightada", funding: 100_000)
            let bola = try await suite.person("insightbola")
            let lunch = try await suite.pay(from: ada, to: bola, 25_000)
            try await suite.await(lunch, "completed")

            // "Lunch" is what every payment of these tests says.
            let path = "/analytics/transactions/\(lunch.lowercased)/category"
            try await eventually("the words to be read", within: .seconds(30), every: .milliseconds(100)) {
                try await suite.insight(path, as: ada, CategoryResource.self)?.category == "food"
            }
            let put = try RunningSuite.json(CategoryRequest(category: "health"))
            let chosen = try await suite.call("PUT", .analytics, path, as: ada.subject, body: put)
            #expect(chosen.status == 200)
            let seen = try chosen.decode(CategoryResource.self)
            #expect(seen.category == "health" && seen.automaticCategory == "food" && seen.isChosen)
            try await Self.checkInsights(suite, ada, bola)
        }

        private static func checkInsights(_ suite: RunningSuite, _ ada: Person, _ bola: Person) async throws {
            let summary = try await suite.insight("/analytics/summary", as: ada, AnalyticsSummary.self)
            #expect(summary?.inWallet == 100_000 && summary?.moneyOut == 25_000)
            let series = try await suite.insight("/analytics/series?period=week", as: ada, AnalyticsSeries.self)
            #expect(series?.data.reduce(0) { $0 + $1.moneyOut } == 25_000)
            let categories = try await suite.insight("/analytics/categories", as: ada, AnalyticsCategories.self)
            let spent = categories?.data.filter { $0.moneyOut > 0 && $0.category != "fees" }
            #expect(spent == [AnalyticsCategory(category: "health", moneyIn: 0, moneyOut: 25_000)])
            let others = try await suite.insight("/analytics/counterparties", as: ada, AnalyticsCounterparties.self)
            #expect(others?.data.map(\.username) == [bola.username])
        }

        @Test("a statement is the ledger's, as JSON, CSV and PDF; a receipt is for the parties")
        func files() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("paperada", funding: 100_000)
            let bola = try await suite.person("paperbola")
            let transfer = try await suite.pay(from: ada, to: bola, 10_000)
            try await suite.await(transfer, "completed")
            let posted = try await suite.wallet(ada).posted

            let statement = try await suite.read("/statements", as: ada, StatementResource.self)
            #expect(statement.openingBalance == 0 && statement.closingBalance == posted)
            #expect(statement.lines.last?.balance == posted && statement.lines.count >= 2)
            #expect(statement.nextCursor == nil)
            let first = try await suite.read("/statements?limit=1", as: ada, StatementResource.self)
            let cursor = try #require(first.nextCursor)
            let rest = try await suite.read("/statements?cursor=\(cursor)", as: ada, StatementResource.self)
            #expect(first.lines + rest.lines == statement.lines)
            try await suite.await(try await suite.pay(from: ada, to: bola, 100), "completed")
            let late = try await suite.read("/statements?cursor=\(cursor)", as: ada, StatementResource.self)
            #expect(late == rest, "a payment between two pages is none of this statement's")
            let days = "/statements?cursor=\(cursor)&from=2020-01-01"
            let other = try await suite.call("GET", .transaction, days, as: ada.subject)
            #expect(other.status == 400 && other.text.contains(#""parameter":"from""#))

            let csv = try await suite.call("GET", .transaction, "/statements?format=csv", as: ada.subject)
            let closing = try await suite.wallet(ada).posted
            #expect(csv.status == 200 && csv.contentType.hasPrefix("text/csv"))
            #expect(csv.text.contains("To \(bola.username),trf-\(transfer.lowercased),,100.00,"))
            let cents = String(closing % 100)
            #expect(
                csv.text.contains("Closing balance,,,,\(closing / 100).\(cents.count < 2 ? "0" : "")\(cents)")
            )
            for path in ["/statements?format=pdf", "/transactions/\(transfer.lowercased)/receipt"] {
                let file = try await suite.call("GET", .transaction, path, as: ada.subject)
                #expect(file.status == 200 && file.contentType == "application/pdf")
                #expect(file.body.starts(with: Data("%PDF-".utf8)))
            }
            let stranger = try await suite.person("stranger")
            let path = "/transactions/\(transfer.lowercased)/receipt"
            #expect(try await suite.call("GET", .transaction, path, as: stranger.subject).status == 404)
            #expect(try await suite.call("GET", .transaction, path, as: bola.subject).status == 200)
        }
    }
}

extension RunningSuite {
    /// What analytics shows; nil when it says that there is none.
    func insight<Value: Decodable>(_ path: String, as person: Person, _ type: Value.Type) async throws -> Value? {
        let answer = try await self.call("GET", .analytics, path, as: person.subject)
        return answer.status == 404 ? nil : try answer.decode(type)
    }
}
