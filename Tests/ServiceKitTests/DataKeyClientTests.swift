import Foundation
import HTTPTypes
import Hummingbird
import OutgoingHTTP
import Primitives
import Sealing
import Testing

@testable import ServiceKit

/// `auth` with one user, one erased user and a counter.
private func withKeyOwner(
    _ body: @Sendable (_ client: DataKeyClient, _ key: DataKey, _ asked: Counter) async throws -> Void
) async throws {
    let key = DataKey()
    let asked = Counter()
    let token = "a-token-of-auth-for-tests"
    try await withRunningHost(
        routes: { router in
            router.get("/internal/keys/:user") { request, context in
                _ = asked.next()
                guard request.headers[.authorization] == "Bearer \(token)" else { throw APIError.unauthenticated }
                switch context.parameters.get("user") {
                case known.description:
                    return APIResponse(.ok, body: Array(#"{"key":"\#(Data(key.bytes).base64EncodedString())"}"#.utf8))
                case erased.description: return APIResponse(.gone)
                case broken.description: return APIResponse(.ok, body: Array(#"{"key":"AAAA"}"#.utf8))
                default: throw APIError.notFound
                }
            }
        },
        { running in
            let reader = SettingsReader(["AUTH_INTERNAL_URL": running.publicURL, "DATA_KEYS_TOKEN": token])
            try await body(DataKeyClient(settings: try DataKeySettings(reader), http: HTTPClient()), key, asked)
        }
    )
}

private let known = UserID(clerkSubject: "known")
private let erased = UserID(clerkSubject: "erased")
private let broken = UserID(clerkSubject: "broken")
private let nobody = UserID(clerkSubject: "nobody")

@Suite("data keys")
struct DataKeyClientTests {
    @Test("a key is fetched once for many callers at once, then kept")
    func shared() async throws {
        try await withKeyOwner { client, key, asked in
            try await withThrowingTaskGroup(of: DataKey?.self) { group in
                for _ in 0..<30 {
                    group.addTask { try await client.key(for: known) }
                }
                for try await found in group {
                    #expect(found == key)
                }
            }
            #expect(asked.value == 1)
            client.forget(known)
            _ = try await client.key(for: known)
            #expect(asked.value == 2)
        }
    }

    @Test("an erased user has no key, and an unknown one is an error")
    func others() async throws {
        try await withKeyOwner { client, _, _ in
            let none = try await client.key(for: erased)
            #expect(none == nil)
            await #expect(throws: DataKeyError.unknownUser) { try await client.key(for: nobody) }
            await #expect(throws: DataKeyError.unavailable) { try await client.key(for: broken) }
        }
    }

    @Test("an owner that is not there is unavailable")
    func unreachable() async throws {
        let reader = SettingsReader([
            "AUTH_INTERNAL_URL": "http://127.0.0.1:1", "DATA_KEYS_TOKEN": "a-token-for-data-keys",
        ])
        let client = DataKeyClient(settings: try DataKeySettings(reader), http: HTTPClient())
        await #expect(throws: DataKeyError.unavailable) { try await client.key(for: known) }
    }

    @Test("keys in memory behave the same")
    func memory() async throws {
        let key = DataKey()
        let keys = InMemoryDataKeys([known: key])
        #expect(try await keys.key(for: known) == key)
        keys.erase(known)
        #expect(try await keys.key(for: known) == nil)
        await #expect(throws: DataKeyError.unknownUser) { try await keys.key(for: nobody) }
    }
}
