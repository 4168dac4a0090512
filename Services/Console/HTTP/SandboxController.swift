import Foundation
import Hummingbird
import Primitives
import ServiceKit

/// Below `/docs/sandbox`: what the reference needs besides the API to act as somebody invented.
///
/// Only where people are played, and the gateway leads here only from networks of ours.
struct SandboxController: Sendable {
    let sandbox: SandboxClient

    private struct Subject: Decodable {
        let subject: String
    }

    private struct Token: Encodable {
        let token: String
        /// The services' time in seconds since 1970.
        let now: Int64
    }

    private struct Money: Decodable {
        let number: String
        let amount: Int64

        private enum CodingKeys: String, CodingKey {
            case number = "account_number"
            case amount
        }
    }

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.post("/docs/sandbox/tokens") { try await self.token($0, $1) }
        group.post("/docs/sandbox/money") { try await self.money($0, $1) }
    }

    private func token(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let subject = try await request.decodeBody(as: Subject.self, context: context).subject
        guard subject.wholeMatch(of: /user_docs_[a-z0-9]{1,40}/) != nil else {
            throw APIError.invalid("/subject", detail: "Somebody invented: user_docs_ and letters and digits.")
        }
        let token = Token(
            token: try await self.sandbox.token(of: subject),
            now: Int64(self.sandbox.clock.now.timeIntervalSince1970)
        )
        return try APIResponse(.created, json: token)
    }

    private func money(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let money = try await request.decodeBody(as: Money.self, context: context)
        guard money.number.wholeMatch(of: /[0-9]{10}/) != nil else {
            throw APIError.invalid("/account_number", detail: "Ten digits.")
        }
        guard (1...100_000_000).contains(money.amount) else {
            throw APIError.invalid("/amount", detail: "Kobo, from 1 to 100000000.")
        }
        do {
            try await self.sandbox.fund(money.number, money.amount)
        } catch let error as SandboxClient.Refused where error.status == 404 {
            throw APIError.invalid("/account_number", detail: "The sandbox has no such account.")
        }
        return APIResponse(.noContent)
    }
}
