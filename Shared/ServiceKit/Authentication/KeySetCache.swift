import AsyncHTTPClient
import EventLoops
import Logging
import Primitives

/// The keys of one document, kept for minutes and fetched again when a token names an unknown one.
///
/// An unknown key id cannot be used to make us hammer the source: there is a pause between two fetches. When a fetch
/// fails, the keys that are known stay good.
final class KeySetCache<Key: VerificationKey>: Sendable {
    private struct State: Sendable {
        var keys: [String: Key] = [:]
        var freshUntil: ContinuousClock.Instant?
        var lastAttempt: ContinuousClock.Instant?
    }

    struct Limits: Sendable {
        var lifetime: Duration = .seconds(300)
        var pauseBetweenFetches: Duration = .seconds(10)
    }

    private let state = Locked(State())
    private let flights = SingleFlight<String, Bool>()
    private let limits: Limits
    private let source: @Sendable () async throws -> [StrictJSON]
    private let logger: Logger

    init(limits: Limits = Limits(), logger: Logger, source: @escaping @Sendable () async throws -> [StrictJSON]) {
        self.limits = limits
        self.logger = logger
        self.source = source
    }

    convenience init(url: String, bearer: String? = nil, http: HTTPClient, logger: Logger) {
        self.init(logger: logger) { try await JSONWebKeySet.fetch(url: url, bearer: bearer, http: http) }
    }

    /// The key of that id; nil if the source has none.
    ///
    /// - Throws: 503 when nothing was ever fetched.
    func key(_ id: String) async throws(APIError) -> Key? {
        let (known, isFresh) = self.state.withLock { state in
            (state.keys[id], state.freshUntil.map { $0 > .now } ?? false)
        }
        if let known, isFresh {
            return known
        }
        if self.mayFetch() {
            await self.refresh()
        }
        let (key, isEmpty) = self.state.withLock { ($0.keys[id], $0.keys.isEmpty) }
        guard !isEmpty else { throw .unavailable() }
        return key
    }

    private func mayFetch() -> Bool {
        self.state.withLock { state in
            // While nothing is known, the pause is short: a service that starts before its identity provider.
            let pause = state.keys.isEmpty ? Duration.milliseconds(250) : self.limits.pauseBetweenFetches
            return state.lastAttempt.map { $0.advanced(by: pause) <= .now } ?? true
        }
    }

    private func refresh() async {
        do {
            _ = try await self.flights.value(for: "keys") {
                // Somebody else may have fetched while we waited for our turn.
                guard self.mayFetch() else { return false }
                try await self.fetch()
                return true
            }
        } catch {
            self.logger.warning(
                "public keys could not be fetched",
                metadata: ["error": .safe(SafeErrorText.describe(error))]
            )
        }
    }

    private func fetch() async throws {
        defer { self.state.withLock { $0.lastAttempt = .now } }
        var keys: [String: Key] = [:]
        for jwk in try await self.source() {
            guard let id = jwk["kid"]?.string, let key = await Key(jwk: jwk) else { continue }
            keys[id] = key
        }
        guard !keys.isEmpty else { throw JSONWebKeySet.Unavailable() }
        let found = keys
        self.state.withLock { state in
            state.keys = found
            state.freshUntil = .now.advanced(by: self.limits.lifetime)
        }
    }
}
