import Contracts
import Foundation
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// Money drops: made, looked at, claimed, ended.
struct MoneyDropController: Sendable {
    let orders: OrderDesk
    let create: CreateMoneyDrop
    let claim: ClaimMoneyDrop
    let store: MoneyDropStore
    let view: MoneyDropView
    let executor: IdempotentExecutor
    let database: EventDatabase
    let keyedHash: KeyedHash

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.limited(.money).post("/money-drops") { try await self.post($0, $1) }
        group.get("/money-drops") { try await self.list($0, $1) }
        group.polled("/money-drops/:id") { try await self.get($0, $1) }
        group.limited(.money).post("/money-drops/:id/claim") { try await self.claim($0, $1) }
        group.post("/money-drops/:id/end") { try await self.end($0, $1) }
        group.get("/money-drops/:id/claims") { try await self.claims($0, $1) }
    }

    private func post(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let body = try await request.decodeBody(as: MoneyDropRequest.self, context: context)
        let draft = try MoneyDropDraft(
            amountPerClaim: body.amountPerClaim,
            slots: body.slots,
            expiresAt: body.expiresAt,
            title: body.title,
            password: body.password
        )
        return try await self.orders.take(
            request,
            context,
            quote: body.quoteID,
            identifying: try self.identifying(body),
            formerly: try self.formerly(body),
            OrderDesk.Wanted(looking: {}, making: { try await self.create(draft) })
        )
    }

    /// What tells the request from others, when it has a password: that itself is not to be found by trying.
    private func identifying(_ body: MoneyDropRequest) throws -> [UInt8]? {
        try body.password.map { try Self.text(of: body, withPassword: self.keyedHash($0)) }
    }

    private func formerly(_ body: MoneyDropRequest) throws -> [[UInt8]] {
        try body.password.map { try self.keyedHash.former($0).map { try Self.text(of: body, withPassword: $0) } } ?? []
    }

    private static func text(of body: MoneyDropRequest, withPassword hash: String) throws -> [UInt8] {
        var hashed = body
        hashed.password = hash
        return Array(try APIResponse.encoder().encode(hashed))
    }

    // MARK: Claim and end

    private func claim(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let drop = try context.uuid("id")
        let password = try await request.decodeBody(as: ClaimRequest.self, context: context).password
        try MoneyDropDraft.checkLength(ofOffered: password)
        let scope = try await request.idempotencyScope(
            context: context,
            identifying: password.map { Array(self.keyedHash($0).utf8) },
            formerly: password.map { self.keyedHash.former($0).map { Array($0.utf8) } } ?? []
        )
        let change = Change(
            preparing: { _ in try await self.claim.checkedHash(drop, by: user, password: password) },
            then: { transaction, hash in
                let claimed = try await self.claim(drop, by: user, passwordHash: hash, in: transaction)
                return try .accepted(
                    location: "/transactions/\(claimed.transaction.lowercased)",
                    json: ClaimResponse(
                        moneyDropID: drop,
                        transactionID: claimed.transaction,
                        status: "accepted",
                        amount: claimed.amount,
                        createdAt: Timestamp.text(claimed.createdAt)
                    )
                )
            }
        )
        return try await self.executor.run(scope, in: self.database, context: context, change)
    }

    private func end(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let drop = try context.uuid("id")
        let scope = try await request.idempotencyScope(context: context)
        let change = Change(
            preparing: { _ in
                guard try await self.store.find(drop, for: user)?.creator == user.uuid else { throw APIError.notFound }
            },
            then: { transaction, _ in
                try await self.store.end(drop, by: user, in: transaction)
                return .noContent
            }
        )
        return try await self.executor.run(scope, in: self.database, context: context, change)
    }

    // MARK: Reads

    private func get(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        guard let drop = try await self.store.find(try context.uuid("id"), for: user) else { throw APIError.notFound }
        return try APIResponse(json: try await self.view.resources([drop], for: user)[0])
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let paging = try Paging(request, context)
        let isCreated: Bool
        switch request.uri.queryParameters.get("filter") ?? "created" {
        case "created": isCreated = true
        case "claimed": isCreated = false
        default: throw APIError.invalid(parameter: "filter", detail: "created or claimed.")
        }
        let limit = paging.limit + 1
        let drops =
            isCreated
            ? try await self.store.created(by: user, before: try paging.position(), limit: limit)
            : try await self.store.claimed(by: user, before: try paging.id(), limit: limit)
        let page = Array(drops.prefix(paging.limit))
        let last = drops.count > paging.limit ? page.last : nil
        return try APIResponse(
            json: MoneyDropPage(
                data: try await self.view.resources(page, for: user),
                nextCursor: last.flatMap { drop in
                    isCreated
                        ? paging.cursor(after: drop.position) : drop.claimTransaction.map { paging.cursor(after: $0) }
                }
            )
        )
    }

    /// For the creator only; to others there is no such list.
    private func claims(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let id = try context.uuid("id")
        guard let drop = try await self.store.find(id, for: user), drop.creator == user.uuid else {
            throw APIError.notFound
        }
        let claims = try await self.store.claims(on: id, of: user)
        return try APIResponse(json: try await self.view.claims(claims, of: drop))
    }
}
