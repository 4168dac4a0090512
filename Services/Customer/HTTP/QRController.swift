import Hummingbird
import Messaging
import QRCode
import ServiceKit

/// The user's own QR code: the link to the profile, which never changes.
struct QRController: Sendable {
    /// As handler.
    let database: EventDatabase
    let users: CustomerUserStore
    /// What links begin with.
    let linkBase: String

    /// Adds the route.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/users/me/qr") { try await self.get($0, $1) }
    }

    private func get(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let form = try request.pictureForm()
        guard let known = try await self.users.find(user, as: user, on: self.database), !known.isErased,
            let name = known.username
        else { throw CustomerError.notOnboarded }
        let code = try QRSymbol("\(self.linkBase)/u/\(name)")
        switch form {
        case .png: return .picture(try code.png(), form, for: request)
        case .svg: return .picture(Array(code.svg().utf8), form, for: request)
        }
    }
}
