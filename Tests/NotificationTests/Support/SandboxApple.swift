import Cryptography
import EventLoops
import Foundation
import Logging
import OutgoingHTTP
import Primitives
import SandboxService
import ServiceKit
import TestSupport

@testable import NotificationService

/// The sandbox's stand-in for Apple's push service, over TLS and HTTP/2, and a client of it.
struct SandboxApple: Sendable {
    let client: APNsClient
    let tokens: ProviderTokens
    let clock: AdjustableClock
    let key: P256.PrivateKey
    private let control: String
    private let http: HTTPClient

    /// A push as it arrived.
    struct Arrived: Decodable, Sendable {
        let token: String
        let id: String
        let collapseID: String?
        let topic: String?
        let priority: String?
        let expiration: String?
        let pushType: String?
        let keyID: String?
        let teamID: String?
        let status: Int
        let body: Body

        struct Body: Decodable, Sendable {
            let aps: APS
            let kind: String
            let subject: String?
        }

        struct APS: Decodable, Sendable {
            let alert: [String: String]
            let badge: Int
        }

        private enum CodingKeys: String, CodingKey {
            case token
            case id = "apns-id"
            case collapseID = "apns-collapse-id"
            case topic = "apns-topic"
            case priority = "apns-priority"
            case expiration = "apns-expiration"
            case pushType = "apns-push-type"
            case keyID = "kid"
            case teamID = "iss"
            case status
            case body
        }
    }

    private struct List: Decodable {
        let pushes: [Arrived]
    }

    /// What arrived so far.
    func arrived() async throws -> [Arrived] {
        let answer = try await self.call(.get, "/sandbox/apns/pushes")
        return try JSONDecoder().decode(List.self, from: answer).pushes
    }

    /// Lets the next pushes fail.
    func fail(_ json: String) async throws { _ = try await self.call(.post, "/sandbox/apns/failures", json) }

    private func call(_ method: HTTPMethod, _ path: String, _ json: String? = nil) async throws -> Data {
        let call = HTTPCall(method, self.control + path, body: json.map { Array($0.utf8) })
        let answer = try await self.http.send(call, within: .seconds(20))
        guard answer.status == 200 else { throw TestFailure("\(path) was answered \(answer.status)") }
        return Data(answer.body)
    }

    /// Runs the stand-in around `body`.
    static func with(_ body: @Sendable @escaping (SandboxApple) async throws -> Void) async throws {
        let issuer = "https://clerk.transfa.test"
        var settings = SandboxConfiguration(apiKeys: ["k"], webhookToken: "t", clerkIssuer: issuer)
        settings.pushPort = 0
        let (ports, tell) = AsyncStream.makeStream(of: Int.self)
        let (pushPorts, tellPush) = AsyncStream.makeStream(of: Int.self)
        let logger = Logger(label: "apple") { _ in SwiftLogNoOpLogHandler() }
        let sandbox = try SandboxApplication(
            configuration: settings,
            logger: logger,
            onListening: { tell.yield($0) },
            onListeningForPushes: { tellPush.yield($0) }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try? await sandbox.run() }
            guard let port = await ports.first(where: { _ in true }),
                let pushPort = await pushPorts.first(where: { _ in true })
            else { throw TestFailure("the sandbox does not listen") }
            let result = await Result {
                try await withAppleProxy(to: pushPort) { url, certificate in
                    try await Self.with(url, certificate, control: "http://127.0.0.1:\(port)", body)
                }
            }
            group.cancelAll()
            try result.get()
        }
    }

    private static func with(
        _ url: String,
        _ certificate: AppleCertificate,
        control: String,
        _ body: (SandboxApple) async throws -> Void
    ) async throws {
        let key = P256.PrivateKey()
        let configuration = APNsConfiguration(
            baseURL: url,
            topic: "ng.transfa.app",
            keyID: "TESTKEY123",
            teamID: "TESTTEAM12",
            key: key,
            trustedCertificates: certificate.trusted
        )
        let clock = AdjustableClock()
        let tokens = ProviderTokens(configuration, time: clock)
        let http = try configuration.makeHTTPClient(OutgoingCallMetrics(PrometheusRegistry()))
        try await body(
            SandboxApple(
                client: APNsClient(configuration: configuration, tokens: tokens, http: http),
                tokens: tokens,
                clock: clock,
                key: key,
                control: control,
                http: HTTPClient()
            )
        )
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
