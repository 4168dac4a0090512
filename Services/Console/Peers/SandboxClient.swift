import Foundation
import OutgoingHTTP
import Primitives
import ServiceKit

/// What only a world that is played can do: sign anybody in, and let money come from nowhere.
struct SandboxClient: Sendable {
    let address: String
    let http: HTTPClient
    let clock: any TimeSource

    /// The app that sessions are of; a suite that trusts the sandbox trusts this one.
    private static let authorizedParty = "https://app.sandbox.transfa.test"
    private static let sessionSeconds = 3600

    private struct TokenOrder: Encodable {
        let subject: String
        let azp = SandboxClient.authorizedParty
        let lifetime = SandboxClient.sessionSeconds
        let age: Int

        private enum CodingKeys: String, CodingKey {
            case subject, azp
            case lifetime = "lifetime_seconds"
            case age = "age_seconds"
        }
    }

    private struct Token: Decodable {
        let jwt: String
    }

    private struct Money: Encodable {
        let amount: Int64
    }

    /// A session token of somebody; by the clock of the services, which may be ahead of the sandbox's.
    func token(of subject: String) async throws -> String {
        let age = Int((Date().timeIntervalSince1970 - self.clock.now.timeIntervalSince1970).rounded())
        let answer = try await self.post("/sandbox/clerk/tokens", TokenOrder(subject: subject, age: age))
        return try JSONDecoder().decode(Token.self, from: Data(answer)).jwt
    }

    /// Lets money come in for an account number.
    func fund(_ number: String, _ kobo: Int64) async throws {
        _ = try await self.post("/sandbox/accounts/\(number)/fund", Money(amount: kobo))
    }

    private func post(_ path: String, _ body: some Encodable) async throws -> [UInt8] {
        let call = HTTPCall(
            .post,
            self.address + path,
            headers: [("Content-Type", "application/json")],
            body: Array(try JSONEncoder().encode(body))
        )
        let answer = try await self.answer(to: call)
        guard (200...299).contains(answer.status) else { throw Refused(status: answer.status) }
        return answer.body
    }

    private func answer(to call: HTTPCall) async throws -> HTTPAnswer {
        do throws(HTTPFailure) {
            return try await self.http.send(call, within: .seconds(5))
        } catch {
            if error.reason == .cancelled { throw CancellationError() }
            throw APIError.unavailable("sandbox_unreachable", retryAfter: 2)
        }
    }

    /// The sandbox would not.
    struct Refused: Error {
        let status: Int
    }
}
