import Contracts
import Foundation
import HTTPTypes
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// The inbox of the user.
struct InboxController: Sendable {
    let database: EventDatabase
    let inbox: InboxStore
    let once: ChangeOnce

    /// The most rows of a page.
    static let maximumPageSize = 100

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/notifications") { try await self.list($0, $1) }
        group.get("/notifications/unread") { try await self.unread($0, $1) }
        group.post("/notifications/read-all") { try await self.readAll($0, $1) }
        group.post("/notifications/:id/read") { try await self.read($0, $1) }
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let paging = try Paging(request, context, maximum: Self.maximumPageSize)
        let before = try paging.position()
        // Before the page: what changes between the two is sent now and once more next time, and never missed.
        let state = try await self.inbox.state(user, on: self.database)
        let tag = EntityTag(revision: state.revision, of: user)
        if tag.isKnown(to: request.headers) { return tag.notModified }
        // Positions are given in the order of commits: a page that ends at the inbox's last one has all up to it, and
        // what comes meanwhile is the stream's.
        let end = min(before, state.lastPosition + 1)
        let rows = try await self.inbox.page(user, before: end, limit: paging.limit, on: self.database)
        let page = rows.prefix(paging.limit)
        return try APIResponse(
            json: NotificationPage(
                data: page.map { NotificationResource($0) },
                unread: Int(state.unread),
                nextCursor: rows.count > paging.limit ? page.last.map { paging.cursor(after: $0.position) } : nil,
                // Of a later page it would be too late: what came since the first one is in neither.
                meta: paging.isContinued ? nil : NotificationPage.Meta(lastEventID: String(state.lastPosition))
            ),
            headers: tag.privateHeaders
        )
    }

    private func unread(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let state = try await self.inbox.state(user, on: self.database)
        let tag = EntityTag(revision: state.revision, of: user)
        if tag.isKnown(to: request.headers) { return tag.notModified }
        return try APIResponse(json: UnreadCount(unread: Int(state.unread)), headers: tag.privateHeaders)
    }

    private func read(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let id = try context.uuid("id")
        return try await self.once(request, context) { transaction in
            guard let found = try await self.inbox.markRead(id, of: user, in: transaction) else {
                throw NotificationError.notificationNotFound
            }
            return try APIResponse(json: NotificationResource(found))
        }
    }

    private func readAll(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let body = try await request.decodeBody(as: ReadAllRequest.self, context: context)
        return try await self.once(request, context) { transaction in
            guard let unread = try await self.inbox.markAllRead(upTo: body.upTo, of: user, in: transaction) else {
                throw APIError.unknownMessage
            }
            return try APIResponse(json: UnreadCount(unread: Int(unread)))
        }
    }
}

extension APIError {
    fileprivate static let unknownMessage = APIError.refused(
        "unknown_notification",
        detail: "There is no such message in this inbox.",
        source: .pointer("/up_to")
    )
}

extension NotificationResource {
    /// A message as its user sees it.
    init(_ entry: InboxEntry) {
        self.init(
            id: entry.id,
            category: entry.category,
            kind: entry.kind,
            title: entry.title,
            body: entry.body,
            read: entry.isRead,
            subject: entry.subject,
            createdAt: Timestamp.text(entry.createdAt)
        )
    }
}
