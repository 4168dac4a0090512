import Hummingbird
import ServiceKit

extension AccountError: APIErrorConvertible {
    /// What the client is told.
    var apiError: APIError {
        switch self {
        case .noAccount: .notOnboarded
        case .erased: APIError(.gone, code: "erased", detail: "This user was erased.")
        }
    }
}
