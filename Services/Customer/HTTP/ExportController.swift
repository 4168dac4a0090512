import Contracts
import Foundation
import HTTPTypes
import Hummingbird
import Messaging
import NIOCore
import Primitives
import Sealing
import ServiceKit

/// One's own data: POST and GET /users/me/export, GET /users/me/export/file.
///
/// Asking and taking want a fresh sign-in: an open session shows screens, this is everything at once.
struct ExportController: Sendable {
    let database: EventDatabase
    let keys: any DataKeys
    let exports: ExportStore
    let askForExport: AskForExport
    let clock: any TimeSource

    static let path = "/users/me/export"

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        let rare = group.limited(.lookups)
        rare.post("/users/me/export") { try await self.post($0, $1) }
        group.get("/users/me/export") { try await self.get($0, $1) }
        rare.get("/users/me/export/file") { try await self.file($0, $1) }
    }

    private func post(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let identity = try context.requireIdentity()
        try identity.requireFreshness(at: self.clock.now)
        let export = try await self.database.transaction(as: identity.userID, cause: context.cause) { transaction in
            try await self.askForExport(identity.userID, in: transaction)
        }
        return try APIResponse(.accepted, json: self.resource(export), headers: [.location: Self.path])
    }

    private func get(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let export = try await self.newest(of: try context.requireIdentity().userID)
        return try APIResponse(json: self.resource(export), headers: [.cacheControl: Self.unkept])
    }

    private func file(_ request: Request, _ context: AppRequestContext) async throws -> Response {
        let identity = try context.requireIdentity()
        let form = try ExportFile.Form.wanted(by: request)
        let export = try await self.newest(of: identity.userID)
        switch export.state(at: self.clock.now) {
        case .ready: break
        case .expired: throw CustomerError.exportExpired
        case .requested, .collecting, .failed: throw CustomerError.exportNotReady
        }
        try identity.requireFreshness(at: self.clock.now)
        guard let key = try await self.keys.key(for: identity.userID) else { throw CustomerError.erased }
        var headers: HTTPFields = [.contentType: form.contentType + "; charset=utf-8", .cacheControl: Self.unkept]
        headers[.contentDisposition] = "attachment; filename=\"transfa-data.\(form.rawValue)\""
        headers[.vary] = "Accept"
        return Response(status: .ok, headers: headers, body: self.body(ExportFile(form, of: export), key))
    }

    private static let unkept = "no-store"

    /// A part at a time is in memory.
    private func body(_ empty: ExportFile, _ key: DataKey) -> ResponseBody {
        ResponseBody { writer in
            var file = empty
            let export = file.export
            try await writer.write(ByteBuffer(string: file.head))
            for number in 0..<export.parts {
                // Erased, or expired, meanwhile: the answer breaks off, so that nobody takes a part for the whole.
                guard let part = try await self.exports.part(number + 1, of: export, on: self.database) else {
                    throw CustomerError.exportExpired
                }
                let json = try key.text(in: part.content, field: CollectExport.field, of: export.user)
                let page = try JSONDecoder().decode(ExportPage.self, from: Data(json.utf8))
                try await writer.write(ByteBuffer(string: try file.piece(page, of: part.service)))
            }
            try await writer.write(ByteBuffer(string: file.end))
            try await writer.finish(nil)
        }
    }

    private func newest(of user: UserID) async throws -> PersonalExport {
        guard let found = try await self.exports.newest(of: user, on: self.database) else {
            throw CustomerError.exportNotFound
        }
        return found
    }

    private func resource(_ export: PersonalExport) -> ExportResource {
        let state = export.state(at: self.clock.now)
        return ExportResource(
            id: export.id,
            state: state.rawValue,
            requestedAt: Timestamp.text(export.requestedAt),
            readyAt: export.readyAt.map(Timestamp.text),
            size: state == .ready ? export.size : nil,
            expiresAt: export.expiresAt.map(Timestamp.text),
            reason: export.reason
        )
    }
}
