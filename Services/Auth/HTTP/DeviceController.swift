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
    let fresh: FreshSignIn

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.limited(.secrets).post("/devices") { try await self.post($0, $1) }
        group.get("/devices") { try await self.list($0, $1) }
        group.delete("/devices/:id") { try await self.delete($0, $1) }
    }

    private func post(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let body = try await request.decodeBody(as: DeviceRequest.self, context: context)
        let pin = try PIN(body.pin, pointer: "/pin")
        let draft = try DeviceDraft(checking: body)
        let cause = context.cause
        let change = Change(
            preparing: { try await self.checkPIN(pin, of: user, under: $0, cause: cause) },
            then: { transaction, _ in
                let device = try await self.registerDevice(draft, user: user, in: transaction)
                return try APIResponse(.created, json: DeviceResource(sealed: device))
            },
            finishing: { try await self.named($0, user) }
        )
        return try await self.checkPIN.guarding(user, cause: cause) {
            try await self.once(request, context, change)
        }
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
        let identity = try context.requireIdentity()
        let user = identity.userID
        let device = try context.uuid("id")
        return try await self.once(request, context) { transaction in
            // A thief with a session must not take the owner's phones away.
            try self.fresh.check(identity.provenAt)
            try await self.revokeDevice(device, user: user, in: transaction)
            return .noContent
        }
    }
}

/// GET /devices.
struct DeviceList: Encodable {
    let data: [DeviceResource]
}
