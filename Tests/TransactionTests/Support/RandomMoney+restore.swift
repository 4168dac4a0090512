import AnchorClient
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport

@testable import TransactionService

extension RandomMoney {
    /// Keeps what the ledger holds now, and the moment.
    func isBackedUp() async throws -> Date {
        try await self.world.database.psql(
            """
            DROP SCHEMA IF EXISTS backup CASCADE; CREATE SCHEMA backup;
            DO $$ DECLARE t record; BEGIN
                FOR t IN SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace
                    AND relkind IN ('r', 'p') AND NOT relispartition LOOP
                    EXECUTE format('CREATE TABLE backup.%I AS TABLE public.%I', t.name, t.name);
                END LOOP;
            END $$
            """
        )
        return self.clock.now
    }

    /// The ledger is what it was at the backup, and is brought up to what the provider did since.
    func isRestored(to moment: Date) async throws {
        try await self.world.database.psql(
            """
            BEGIN; SET LOCAL session_replication_role = replica;
            DO $$ DECLARE t record; BEGIN
                FOR t IN SELECT relname AS name FROM pg_class WHERE relnamespace = 'backup'::regnamespace
                    AND relname <> 'clock_offset' LOOP
                    EXECUTE format('TRUNCATE public.%I CASCADE', t.name);
                END LOOP;
                FOR t IN SELECT c.relname AS name,
                        (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
                         WHERE a.attrelid = ('public.' || quote_ident(c.relname))::regclass AND a.attnum > 0
                           AND NOT a.attisdropped AND a.attgenerated = '') AS columns
                    FROM pg_class c WHERE c.relnamespace = 'backup'::regnamespace AND c.relname <> 'clock_offset' LOOP
                    EXECUTE format('INSERT INTO public.%I (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM backup.%I', t.name,
                        t.columns, t.columns, t.name);
                END LOOP;
            END $$;
            COMMIT
            """
        )
        let store = RecoveryStore(client: self.world.work.client, poolAccount: Self.pool)
        let recovery = try await self.world.work.transaction(cause: Cause()) { transaction in
            try await store.begin(moment, by: .grace, in: transaction)
        }
        try await self.world.runs { try await store.continue(in: $0) }
        self.unheard += self.provider.messages()
        for _ in 0..<20 {
            try await self.waits(.seconds(130))
            try await self.world.runs { try await store.continue(in: $0) }
            for reference in self.provider.pending { self.provider.ends(reference, .completed) }
            self.unheard += self.provider.messages()
            for account in (self.people + self.gone).map(\.account) + ["ada-account", "bayo-account", Self.pool] {
                try await self.recovers(account, store)
            }
            try await self.forgetsEnded()
            try await self.sends(self.open)
            let ending = try await self.world.work.transaction(cause: Cause()) { transaction in
                try await store.end(recovery, by: .grace, in: transaction)
            }
            guard ending != .ended else { return }
        }
        throw TestFailure("the recovery does not end: \(try await store.state() ?? "none")\n\(try await self.views())")
    }

    /// What both know about accounts that differ.
    private func views() async throws -> String {
        let rows = try await self.world.work.client.query(
            "SELECT DISTINCT account FROM recovery_accounts WHERE differences > 0 AND accepted_at IS NULL"
        )
        var lines: [String] = []
        for account in try rows.map({ try $0.decode(String.self) }) {
            let ours = try await self.world.work.client.query(
                """
                SELECT reference || ' ' || state || ' ' || amount || ' ' || type || ' ' || coalesce(route_reason, '') || ' '
                    || coalesce(source_account, '') || ' to ' || coalesce(destination, '')
                FROM transfers WHERE \(account) IN (source_account, destination) ORDER BY created_at
                """
            )
            let paid = try await self.world.work.client.query(
                """
                SELECT provider_payment_id || ' ' || disposition || ' ' || amount FROM inbound_payments
                WHERE provider_account = \(account)
                """
            )
            lines += [account] + self.provider.lines(of: account).map { "theirs: \($0)" }
            lines += try (ours + paid).map { "ours: \(try $0.decode(String.self))" }
        }
        return lines.joined(separator: "\n")
    }

    private func recovers(_ account: String, _ store: RecoveryStore) async throws {
        let recover = RecoverAccount(
            database: self.world.work,
            recoveries: store,
            books: ReconciliationStore(client: self.world.work.client, poolAccount: Self.pool),
            bills: self.bills,
            transfers: SubmissionStore(),
            provider: self.provider,
            questions: self.provider,
            clock: self.clock
        )
        _ = try await recover(self.job(account))
    }
}
