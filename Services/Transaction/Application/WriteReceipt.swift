import Documents
import Foundation
import Primitives
import ServiceKit

/// The receipt of a transfer, as one of its parties may see it.
struct WriteReceipt: Sendable {
    let store: ReceiptStore
    let names: HistoryStore
    let keys: any DataKeys
    let renderer: PDFRenderer

    /// - Returns: The file; nil when the transfer is not one of the user's.
    /// - Throws: `DocumentError` with `busy`.
    func pdf(_ transfer: UUID, for user: UserID, at moment: Date) async throws -> [UInt8]? {
        guard let row = try await self.names.transfer(transfer, for: user),
            let more = try await self.store.details(of: transfer, for: user)
        else { return nil }
        let names = try await self.names.usernames(of: [row.sender, row.recipient].compactMap { $0 })
        let receipt = Receipt(
            row: row,
            reference: more.reference,
            session: more.session,
            viewer: user.uuid,
            names: names,
            description: try await self.opened(row)
        )
        let document = Document(
            title: "Receipt",
            fields: try receipt.fields().map { Document.Field($0.label, $0.value) },
            note: "Made \(LagosTime.text(moment)). Times are those of Lagos."
        )
        return try await self.renderer.render(document, for: user.description)
    }

    /// What the payer wrote, opened with the payer's key.
    private func opened(_ row: TransferRow) async throws -> String? {
        guard let text = row.description, let sender = row.sender else { return nil }
        return try await self.keys.open(text, field: SealedText.description, of: UserID(sender))
    }
}
