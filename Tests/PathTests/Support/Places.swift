import Contracts
import Documents
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceKit
import ServiceTestSupport

@testable import TransactionService

/// A rule that counts, or a place that shows: what must follow when money moves.
struct Place {
    let name: String
    let look: (PathWalk) async throws -> Sight

    static var all: [Place] { Self.money + Self.rules + Self.products + Self.shown + Self.elsewhere }

    // MARK: Money

    static var money: [Place] {
        [
            Place(name: "payer available") { .kobo(try await $0.wallet($0.payer, "b.posted - b.held")) },
            Place(name: "payer held") { .kobo(try await $0.wallet($0.payer, "b.held")) },
            Place(name: "payee available") { .kobo(try await $0.wallet($0.payee, "b.posted - b.held")) },
            Place(name: "pools") { .kobo(try await $0.accounts("drop_pool")) },
            Place(name: "suspense") { .kobo(try await $0.accounts("suspense")) },
            Place(name: "owed to us") { .kobo(-(try await $0.accounts("receivable"))) },
            Place(name: "fees, duty") { .kobo(try await $0.accounts("fees") + $0.accounts("stamp_duty")) },
            Place(name: "plans") { .kobo(try await $0.accounts("revenue")) },
        ]
    }

    // MARK: Rules

    static var rules: [Place] {
        [
            Place(name: "day") { .kobo(try await $0.spent("day_total")) },
            Place(name: "month") { .kobo(try await $0.spent("month_total")) },
            Place(name: "free slots") {
                .kobo(
                    try await $0.ledger.number(
                        "SELECT slots_used::bigint FROM receiving_counters WHERE user_id = \($0.payee.uuid)"
                    )
                )
            },
            Place(name: "on its way to payee") {
                .kobo(
                    try await $0.ledger.number(
                        "SELECT incoming FROM receiving_counters WHERE user_id = \($0.payee.uuid)"
                    )
                )
            },
            Place(name: "payer's caps") { .numbers(try await $0.caps($0.payer)) },
            Place(name: "payee's caps") { .numbers(try await $0.caps($0.payee)) },
            Place(name: "payer's block") { .state(try await $0.block($0.payer)) },
            Place(name: "payee's block") { .state(try await $0.block($0.payee)) },
        ]
    }

    // MARK: Products

    static var products: [Place] {
        [
            Place(name: "drop") { walk in
                let rows = try await walk.ledger.words(
                    "SELECT concat_ws(' ', state, end_reason) FROM money_drops WHERE id = \(walk.drop)"
                )
                return .state(rows.first ?? "none")
            },
            Place(name: "slots") { walk in
                .list(
                    try await walk.ledger.words(
                        "SELECT state FROM drop_slots WHERE drop_id = \(walk.drop) ORDER BY position"
                    )
                )
            },
            Place(name: "request") { walk in
                let rows = try await walk.ledger.words(
                    "SELECT state || ' ' || paid_count || ' ' || paid_total FROM payment_requests WHERE id = \(walk.request)"
                )
                return .state(rows.first ?? "none")
            },
        ]
    }

    // MARK: What people see

    static var shown: [Place] {
        [
            Place(name: "payer's list") { .list(try await $0.list($0.payer)) },
            Place(name: "payee's list") { .list(try await $0.list($0.payee)) },
            Place(name: "payer's statement") { .list(try await $0.statement($0.payer)) },
            Place(name: "payee's statement") { .list(try await $0.statement($0.payee)) },
            Place(name: "payer's receipt") { .state(try await $0.receipt($0.payer)) },
            Place(name: "payee's receipt") { .state(try await $0.receipt($0.payee)) },
        ]
    }

    // MARK: What others make of it

    static var elsewhere: [Place] {
        [
            Place(name: "events") { walk in
                .list(
                    try await walk.ledger.words(
                        """
                        SELECT type FROM outbox WHERE data LIKE \("%\(walk.payer)%") OR data LIKE \("%\(walk.payee)%")
                        ORDER BY position
                        """
                    )
                )
            },
            Place(name: "profile, to the payer") {
                .list(try await $0.followers.customer.states(between: $0.payer, and: $0.payee))
            },
            Place(name: "profile, to the payee") {
                .list(try await $0.followers.customer.states(between: $0.payee, and: $0.payer))
            },
            Place(name: "payer's analytics") { .numbers(try await $0.analytics($0.payer)) },
            Place(name: "payee's analytics") { .numbers(try await $0.analytics($0.payee)) },
            Place(name: "payer's messages") { .list(try await $0.followers.notification.titles($0.payer)) },
            Place(name: "payee's messages") { .list(try await $0.followers.notification.titles($0.payee)) },
            Place(name: "breaks") { walk in
                .list(
                    try await walk.ledger.words(
                        """
                        SELECT b.kind FROM breaks b JOIN transfers t ON t.id = b.transfer_id
                        WHERE \(walk.payer.uuid) IN (t.sender_id, t.recipient_id)
                            OR \(walk.payee.uuid) IN (t.sender_id, t.recipient_id) ORDER BY b.opened_at, b.kind
                        """
                    )
                )
            },
            Place(name: "reconciliation") { .fact(try await $0.reconciliation()) },
        ]
    }
}

extension PathWalk {
    fileprivate func wallet(_ user: UserID, _ column: SQL) async throws -> Int64 {
        try await self.ledger.number(
            "SELECT \(column) FROM balances b JOIN users u ON u.wallet_id = b.account_id WHERE u.id = \(user.uuid)"
        )
    }

    fileprivate func accounts(_ kind: String) async throws -> Int64 {
        try await self.ledger.number(
            """
            SELECT coalesce(sum(b.posted), 0)::bigint FROM ledger_accounts a JOIN balances b ON b.account_id = a.id
            WHERE a.kind = \(kind)
            """
        )
    }

    fileprivate func spent(_ column: SQL) async throws -> Int64 {
        try await self.ledger.number("SELECT \(column) FROM spending_counters WHERE user_id = \(self.payer.uuid)")
    }

    fileprivate func block(_ user: UserID) async throws -> String {
        try await self.wallet(user, "b.debits_blocked::int::bigint") == 1 ? "sends nothing" : "none"
    }

    /// What GET /limits says is used of each cap.
    fileprivate func caps(_ user: UserID) async throws -> [String: Int64] {
        let caps = try await LimitStore(client: self.ledger.requests.client).limits(of: user)?.caps ?? []
        return Dictionary(caps.map { ($0.code, $0.used) }) { $0 + $1 }
    }

    private var history: HistoryStore {
        HistoryStore(client: self.ledger.requests.client, workers: self.ledger.work.client)
    }

    fileprivate func list(_ user: UserID) async throws -> [String] {
        try await self.history.page(of: user, HistoryFilter(), limit: 100).rows
            .map { "\($0.type) \($0.amount) \($0.state)" }.sorted()
    }

    fileprivate func statement(_ user: UserID) async throws -> [String] {
        let store = StatementStore(client: self.ledger.requests.client)
        let day = LagosCalendar.day(of: self.ledger.clock.now)
        let period = try LagosPeriod(
            from: day.adding(days: -30).description,
            to: day.description,
            now: self.ledger.clock.now
        )
        guard let statement = try await store.statement(period, of: user) else { return [] }
        return try await store.lines(of: statement, after: 0, limit: 100, for: user)
            .map { "\($0.leg) \($0.amount.kobo)" }
    }

    /// The state that the receipt of the transfer shows.
    fileprivate func receipt(_ user: UserID) async throws -> String {
        guard let transfer = self.transfer,
            let row = try await self.history.transfer(transfer, for: user),
            let more = try await ReceiptStore(client: self.ledger.requests.client).details(of: transfer, for: user)
        else { return "none" }
        let receipt = Receipt(
            row: row,
            reference: more.reference,
            session: more.session,
            viewer: user.uuid,
            names: try await self.history.usernames(of: [row.sender, row.recipient].compactMap { $0 }),
            description: nil
        )
        return try receipt.fields().first { $0.label == "State" }?.value ?? "no state"
    }

    fileprivate func analytics(_ user: UserID) async throws -> [String: Int64] {
        let (moneyIn, moneyOut, fees) = try await self.followers.analytics.totals(user)
        return ["in": moneyIn, "out": moneyOut, "fees": fees]
    }

    /// Whether our books and the provider's say the same of everybody's account.
    fileprivate func reconciliation() async throws -> String {
        var differences: [String] = []
        for (name, user) in self.accounts {
            let expected = try await self.ledger.number(
                "SELECT expected FROM expected_at_provider(\(name), \(user?.uuid))"
            )
            let theirs = self.ledger.balance(name)
            let part = name.prefix { $0.isLetter }
            if expected != theirs { differences.append("\(part): ours \(expected), theirs \(theirs)") }
        }
        return differences.isEmpty ? "agrees" : differences.joined(separator: "; ")
    }
}
