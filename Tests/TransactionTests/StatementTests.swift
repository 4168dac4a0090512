import Contracts
import Foundation
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("Statements", .serialized)
struct StatementTests {
    /// A day's pause.
    private static let day = Duration.seconds(86_400)

    @Test("opening and closing are the ledger's at both instants, and the lines lead from one to the other")
    func balances() async throws {
        try await withTransaction { world in
            let first = LagosCalendar.day(of: world.clock.now)
            try await world.funds("ada-account", 100_000, "p-1")
            try await world.passes(Self.day)
            let back = try await world.pays("bayo", 30_000)
            try await world.ends(back)
            try await world.funds("ada-account", 7, "p-2")
            try await world.passes(Self.day)
            try await world.ends(back, .reversed)
            try await world.ends(try await world.pays("bayo", 1_000))

            let second = try await world.statement(world.ada, first.adding(days: 1), first.adding(days: 1))
            #expect(second.opening.kobo == 100_000 && second.closing.kobo == 70_007)
            let lines = try await world.writer.lines(of: second, for: world.ada)
            #expect(lines.map(\.text) == ["To bayo", "Bank transfer received"])
            #expect(lines.map(\.line.balance.kobo) == [70_000, 70_007])

            let all = try await world.statement(world.ada, first.adding(days: -1), first.adding(days: 5))
            let sum = try await world.writer.lines(of: all, for: world.ada).reduce(0) { $0 + $1.line.amount.kobo }
            #expect(all.opening == .zero && all.closing.kobo == sum)
            #expect(try await world.history.wallet(of: world.ada)?.posted == all.closing.kobo)
            let returned = try await world.statement(world.bayo, first.adding(days: 2), first.adding(days: 2))
            let texts = try await world.writer.lines(of: returned, for: world.bayo).map(\.text)
            #expect(texts == ["Returned: From ada", "From ada"])
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test(
        "what was spent before it was returned, and what pays it, have lines of their own; the wallet says what is owed"
    )
    func debts() async throws {
        try await withTransaction { world in
            let today = LagosCalendar.day(of: world.clock.now)
            try await world.funds("ada-account", 100_000, "p-1")
            let (first, second) = (try await world.pays("bayo", 30_000), try await world.pays("bayo", 5_000))
            try await world.ends(first)
            // As if Bayo had spent it: it is on its way out.
            let account = "(SELECT wallet_id FROM users WHERE id = '\(world.bayo)')"
            let hold = "UPDATE balances SET held = 30000 WHERE account_id = \(account)"
            _ = try await world.database.psql(hold)
            try await world.ends(first, .reversed)
            #expect(try await world.history.wallet(of: world.bayo)?.owed == 30_000)
            try await world.ends(second)
            #expect(try await world.history.wallet(of: world.bayo)?.owed == 25_000)
            let statement = try await world.statement(world.bayo, today, today)
            let texts = try await world.writer.lines(of: statement, for: world.bayo).map(\.text)
            #expect(
                texts == [
                    "From ada", "Owed: it was spent before it was returned", "Returned: From ada", "From ada",
                    "Paid towards what was owed",
                ]
            )
        }
    }

    @Test("an instant is found among many entries, at every edge, and neighbouring statements meet")
    func edges() async throws {
        try await withTransaction { world in
            let first = LagosCalendar.day(of: world.clock.now)
            for number in 1...40 {
                try await world.funds("ada-account", Int64(number), "p-\(number)")
                if number % 3 == 0 { try await world.passes(.seconds(43_200)) }
            }
            let account = "(SELECT wallet_id FROM users WHERE id = '\(world.ada)')"
            let moments = try await world.database.psql("SELECT posted_at FROM entries WHERE account_id = \(account)")
            for moment in moments {
                for shift in ["-1 microsecond", "0", "1 microsecond"] {
                    let at = "'\(moment)'::timestamptz + interval '\(shift)'"
                    let counted = try await world.number(
                        "SELECT count(*) FROM entries WHERE account_id = \(account) AND posted_at < \(at)"
                    )
                    #expect(try await world.number("SELECT last_entry_before(\(account), \(at))") == counted)
                }
            }
            var before = Money.zero
            var count = 0
            for number in 0...7 {
                let statement = try await world.statement(
                    world.ada,
                    first.adding(days: number),
                    first.adding(days: number)
                )
                #expect(statement.opening == before)
                before = statement.closing
                count += statement.count
            }
            #expect(before.kobo == 820 && count == 40)
        }
    }

    @Test("CSV has opening balance, a row per entry and closing balance; pages of any size give the same lines")
    func csv() async throws {
        try await withTransaction { world in
            let day = LagosCalendar.day(of: world.clock.now)
            try await world.funds("ada-account", 100_050, "p-1")
            try await world.ends(try await world.pays("bayo", 50))
            let period = try LagosPeriod(from: day.description, to: day.description, now: world.clock.now)
            let statement = try await world.statement(world.ada, day, day)
            let middle = try await world.writer.csvLines(of: statement, after: statement.before, for: world.ada)
            #expect(middle.last == statement.last)
            let head = world.writer.csvHead(statement, period)
            let text = head + middle.text + world.writer.csvEnd(statement, period)
            let rows = text.components(separatedBy: "\r\n")
            #expect(rows.count == 6 && rows[5].isEmpty)
            #expect(rows[0] == "Date,Description,Reference,Money in,Money out,Balance")
            #expect(rows[1] == "\(day),Opening balance,,,,0.00")
            #expect(rows[2].contains(",Bank transfer received,inb-") && rows[2].hasSuffix(",1000.50,,1000.50"))
            #expect(rows[3].contains(",To bayo,trf-") && rows[3].hasSuffix(",,0.50,1000.00"))
            #expect(rows[4] == "\(day),Closing balance,,,,1000.00")

            let whole = try await world.writer.lines(of: statement, for: world.ada).map(\.line)
            let one = try await world.writer.lines(of: statement, limit: 1, for: world.ada).map(\.line)
            let end = try #require(one.first).sequence
            let rest = try await world.writer.lines(of: statement, after: end, limit: 9, for: world.ada).map(\.line)
            #expect(one + rest == whole)
        }
    }

    @Test("a later page has the end and the closing balance of the first, whatever came in between")
    func pinned() async throws {
        try await withTransaction { world in
            let day = LagosCalendar.day(of: world.clock.now)
            for number in 1...3 { try await world.funds("ada-account", 100, "p-\(number)") }
            let first = try await world.statement(world.ada, day, day)
            try await world.funds("ada-account", 7, "p-4")
            let period = LagosPeriod(day, day)
            let later = try await world.statements.statement(period, of: world.ada, endingAt: first.last)
            #expect(later == first)
            let fresh = try await world.statement(world.ada, day, day)
            #expect(fresh.closing.kobo == 307)
        }
    }

    @Test("the PDF says the same, and nobody sees the statement of another's wallet")
    func pdf() async throws {
        try await withTransaction { world in
            let day = LagosCalendar.day(of: world.clock.now)
            try await world.funds("ada-account", 123_450, "p-1")
            let statement = try await world.statement(world.ada, day, day)
            let period = try LagosPeriod(from: day.description, to: day.description, now: world.clock.now)
            let bytes = try await world.writer.pdf(statement, period, for: world.ada, at: world.clock.now)
            let text = try await world.text(of: bytes)
            for words in ["@ada", "Opening balance", "₦0.00", "₦1,234.50", "Bank transfer received", "Page 1 of 1"] {
                #expect(text.contains(words), "\(words) is missing in \(text)")
            }
            // The whole reference can be read, in as many lines as it takes.
            #expect(!text.contains("…"), "\(text)")
            let reference = try #require(try await world.writer.lines(of: statement, for: world.ada).first).line
                .reference
            let parts = reference.split(separator: "-")
            #expect(parts.count == 6 && parts.allSatisfy { text.contains($0) }, "\(reference) is missing in \(text)")
            #expect(try await world.writer.lines(of: statement, for: world.bayo).isEmpty)
            let others = try await world.statement(world.bayo, day, day)
            #expect(others.account != statement.account && others.count == 0)
        }
    }
}

@Suite("Receipts", .serialized)
struct ReceiptTests {
    @Test("payer and payee see theirs, with the session of the banks; nobody else does")
    func parties() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1_000_000, "p-1")
            let transfer = try await world.pays("bayo", 123_400)
            #expect(try await world.receipt(transfer, for: world.ada)?.contains("Under way") == true)
            try await world.ends(transfer, session: "090405261121010705123456789012")
            let payer = try #require(try await world.receipt(transfer, for: world.ada))
            for words in [
                "@ada", "@bayo", "₦1,234.00", "Fee", "Total", "Completed", "trf-\(transfer.lowercased)", "090405",
            ] {
                #expect(payer.contains(words), "\(words) is missing in \(payer)")
            }
            let payee = try #require(try await world.receipt(transfer, for: world.bayo))
            #expect(payee.contains("@ada") && !payee.contains("Fee") && !payee.contains("Total"))
            #expect(try await world.receipt(transfer, for: UserID(clerkSubject: "user_eve")) == nil)
            try await world.ends(transfer, .reversed)
            #expect(try await world.receipt(transfer, for: world.ada)?.contains("Reversed") == true)
        }
    }
}

@Suite("What analytics is told", .serialized)
struct ToldForInsightsTests {
    @Test("money from outside ends with an event that says whether it was credited or waits")
    func inbound() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            try await world.funds("ada-account", 40_000_000, "p-2")
            try await world.funds("ada-account", 1000, "p-1")
            let told = try await world.said(TransactionCompleted.self)
            #expect(told.map(\.routeReason) == ["credited", "suspense"])
            #expect(told.allSatisfy { $0.type == .known(.inbound) && $0.recipientID == world.ada.uuid })
            #expect(told.allSatisfy { $0.senderID == nil && $0.description == nil })
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("a completed payment tells what kind of user is paid")
    func recipient() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            try await world.ends(try await world.pays("bayo", 10))
            #expect(try await world.last(TransactionCompleted.self)?.recipientType == .known(.personal))
        }
    }
}
