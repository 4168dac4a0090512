import Foundation
import OutgoingHTTP
import Primitives

/// Apple's push service, over HTTP/2.
struct APNsClient: PushSender {
    let configuration: APNsConfiguration
    let tokens: ProviderTokens
    let http: HTTPClient

    /// Sends a push; an expired provider token is renewed, once.
    func send(_ message: PushMessage) async -> PushOutcome {
        do {
            let token = try self.tokens.current()
            let answer = try await self.call(message, token)
            guard answer.isExpiredProviderToken else { return answer.outcome }
            guard let renewed = try self.tokens.renew(token) else { return answer.outcome }
            return try await self.call(message, renewed).outcome
        } catch {
            return .later(reason: "not_reached", after: nil)
        }
    }

    private func call(_ message: PushMessage, _ providerToken: String) async throws -> APNsAnswer {
        let call = HTTPCall(
            .post,
            "\(self.configuration.baseURL)/3/device/\(message.token)",
            headers: [
                ("authorization", "bearer \(providerToken)"),
                ("apns-topic", self.configuration.topic),
                ("apns-push-type", "alert"),
                ("apns-id", message.id.lowercased),
                ("apns-collapse-id", message.notificationID.lowercased),
                ("apns-priority", message.isUrgent ? "10" : "5"),
                ("apns-expiration", String(Int64(message.expires.timeIntervalSince1970))),
                ("content-type", "application/json"),
            ],
            body: try APNsPayload(message).bytes(),
            longestAnswer: APNsAnswer.bodyLimit
        )
        // Who is not reached is told of at once: the job that sends has pauses of its own.
        let answer = try await self.http.send(call, within: SendPush.deadline, patience: .zero)
        return APNsAnswer(status: answer.status, retryAfter: answer.retryAfter, body: answer.body)
    }
}
