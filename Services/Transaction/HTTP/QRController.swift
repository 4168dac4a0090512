import Hummingbird
import QRCode
import ServiceKit

/// QR codes of the links of drops and requests, for whoever may look at these.
struct QRController: Sendable {
    let drops: MoneyDropStore
    let requests: PaymentRequestStore

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/money-drops/:id/qr") { try await self.drop($0, $1) }
        group.get("/payment-requests/:id/qr") { try await self.request($0, $1) }
    }

    private func drop(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let form = try request.pictureForm()
        guard let drop = try await self.drops.find(try context.uuid("id"), for: user) else { throw APIError.notFound }
        return try Self.code(of: drop.link, form, for: request)
    }

    private func request(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let form = try request.pictureForm()
        guard let found = try await self.requests.find(try context.uuid("id")), found.isVisible(to: user) else {
            throw APIError.notFound
        }
        return try Self.code(of: found.link, form, for: request)
    }

    private static func code(of link: String, _ form: PictureForm, for request: Request) throws -> APIResponse {
        let code = try QRSymbol(link)
        switch form {
        case .png: return .picture(try code.png(), form, for: request)
        case .svg: return .picture(Array(code.svg().utf8), form, for: request)
        }
    }
}
