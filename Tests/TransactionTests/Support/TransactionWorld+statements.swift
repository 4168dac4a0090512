import Contracts
import Documents
import Foundation
import Messaging
import Primitives
import Sealing
import ServiceKit
import ServiceTestSupport
import TestSupport

@testable import TransactionService

extension TransactionWorld {
    /// A payment of Ada's arrives, or comes back.
    func ends(_ transfer: UUID, _ outcome: TransferVerdict.Outcome = .completed, session: String? = nil) async throws {
        try await self.beats()
        let verdict = TransferVerdict(
            outcome: outcome,
            evidence: "test",
            providerID: "p-\(transfer)",
            sessionID: session
        )
        // Where it moves money out of suspense, the provider was asked about the payment.
        try await self.database.psql(
            """
            INSERT INTO provider_answers (transfer_id, answer, first_seen_at, last_seen_at)
            SELECT parent_id, 'completed', transfa_now(), transfa_now() FROM transfers
            WHERE id = '\(transfer.lowercased)' AND type = 'release'
            ON CONFLICT (transfer_id, answer) DO UPDATE SET last_seen_at = excluded.last_seen_at
            """
        )
        try await self.work.transaction(cause: Cause()) { transaction in
            _ = try await SubmissionStore().begin([transfer], in: transaction)
        }
        try await self.work.transaction(cause: Cause()) { transaction in
            _ = try await SubmissionStore().settle([(transfer, verdict)], in: transaction)
        }
    }

    var statements: StatementStore { StatementStore(client: self.requests.client) }

    var writer: WriteStatement {
        WriteStatement(store: self.statements, names: self.history, renderer: PDFRenderer())
    }

    /// The statement of some days.
    func statement(_ user: UserID, _ from: CivilDate, _ to: CivilDate) async throws -> Statement {
        let period = try LagosPeriod(from: from.description, to: to.description, now: self.clock.now)
        guard let statement = try await self.statements.statement(period, of: user) else {
            throw TestFailure("no statement")
        }
        return statement
    }

    /// The words of a PDF.
    func text(of pdf: [UInt8]) async throws -> String {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).pdf")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(pdf).write(to: file)
        return try await Command.run("pdftotext", ["-q", "-layout", "-enc", "UTF-8", file.path, "-"])
    }

    /// The receipt of a transfer, as somebody sees it.
    func receipt(
        _ transfer: UUID,
        for user: UserID,
        keys: InMemoryDataKeys = InMemoryDataKeys()
    ) async throws -> String? {
        let receipts = WriteReceipt(
            store: ReceiptStore(client: self.requests.client),
            names: self.history,
            keys: keys,
            renderer: PDFRenderer()
        )
        guard let pdf = try await receipts.pdf(transfer, for: user, at: self.clock.now) else { return nil }
        return try await self.text(of: pdf)
    }
}
