import HTTPTypes
import ServiceKit

extension EntityTag {
    /// Names a state of the user's inbox.
    init(revision: Int64) { self.init(text: "\"\(revision)\"") }

    var notModified: APIResponse { APIResponse(.notModified, headers: self.privateHeaders) }
}
