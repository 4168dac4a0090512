import Hummingbird
import NIOCore
import Primitives
import ServiceKit

/// GET /transactions/{id}/receipt.
struct ReceiptController: Sendable {
    let write: WriteReceipt
    let clock: any TimeSource

    /// Adds the route.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/transactions/:id/receipt") { _, context -> Response in
            let user = try context.requireIdentity().userID
            let transfer = try context.uuid("id")
            let bytes = try await StatementController.drawn {
                guard let bytes = try await self.write.pdf(transfer, for: user, at: self.clock.now) else {
                    throw APIError.notFound
                }
                return bytes
            }
            let body = ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
            return .file(body, "application/pdf", "transfa-receipt-\(transfer.lowercased).pdf")
        }
    }
}
