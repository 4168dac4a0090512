import Hummingbird
import ServiceKit

extension AccountError: APIErrorConvertible {
    /// What the client is told.
    var apiError: APIError {
        switch self {
        case .noAccount:
            APIError(
                .notFound,
                code: "account_not_found",
                detail: "Complete sign-up first. Right after it, try again in a moment."
            )
        case .erased: APIError(.gone, code: "erased", detail: "This user was erased.")
        }
    }
}
