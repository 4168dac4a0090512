import Contracts
import Hummingbird
import Primitives
import Sealing
import ServiceKit

/// Devices whose keys approve payments.
struct DeviceController: Sendable {
    let mutation: Mutation
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
        return try await self.mutation.run(request, context, identifying: identifying) { transaction in
            try APIResponse(.created, json: try await self.registerDevice(draft, user: user, in: transaction))
        }
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        return try APIResponse(json: DeviceList(data: try await self.listDevices(user)))
    }

    private func delete(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let device = try context.uuid("id")
        return try await self.mutation.run(request, context) { transaction in
            try await self.revokeDevice(device, user: user, in: transaction)
            return .noContent
        }
    }
}

/// GET /devices.
struct DeviceList: Encodable {
    let data: [DeviceResource]
}
