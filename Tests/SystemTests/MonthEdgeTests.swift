import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

extension ServiceFaults {
    /// What ends with a month in Lagos: free transfers, months of analytics, and the periods of plans.
    ///
    /// In a suite of its own, for its clocks go months ahead.
    @Suite(.serialized, .runningSuite(.only(SuiteEnvironment.names)))
    struct MonthEdgeTests {
        @Test("at 23:00 UTC the month is over: free transfers begin anew, and money counts in the next month")
        func lastHourOfUTC() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("edgepayer", funding: 100_000)
            let payee = try await suite.person("edgepayee")
            try await suite.addBankAccount(of: payee)
            let next = LagosCalendar.day(of: Date()).nextMonthStart
            let midnight = LagosCalendar.start(of: next)
            #expect(Timestamp.text(midnight).hasPrefix("\(next.adding(days: -1))T23:00:00"))

            // Time enough for six payments on a busy machine, and still the old month.
            try await suite.goes(to: midnight.addingTimeInterval(-300))
            var routes: [String] = []
            for _ in 0..<6 { routes.append(try await suite.route(from: payer, to: payee, 1000)) }
            #expect(routes == Array(repeating: "external", count: 5) + ["internal"])
            try await suite.goes(to: midnight.addingTimeInterval(1))
            #expect(try await suite.route(from: payer, to: payee, 1000) == "external")

            let months = """
                SELECT slot_month || ' ' || count(*) FROM transfers
                WHERE recipient_id = '\(payee.id)' AND slot_month IS NOT NULL GROUP BY slot_month ORDER BY slot_month
                """
            let old = next.adding(days: -1).monthStart
            #expect(try await suite.rows("transaction", months) == ["\(old) 5", "\(next) 1"])
            let path = "/analytics/series?period=month&from=\(old)&to=\(next)"
            try await eventually("analytics to know the payments", within: .seconds(40), every: .milliseconds(200)) {
                let spent = try await suite.insight(path, as: payer, AnalyticsSeries.self)?.data.map(\.moneyOut)
                guard spent == [6000, 1000] else { throw TestFailure("it has \(spent ?? [])") }
                return true
            }
            let taken = try await suite.insight(path, as: payee, AnalyticsSeries.self)?.data
            #expect(taken?.map(\.inBank) == [5000, 1000] && taken?.map(\.inWallet) == [1000, 0])
            try await eventually("the new month's count", within: .seconds(20), every: .milliseconds(100)) {
                let answer = try await suite.call("GET", .subscription, "/subscriptions/status", as: payee.subject)
                let status = try answer.decode(SubscriptionStatus.self)
                guard status.month == next.description, status.externalTransfersUsed == 1 else {
                    throw TestFailure("it is \(answer.text)")
                }
                return true
            }
            #expect(try await suite.brokenInvariants() == [])
            try await suite.setClocks(0)
        }

        @Test(
            "a plan bought on 31 January is renewed by three processes on the last day of February and on 31 March, once"
        )
        func lastDayOfJanuary() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("edgeplan", funding: 500_000)
            let today = LagosCalendar.day(of: Date())
            let bought = try #require(
                [today.year, today.year + 1].compactMap { CivilDate(year: $0, month: 1, day: 31) }.first { $0 > today }
            )
            try await suite.goes(to: LagosCalendar.start(of: bought).addingTimeInterval(12 * 3600))
            #expect(try await suite.orderPlan(ada).status == 202)
            let first = try #require(
                try await suite.awaitPlan(of: ada, "active").activeUntil.flatMap { Timestamp.parse($0) }
            )
            // Three processes find each period due.
            let until = try await suite.withReplica(of: "subscription") { _ in
                try await suite.withReplica(of: "subscription") { _ in
                    var until = first
                    for months in 1...2 {
                        let due = until
                        #expect(LagosCalendar.day(of: due) == bought.adding(months: months))
                        until = try await suite.renewed(ada, dueAt: due, paid: months + 1)
                    }
                    return until
                }
            }
            let april = bought.adding(months: 3)
            #expect(april.month == 4 && april.day == 30 && LagosCalendar.day(of: until) == april)

            let days = [bought, bought.adding(months: 1), bought.adding(months: 2)]
            #expect(days.map(\.month) == [1, 2, 3] && days[1].adding(days: 1).day == 1 && days[2].day == 31)
            let references =
                "SELECT reference FROM transfers WHERE type = 'subscription_charge' AND sender_id = '\(ada.id)'"
            #expect(
                try await suite.rows("transaction", references + " ORDER BY reference")
                    == days.map { "sub-\(ada.id.lowercased)-\($0.compact)" }
            )
            #expect(try await suite.wallet(ada).posted == 500_000 - 3 * 150_000)
            #expect(try await suite.brokenInvariants() == [])
            try await suite.setClocks(0)
        }
    }
}

extension RunningSuite {
    /// Sets the clocks of all services to a moment; the days of its events are there before.
    fileprivate func goes(to moment: Date) async throws {
        let day = Timestamp.text(moment).prefix("yyyy-MM-dd".count)
        for name in SuiteEnvironment.names {
            try await self.rows(name, "CALL ensure_partitions('\(day)'::date - 2, '\(day)'::date + 8)")
        }
        try await self.setClocks(Int(moment.timeIntervalSinceNow.rounded(.up)))
    }

    /// Goes to the end of a period, waits for the next one and gives its end.
    fileprivate func renewed(_ person: Person, dueAt due: Date, paid count: Int) async throws -> Date {
        try await self.goes(to: due.addingTimeInterval(2))
        try await self.awaitCharges(of: person, count)
        let next = try await eventually("the next period", within: .seconds(40), every: .milliseconds(100)) {
            let status = try await self.awaitPlan(of: person, "active")
            return status.activeUntil.flatMap { Timestamp.parse($0) }.flatMap { $0 > due ? $0 : nil }
        }
        // At the same time of day, whatever the month.
        #expect(
            LagosCalendar.start(of: LagosCalendar.day(of: next)).distance(to: next)
                == LagosCalendar.start(of: LagosCalendar.day(of: due)).distance(to: due)
        )
        return next
    }

    /// Pays, waits until the money has arrived, and gives the way it went.
    fileprivate func route(from payer: Person, to payee: Person, _ amount: Int64) async throws -> String {
        let id = try await self.pay(from: payer, to: payee, amount)
        try await self.await(id, "completed", within: .seconds(40))
        return try await self.read("/transactions/\(id.lowercased)", as: payer, TransactionResource.self).route
    }
}
