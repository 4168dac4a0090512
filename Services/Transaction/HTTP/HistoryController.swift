import Contracts
import Foundation
import Hummingbird
import Primitives
import ServiceKit

/// GET /wallet, GET /transactions and GET /transactions/{id}.
struct HistoryController: Sendable {
    let store: HistoryStore
    let keys: any DataKeys

    private static let maximumLimit = 100

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.polled("/wallet") { try await self.wallet($0, $1) }
        group.get("/transactions") { try await self.list($0, $1) }
        group.polled("/transactions/:id") { try await self.get($0, $1) }
    }

    private func wallet(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        guard let balance = try await self.store.wallet(of: user) else { throw APIError.notOnboarded }
        return try APIResponse(
            json: WalletResource(
                available: balance.available,
                posted: balance.posted,
                held: balance.held,
                owed: balance.owed,
                currency: "NGN"
            )
        )
    }

    private func get(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        guard let row = try await self.store.transfer(try context.uuid("id"), for: user) else {
            throw APIError.notFound
        }
        return try APIResponse(json: try await self.resources([row], for: user)[0])
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let paging = try Paging(request, context, maximum: Self.maximumLimit)
        let page = try await self.store.page(of: user, try HistoryFilter(request, paging), limit: paging.limit)
        return try APIResponse(
            json: TransactionPage(
                data: try await self.resources(page.rows, for: user),
                nextCursor: page.next.map { paging.cursor(after: $0) }
            )
        )
    }

    // MARK: Resources

    private func resources(_ rows: [TransferRow], for user: UserID) async throws -> [TransactionResource] {
        let others = Set(rows.flatMap { [$0.sender, $0.recipient] }.compactMap { $0 }).subtracting([user.uuid])
        let names = try await self.store.usernames(of: Array(others))
        var resources: [TransactionResource] = []
        for row in rows {
            let isSender = row.sender == user.uuid
            let other = isSender ? row.recipient : row.sender
            resources.append(
                TransactionResource(
                    id: row.id,
                    type: row.type,
                    state: row.state,
                    direction: isSender ? "out" : "in",
                    amount: row.amount,
                    fee: isSender ? row.fee : nil,
                    duty: isSender ? row.duty : nil,
                    route: row.route,
                    counterpartyUsername: other.flatMap { names[$0] },
                    description: try await self.opened(row),
                    failureReason: row.failureReason,
                    moneyDropID: row.moneyDrop,
                    paymentRequestID: row.paymentRequest,
                    createdAt: Timestamp.text(row.createdAt),
                    settledAt: row.endedAt.map(Timestamp.text)
                )
            )
        }
        return resources
    }

    /// What the payer wrote, opened with the payer's key.
    private func opened(_ row: TransferRow) async throws -> String? {
        guard let text = row.description, let sender = row.sender else { return nil }
        return try await self.keys.open(text, field: SealedText.description, of: UserID(sender))
    }
}
