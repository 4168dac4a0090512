import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import Primitives

/// Apple's push service, over HTTP/2.
struct APNsClient: PushSender {
    let configuration: APNsConfiguration
    let tokens: ProviderTokens
    let http: HTTPClient
    let logger: Logger

    /// Sends a push; an expired provider token is renewed, once.
    func send(_ message: PushMessage) async -> PushOutcome {
        do {
            let token = try self.tokens.current()
            let answer = try await self.call(message, token)
            guard answer.isExpiredProviderToken else { return answer.outcome }
            guard let renewed = try self.tokens.renew(token) else { return answer.outcome }
            return try await self.call(message, renewed).outcome
        } catch {
            // No text of it: an error of the HTTP client may hold the URL, and that the token.
            return .later(reason: "not_reached", after: nil)
        }
    }

    private func call(_ message: PushMessage, _ providerToken: String) async throws -> APNsAnswer {
        var request = HTTPClientRequest(url: "\(self.configuration.baseURL)/3/device/\(message.token)")
        request.method = .POST
        request.headers = [
            "authorization": "bearer \(providerToken)",
            "apns-topic": self.configuration.topic,
            "apns-push-type": "alert",
            "apns-id": message.id.lowercased,
            "apns-collapse-id": message.notificationID.lowercased,
            "apns-priority": message.isUrgent ? "10" : "5",
            "apns-expiration": String(Int64(message.expires.timeIntervalSince1970)),
            "content-type": "application/json",
        ]
        request.body = .bytes(ByteBuffer(bytes: try APNsPayload(message).bytes()))
        let seconds = SendPush.deadline / .seconds(1)
        let response = try await self.http.execute(
            request,
            timeout: .milliseconds(Int64(seconds * 1000)),
            logger: self.logger
        )
        let body = try await response.body.collect(upTo: APNsAnswer.bodyLimit)
        return APNsAnswer(
            status: Int(response.status.code),
            retryAfter: response.headers.first(name: "retry-after").flatMap { Int64($0) },
            body: Array(body.readableBytesView)
        )
    }
}
