import Contracts
import Foundation
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// The inbox of the user.
struct InboxController: Sendable {
    let database: EventDatabase
    let inbox: InboxStore

    /// Rows of a page, unless the client says otherwise.
    static let pageSize = 20
    /// The most rows of a page.
    static let maximumPageSize = 100

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/notifications") { try await self.list($0, $1) }
        group.post("/notifications/:id/read") { try await self.read($0, $1) }
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let limit = try Self.limit(request)
        let rows = try await self.inbox.page(user, before: try Self.cursor(request), limit: limit, on: self.database)
        let page = rows.prefix(limit)
        return try APIResponse(
            json: NotificationPage(
                data: page.map { NotificationResource($0) },
                unread: try await self.inbox.unread(user, on: self.database),
                nextCursor: rows.count > limit ? page.last.map { InboxCursor.text($0.id) } : nil
            )
        )
    }

    private func read(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let id = try context.uuid("id")
        let found = try await self.database.transaction(as: user, cause: context.cause) { transaction in
            try await self.inbox.markRead(id, of: user, in: transaction)
        }
        guard let found else { throw NotificationError.notificationNotFound }
        return try APIResponse(json: NotificationResource(found))
    }

    private static func limit(_ request: Request) throws(APIError) -> Int {
        guard let text = request.uri.queryParameters.get("limit") else { return Self.pageSize }
        guard let limit = Int(text), (1...Self.maximumPageSize).contains(limit) else {
            throw .invalid(parameter: "limit", detail: "A limit is a number from 1 to \(Self.maximumPageSize).")
        }
        return limit
    }

    private static func cursor(_ request: Request) throws(APIError) -> UUID? {
        guard let text = request.uri.queryParameters.get("cursor") else { return nil }
        guard let id = InboxCursor.read(text) else {
            throw .invalid(parameter: "cursor", detail: "Use the next_cursor of the page before.")
        }
        return id
    }
}

/// Where a page ended: opaque to clients.
enum InboxCursor {
    static func text(_ id: UUID) -> String { Base64URL.encode(Array(id.lowercased.utf8)) }

    static func read(_ text: String) -> UUID? {
        Base64URL.decode(text).flatMap { UUID(text: String(decoding: $0, as: UTF8.self)) }
    }
}

extension NotificationResource {
    /// A message as its user sees it.
    init(_ entry: InboxEntry) {
        self.init(
            id: entry.id,
            kind: entry.kind,
            title: entry.title,
            body: entry.body,
            read: entry.isRead,
            subject: entry.subject,
            createdAt: Timestamp.text(entry.createdAt)
        )
    }
}
