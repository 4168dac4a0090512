import Contracts
import Foundation
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// The category of one transfer, and the user's own word on it.
struct CategoryController: Sendable {
    let database: EventDatabase
    let categories: CategoryStore
    let executor: IdempotentExecutor

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/analytics/transactions/:id/category") { try await self.get($0, $1) }
        group.put("/analytics/transactions/:id/category") { try await self.put($0, $1) }
        group.delete("/analytics/transactions/:id/category") { try await self.delete($0, $1) }
    }

    private func get(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let transfer = try context.uuid("id")
        return try await self.database.transaction(as: user, cause: context.cause) { transaction in
            try await self.answer(transfer, user, in: transaction)
        }
    }

    private func put(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let transfer = try context.uuid("id")
        let body = try await request.decodeBody(as: CategoryRequest.self, context: context)
        guard let category = Category(rawValue: body.category), category.canBeChosen else {
            let words = Category.allCases.filter(\.canBeChosen).map(\.rawValue).joined(separator: ", ")
            throw APIError.invalid("/category", detail: "One of \(words).")
        }
        return try await self.change(transfer, to: category, request, context)
    }

    private func delete(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        try await self.change(try context.uuid("id"), to: nil, request, context)
    }

    private func change(
        _ transfer: UUID,
        to category: Category?,
        _ request: Request,
        _ context: AppRequestContext
    ) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        return try await ChangeOnce(executor: self.executor, database: self.database)(request, context) { transaction in
            _ = try await self.answer(transfer, user, in: transaction)
            try await self.categories.choose(category, for: transfer, of: user, in: transaction)
            return try await self.answer(transfer, user, in: transaction)
        }
    }

    /// - Throws: 404 for a transfer that is not the user's, or that does not count (yet).
    private func answer(
        _ transfer: UUID,
        _ user: UserID,
        in transaction: EventTransaction
    ) async throws -> APIResponse {
        guard let found = try await self.categories.category(of: transfer, for: user, in: transaction) else {
            throw APIError.notFound
        }
        return try APIResponse(
            json: CategoryResource(
                transactionID: transfer,
                category: found.chosen ?? found.automatic,
                automaticCategory: found.automatic,
                isChosen: found.chosen != nil
            )
        )
    }
}
