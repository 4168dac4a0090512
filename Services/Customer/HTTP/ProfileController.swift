import Contracts
import Foundation
import Hummingbird
import Messaging
import ObjectStorage
import Primitives
import ServiceKit

/// Public profiles: one with what has passed between its owner and the reader, and a search.
struct ProfileController: Sendable {
    /// As handler.
    let database: EventDatabase
    let profiles: ProfileStore
    let transfers: TransferStore

    /// The most that a search finds.
    static let searchLimit = 10

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        let lookups = group.limited(.lookups)
        lookups.get("/users") { try await self.search($0, $1) }
        lookups.get("/users/:username") { try await self.get($0, $1) }
    }

    private func search(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let reader = try context.requireIdentity().userID
        guard let beginning = request.uri.queryParameters.get("query").flatMap({ Username(beginning: $0) }) else {
            throw APIError.invalid(
                parameter: "query",
                detail: "The beginning of a username: 3 to 20 letters and digits, with or without @."
            )
        }
        let found = try await self.profiles.search(beginning, for: reader, limit: Self.searchLimit)
        return try APIResponse(json: ProfileList(data: found.map { ProfileSummary($0) }))
    }

    private func get(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let reader = try context.requireIdentity().userID
        let paging = try Paging(request, context)
        let position = try paging.id()
        guard let name = context.parameters.get("username").flatMap({ Username($0) }) else {
            throw APIError.notFound(parameter: "username")
        }
        guard let profile = try await self.profiles.find(name, for: reader) else { throw CustomerError.userNotFound }
        let rows = try await self.transfers.page(
            between: reader,
            and: profile.id,
            before: position,
            limit: paging.limit + 1,
            on: self.database
        )
        let page = rows.prefix(paging.limit)
        let last = rows.count > paging.limit ? page.last : nil
        return try APIResponse(
            json: ProfileResource(
                username: profile.username,
                accountType: profile.accountType.text,
                profileImageURL: profile.image?.path,
                transactionHistory: page.map { TransactionResource($0, for: reader, with: profile) },
                nextCursor: last.map { paging.cursor(after: $0.id) }
            )
        )
    }
}

extension ProfileSummary {
    /// A profile as a search shows it.
    init(_ profile: Profile) {
        self.init(
            username: profile.username,
            accountType: profile.accountType.text,
            profileImageURL: profile.image?.path
        )
    }
}

extension TransactionResource {
    /// A payment as one of the two sees it, without what was written to it.
    init(_ transfer: Transfer, for reader: UserID, with other: Profile) {
        let isSender = transfer.sender == reader
        self.init(
            id: transfer.id,
            type: transfer.type,
            state: transfer.shownState(to: reader),
            direction: isSender ? "out" : "in",
            amount: transfer.amount,
            fee: isSender ? transfer.fee : nil,
            duty: isSender ? transfer.duty : nil,
            route: transfer.route,
            counterpartyUsername: other.username,
            createdAt: Timestamp.text(transfer.createdAt),
            settledAt: transfer.isAwaited(by: reader) ? nil : Timestamp.text(transfer.endedAt)
        )
    }
}
