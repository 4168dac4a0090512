import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

/// Breaks a rule of the ledger, and looks whether a cell of the page notices.
@Suite("Broken paths of money")
struct BrokenPathTests {
    /// A rule, how it is broken, and the cell that must say so.
    struct Breakage: CustomTestStringConvertible {
        let function: String
        var find = "\nBEGIN\n"
        var replacement = "\nBEGIN\n    RETURN;\n"
        let way: String
        let place: String

        var testDescription: String { "\(self.function): \(self.way), \(self.place)" }
    }

    private static var breakages: [Breakage] {
        [
            Breakage(function: "give_back_spending", way: "a payment fails", place: "day"),
            Breakage(function: "release_slots", way: "a payment to a bank fails", place: "free slots"),
            Breakage(function: "end_incoming", way: "a payment reaches a wallet", place: "on its way to payee"),
            Breakage(
                function: "divert_to_suspense",
                way: "a payee is frozen while a payment is on its way",
                place: "suspense"
            ),
            Breakage(function: "collect_owed", way: "money comes in for somebody who owes", place: "owed to us"),
            Breakage(
                function: "reverse_releases",
                way: "a payment is taken back after it was let out of suspense",
                place: "payee available"
            ),
            Breakage(function: "empty_closed_wallets", way: "somebody with money is closed", place: "suspense"),
            Breakage(function: "count_pool", way: "a drop is ended and comes back", place: "month"),
            Breakage(
                function: "follow_request",
                find: "IF p_state = 'completed' AND t.route_reason = 'suspense' THEN RETURN; END IF;",
                replacement: "",
                way: "a request's payment waits in suspense",
                place: "request"
            ),
            Breakage(
                function: "publish_completed",
                find: "'releases', CASE",
                replacement: "'frees', CASE",
                way: "a payment is let out of suspense",
                place: "profile, to the payee"
            ),
            Breakage(
                function: "expected_at_provider",
                find: "FROM provider_bills b WHERE b.provider_account = p_account",
                replacement: "FROM provider_bills b WHERE false",
                way: "the provider bills a payment to a bank",
                place: "reconciliation"
            ),
            Breakage(function: "follow_drop", way: "a claim arrives", place: "slots"),
        ]
    }

    @Test("each cell that is broken on purpose is found")
    func found() async throws {
        let page = try PathsPage.read()
        try await PathLedger.withFollowers { ledger, followers in
            for (number, breakage) in Self.breakages.enumerated() {
                let way = try #require(Way.all.first { $0.name == breakage.way }, "\(breakage.way)")
                try await self.breaks(breakage, in: ledger)
                let walk = PathWalk(ledger, followers, number: number)
                var seen: String
                do {
                    try await walk.begins()
                    try await way.walk(walk)
                    seen = try await walk.changes()[breakage.place] ?? "nothing"
                } catch {
                    seen = "\(error)"
                }
                try await self.mends(breakage, in: ledger)
                let expected = try #require(page.cells[breakage.way]?[breakage.place])
                #expect(seen != expected, "\(breakage.testDescription)")
            }
        }
    }

    private func breaks(_ breakage: Breakage, in ledger: PathLedger) async throws {
        try await ledger.database.psql(
            """
            CREATE TABLE IF NOT EXISTS whole (name text PRIMARY KEY, definition text);
            INSERT INTO whole SELECT proname, pg_get_functiondef(oid) FROM pg_proc
            WHERE proname = '\(breakage.function)' AND pronamespace = 'public'::regnamespace;
            DO $do$ DECLARE
                v_whole constant text := (SELECT definition FROM whole WHERE name = '\(breakage.function)');
                v_broken constant text := replace(v_whole, $find$\(breakage.find)$find$, $with$\(breakage.replacement)$with$);
            BEGIN
                IF v_broken = v_whole THEN RAISE EXCEPTION 'nothing to break'; END IF;
                EXECUTE v_broken;
            END $do$
            """
        )
    }

    private func mends(_ breakage: Breakage, in ledger: PathLedger) async throws {
        try await ledger.database.psql(
            """
            DO $do$ BEGIN EXECUTE (SELECT definition FROM whole WHERE name = '\(breakage.function)'); END $do$;
            DELETE FROM whole
            """
        )
    }
}
