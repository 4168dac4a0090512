import Contracts
import Foundation
import HTTPTypes
import Hummingbird
import Messaging
import Primitives
import Sealing
import ServiceKit

/// The documents that the provider wants to see of a user: GET /users/me/documents, GET and PUT of one.
struct DocumentController: Sendable {
    let once: ChangeOnce
    let keys: any DataKeys
    let desk: ImageDesk
    let documents: DocumentStore
    let handIn: HandInDocument
    let awaitAnswer = AwaitAnswer()

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/users/me/documents") { try await self.list($0, $1) }
        group.polled("/users/me/documents/:id") { try await self.get($0, $1) }
        group.limited(.lookups).put("/users/me/documents/:id") { try await self.put($0, $1) }
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let found = try await self.documents.all(of: user, on: self.once.database)
        return try APIResponse(json: DocumentList(data: found.map { DocumentResource($0) }))
    }

    private func get(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        return try APIResponse(json: DocumentResource(try await self.find(try context.uuid("id"), of: user)))
    }

    private func put(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let id = try context.uuid("id")
        _ = try request.idempotencyKey()
        let bytes = try await self.desk.upload(in: request, context, limit: HandedContent.maximumBytes)
        let change = Change(
            preparing: { _ in
                let content = try HandedContent(checking: bytes, as: try await self.find(id, of: user).format)
                guard let key = try await self.keys.key(for: user) else { throw CustomerError.erased }
                return (content, key)
            },
            then: { transaction, prepared in
                let (content, key) = prepared
                let sending = try await self.handIn(content, as: id, of: user, key: key, in: transaction)
                return try APIResponse(.accepted, json: DocumentResource(sending))
            },
            finishing: { taken in
                guard taken.status == .accepted else { return taken }
                return try await self.answer(id, of: user, headers: taken.headers)
            }
        )
        return try await self.once(request, context, change)
    }

    /// How the document stands in a moment: with the provider, refused by it, or still on its way.
    private func answer(_ id: UUID, of user: UserID, headers: HTTPFields) async throws -> APIResponse {
        let document = try await self.awaitAnswer(
            { try await self.find(id, of: user) },
            while: { $0.state == .sending }
        )
        switch document.state {
        case .refused: throw CustomerError.documentRefused(document.reason ?? .refusedByProvider)
        case .sending:
            var headers = headers
            headers[.location] = "/users/me/documents/\(id.lowercased)"
            return try APIResponse(.accepted, json: DocumentResource(document), headers: headers)
        case .wanted, .sent, .approved:
            return try APIResponse(.ok, json: DocumentResource(document), headers: headers)
        }
    }

    private func find(_ id: UUID, of user: UserID) async throws -> IdentityDocument {
        guard let found = try await self.documents.find(id, of: user, on: self.once.database) else {
            throw CustomerError.documentNotFound
        }
        return found
    }
}

extension DocumentResource {
    /// A document as its user sees it.
    init(_ document: IdentityDocument) {
        self.init(
            id: document.id,
            type: document.type,
            format: document.format.rawValue,
            status: document.state.rawValue,
            reason: document.reason.map { Reason(code: $0.code, detail: $0.sentence) }
        )
    }
}
