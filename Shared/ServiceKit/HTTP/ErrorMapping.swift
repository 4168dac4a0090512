import HTTPTypes
import Hummingbird
import NIOCore
import Postgres

extension APIError {
    /// What a client is told about any error; nil if it is one that nobody foresaw.
    static func known(_ error: any Error) -> APIError? {
        switch error {
        case let error as any APIErrorConvertible: error.apiError
        case let error as DecodingError: .from(error)
        case let error as StrictJSONError: .from(error)
        case is NIOTooManyBytesError: .bodyTooLarge
        case is CancellationError: .unavailable()
        case let error as PostgresError where error.isRetryable: .unavailable()
        case let error as PostgresTransactionError where error.isRetryable || error.isOutcomeUnknown: .unavailable()
        case let error as HTTPError: .from(status: error.status)
        case let error as any HTTPResponseError where error.status.code < 500: .from(status: error.status)
        default: nil
        }
    }
}
