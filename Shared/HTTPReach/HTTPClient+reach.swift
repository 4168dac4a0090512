public import AsyncHTTPClient
import Glibc
public import NIOCore
import NIOPosix

extension HTTPClient {
    private static var pause: Duration { .milliseconds(100) }

    /// Sends a request; while no connection can be made, it tries again for as long as `patience` and `limit` allow.
    ///
    /// A peer that is replaced is away for a moment. What found no connection was not sent, so any method may be tried
    /// again. For clients whose `retryConnectionEstablishment` is off: their own way pauses for up to a minute, by the
    /// failures of all callers together.
    ///
    /// - Parameters:
    ///   - request: Its body must be one that can be sent again.
    ///   - limit: For everything until the head of the answer.
    ///   - patience: For what is to be a connection.
    /// - Returns: The answer, whose body is still to be read.
    /// - Throws: What the client threw last.
    public func reach(
        _ request: HTTPClientRequest,
        within limit: TimeAmount,
        patience: TimeAmount = .seconds(3)
    ) async throws -> HTTPClientResponse {
        let deadline = NIODeadline.now() + limit
        let lastAttempt = NIODeadline.now() + min(limit, patience) - TimeAmount(Self.pause)
        while true {
            do {
                return try await self.execute(request, deadline: deadline)
            } catch {
                guard Self.isUnsent(error), NIODeadline.now() < lastAttempt else { throw error }
            }
            try await _Concurrency.Task.sleep(for: Self.pause)
        }
    }

    /// Whether there was no connection; an address without a name has an error of its own.
    private static func isUnsent(_ error: any Error) -> Bool {
        switch error {
        case is NIOConnectionError: true
        case let error as IOError: error.errnoCode == ECONNREFUSED
        case let error as HTTPClientError: error == .connectTimeout
        default: false
        }
    }
}
