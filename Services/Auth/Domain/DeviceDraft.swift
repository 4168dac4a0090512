import Contracts
import Primitives
import Sealing

/// A device that asks to be registered; the fields obey their rules.
struct DeviceDraft: Sendable {
    let name: String
    let publicKey: DevicePublicKey

    /// Checks a request.
    init(checking request: DeviceRequest) throws(FieldProblem) {
        let field = FieldCheck(pointer: "")
        self.name = try field.text("name", request.name, 1...50)
        guard let bytes = Base64URL.decode(request.publicKey), let key = try? DevicePublicKey(x963: bytes) else {
            throw field.fail("public_key", .publicKey)
        }
        self.publicKey = key
    }
}
