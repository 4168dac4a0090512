import Contracts
import Foundation
import Hummingbird
import Primitives
import Sealing
import ServiceKit

/// Devices whose keys approve payments.
struct DeviceController: Sendable {
    let once: ChangeOnce
    let checkPIN: CheckPIN
    let registerDevice: RegisterDevice
    let listDevices: ListDevices
    let revokeDevice: RevokeDevice

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.limited(.secrets).post("/devices") { try await self.post($0, $1) }
        group.get("/devices") { try await self.list($0, $1) }
        group.delete("/devices/:id") { try await self.delete($0, $1) }
    }

    private func post(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        // Before the PIN is looked at: a request that cannot be carried out must not use up an attempt.
        _ = try request.idempotencyKey()
        let body = try await request.decodeBody(as: DeviceRequest.self, context: context)
        let pin = try PIN(body.pin, pointer: "/pin")
        let draft = try DeviceDraft(checking: body)
        try await self.checkPIN(pin, of: user, cause: context.cause)
        // The PIN is no part of what is remembered of the request.
        let identifying = draft.publicKey.x963 + Array(draft.name.utf8)
        let answer = try await self.once(request, context, identifying: identifying) { transaction in
            let device = try await self.registerDevice(draft, user: user, in: transaction)
            return try APIResponse(.created, json: DeviceResource(sealed: device))
        }
        return try await self.named(answer, user)
    }

    /// An answer that was kept with the name sealed, as the user gets it.
    private func named(_ answer: APIResponse, _ user: UserID) async throws -> APIResponse {
        guard answer.status == .created else { return answer }
        let sealed = try JSONDecoder().decode(DeviceResource.self, from: Data(answer.body))
        guard let device = try await self.listDevices.named([sealed], of: user).first else { return answer }
        return try APIResponse(answer.status, json: device, headers: answer.headers)
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        return try APIResponse(json: DeviceList(data: try await self.listDevices(user)))
    }

    private func delete(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let device = try context.uuid("id")
        return try await self.once(request, context) { transaction in
            try await self.revokeDevice(device, user: user, in: transaction)
            return .noContent
        }
    }
}

/// GET /devices.
struct DeviceList: Encodable {
    let data: [DeviceResource]
}
