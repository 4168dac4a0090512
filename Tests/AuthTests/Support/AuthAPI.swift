import Cryptography
import Foundation
import Hummingbird
import Logging
import Messaging
import OutgoingHTTP
import Primitives
import Redis
import Sealing
import ServiceTestSupport
import TestSupport

@testable import AuthService
@testable import ServiceKit

private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Takes the subject of a user for their token; all signed in at one moment.
private struct SubjectVerifier: TokenVerifier {
    let provenAt: Date

    func verify(_ token: String) async throws(APIError) -> Identity {
        let user = UserID(clerkSubject: token)
        return Identity(userID: user, clerkSubject: token, sessionID: "session", provenAt: self.provenAt)
    }
}

/// What a client got.
struct AuthAnswer: Sendable {
    let status: Int
    let isRepeated: Bool
    let body: [UInt8]

    /// The body as text.
    var text: String { String(decoding: self.body, as: UTF8.self) }

    private struct Errors: Decodable {
        struct One: Decodable {
            let code: String
            let detail: String?
        }

        let errors: [One]
    }

    private var error: Errors.One? {
        (try? JSONDecoder().decode(Errors.self, from: Data(self.body)))?.errors.first
    }

    /// What the first error is for programs.
    var code: String? { self.error?.code }
    /// What the first error is for people.
    var detail: String? { self.error?.detail }

    /// The body as a value.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(self.body))
    }
}

/// Auth's routes about PINs and devices on a port of their own, for Ada.
struct AuthAPI: Sendable {
    let world: AuthWorld
    fileprivate let client: HTTPClient
    fileprivate let url: String

    /// Sends a request; equal values are equal bytes.
    func send(
        _ method: HTTPMethod,
        _ path: String,
        _ body: some Encodable,
        key: String? = nil
    ) async throws -> AuthAnswer {
        var call = HTTPCall(method, self.url + path)
        call.headers = [("Authorization", "Bearer user_ada"), ("Content-Type", "application/json")]
        if let key { call.headers.append(("Idempotency-Key", key)) }
        call.body = Array(try APIResponse.encoder().encode(body))
        let answer = try await self.client.send(call, within: .seconds(120))
        return AuthAnswer(
            status: answer.status,
            isRepeated: answer.headers.values(of: "Idempotency-Replayed") == ["true"],
            body: answer.body
        )
    }

    /// Does something so many times at once.
    func together(
        _ count: Int,
        _ work: @escaping @Sendable () async throws -> AuthAnswer
    ) async throws -> [AuthAnswer] {
        try await withThrowingTaskGroup(of: AuthAnswer.self) { group in
            for _ in 0..<count { group.addTask { try await work() } }
            var answers: [AuthAnswer] = []
            for try await answer in group { answers.append(answer) }
            return answers
        }
    }
}

extension AuthWorld {
    /// What hashes requests in tests.
    static func fingerprints() throws -> [BlindIndex] { [try BlindIndex(key: Array(repeating: 5, count: 32))] }

    fileprivate func addRoutes(to group: RouterGroup<AppRequestContext>, _ executor: IdempotentExecutor) throws {
        let once = ChangeOnce(executor: executor, database: self.requests, hashingWith: try Self.fingerprints())
        PINController(
            once: once,
            setPIN: self.pinSetting,
            resetPIN: self.pinReset,
            checkPIN: self.checkPIN,
            issueApproval: self.issueApproval
        ).add(to: group)
        DeviceController(
            once: once,
            checkPIN: self.checkPIN,
            registerDevice: self.registerDevice,
            listDevices: ListDevices(database: self.requests, devices: self.devices, vault: self.vault),
            revokeDevice: RevokeDevice(devices: self.devices),
            fresh: self.fresh
        ).add(to: group)
    }

    /// Redis may take as long as it likes: a slow machine is no Redis that is away.
    fileprivate func executor(_ redis: RedisClient?) -> IdempotentExecutor {
        let seal = CopySeal([SymmetricKey(size: .bits256)])
        let shared = redis.map { redis in
            IdempotentExecutor.Shared(
                lease: IdempotencyLease(redis, seal: seal, patience: .seconds(60)),
                epoch: DatabaseEpoch(asking: { "one" }, lifetime: .seconds(600))
            )
        }
        return IdempotentExecutor(
            postgres: self.requests.client,
            shared: shared,
            metrics: IdempotencyMetrics(PrometheusRegistry())
        )
    }

    fileprivate func serve(_ redis: RedisClient?, _ body: (AuthAPI) async throws -> Void) async throws {
        let reader = SettingsReader([
            "PORT": "0", "HOST": "127.0.0.1", "INTERNAL_PORT": "0", "INTERNAL_TOKEN": "an-internal-token-of-a-test",
            "REQUEST_DEADLINE_SECONDS": "120", "RATE_LIMIT_SECRETS": "1000/60",
        ])
        let settings = try ServiceSettings(service: "auth", needs: [], reader: reader)
        let host = try ServiceHost(settings: settings, logger: quiet, clock: self.clock)
        let router = host.router()
        let verifier = SubjectVerifier(provenAt: self.clock.now)
        let group = router.group().add(middleware: AuthenticationMiddleware(verifier: verifier))
        try self.addRoutes(to: group, self.executor(redis))
        let parts = ServiceParts(router: router)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await host.run(parts, signals: []) }
            defer { tasks.cancelAll() }
            let url = "http://127.0.0.1:\(await host.publicPort.value)"
            try await body(AuthAPI(world: self, client: HTTPClient(), url: url))
        }
    }
}

/// Runs `body` with auth's routes on a fresh database, where Ada has signed up; with a Redis of its own or without.
func withAuthAPI(redis: Bool, _ body: (AuthAPI) async throws -> Void) async throws {
    try await withAuth { world in
        try await world.onboard("user_ada", Sample.personal("ada"))
        guard redis else { return try await world.serve(nil, body) }
        try await withTestRedis { url in
            let client = try RedisClient(configuration: try RedisConfiguration(url: url), logger: quiet)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await client.run() }
                defer { group.cancelAll() }
                _ = await client.waitUntilConnected()
                try await world.serve(client, body)
            }
        }
    }
}
