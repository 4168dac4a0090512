import Foundation
import OutgoingHTTP
import Primitives

/// Makes requests.
struct Caller: Sendable {
    private static let longestAnswer = 8 * 1024 * 1024
    private static let deadline = Duration.seconds(15)

    let endpoints: Endpoints
    private let http: HTTPClient

    /// Calls what has these addresses.
    init(_ endpoints: Endpoints) {
        self.endpoints = endpoints
        self.http = HTTPClient()
    }

    /// Sends one request, once.
    ///
    /// - Throws: `Failure` when nobody answers in time; every status is an answer.
    func send(_ call: Call) async throws(Failure) -> Answer {
        let address = try self.endpoints.address(of: call.destination)
        var outgoing = HTTPCall(
            HTTPMethod(rawValue: call.method),
            address + call.path,
            headers: call.headers,
            longestAnswer: Self.longestAnswer
        )
        if case .internalPort = call.destination {
            outgoing.headers.append(("Authorization", "Bearer \(try self.endpoints.internalToken)"))
        }
        if !call.body.isEmpty {
            outgoing.headers.append(("Content-Type", "application/json"))
            outgoing.body = call.body
        }
        do throws(HTTPFailure) {
            // Nobody listening is an answer that need not be asked for again.
            let answer = try await self.http.send(outgoing, within: Self.deadline, patience: .zero)
            return Answer(
                status: answer.status,
                requestID: answer.header("X-Request-Id").flatMap { UUID(text: $0) },
                isReplay: answer.header("Idempotency-Replayed") == "true",
                body: answer.body,
                nextCursor: answer.header("Transfa-Next"),
                line: call.line
            )
        } catch {
            throw Failure("\(call.line) got no answer from \(address), see the log of that service (\(error)).")
        }
    }
}
