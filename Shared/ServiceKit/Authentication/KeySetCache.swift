import EventLoops
import Logging
import OutgoingHTTP
import Primitives

/// The keys of one document, kept for minutes and fetched again when a token names an unknown one.
///
/// An unknown key id cannot be used to make us hammer the source: such fetches come one after the other, with a pause
/// between them. Fetches because of age have a pause of their own, so that one of them never stands in the way of a key
/// that was published just after it. When a fetch fails, the keys that are known stay good.
final class KeySetCache<Key: VerificationKey>: Sendable {
    private struct State: Sendable {
        var keys: [String: Key] = [:]
        var freshUntil: ContinuousClock.Instant?
        var lastAttempts: [Reason: ContinuousClock.Instant] = [:]
        var lastBegin: ContinuousClock.Instant?
    }

    /// Why keys are fetched.
    private enum Reason: Hashable, Sendable {
        /// What is known has grown old, or nothing is known.
        case age
        /// A token names a key that is not known.
        case unknownKey
    }

    struct Limits: Sendable {
        var lifetime: Duration = .seconds(300)
        var pauseBetweenFetches: Duration = .seconds(10)
    }

    private let state = Locked(State())
    private let flights = SingleFlight<Reason, Bool>()
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
        let asked = ContinuousClock.Instant.now
        let (known, isFresh) = self.state.withLock { state in
            (state.keys[id], state.freshUntil.map { $0 > .now } ?? false)
        }
        if let known, isFresh {
            return known
        }
        if !isFresh {
            await self.refresh(because: .age)
        }
        let (key, isEmpty, begin) = self.state.withLock { ($0.keys[id], $0.keys.isEmpty, $0.lastBegin) }
        guard !isEmpty else { throw .unavailable() }
        // What was fetched after the token had come has every key that may have signed it.
        if key != nil || begin.map({ $0 >= asked }) == true {
            return key
        }
        await self.refresh(because: .unknownKey)
        return self.state.withLock { $0.keys[id] }
    }

    private func mayFetch(because reason: Reason) -> Bool {
        self.state.withLock { state in
            // While nothing is known, the pause is short: a service that starts before its identity provider.
            let pause = state.keys.isEmpty ? Duration.milliseconds(250) : self.limits.pauseBetweenFetches
            return state.lastAttempts[reason].map { $0.advanced(by: pause) <= .now } ?? true
        }
    }

    private func refresh(because reason: Reason) async {
        guard self.mayFetch(because: reason) else { return }
        do {
            _ = try await self.flights.value(for: reason) {
                // Somebody else may have fetched while we waited for our turn.
                guard self.mayFetch(because: reason) else { return false }
                try await self.fetch(because: reason)
                return true
            }
        } catch {
            self.logger.warning(
                "public keys could not be fetched",
                metadata: ["error": .safe(SafeErrorText.describe(error))]
            )
        }
    }

    private func fetch(because reason: Reason) async throws {
        let begin = ContinuousClock.Instant.now
        defer { self.state.withLock { $0.lastAttempts[reason] = .now } }
        var keys: [String: Key] = [:]
        for jwk in try await self.source() {
            guard let id = jwk["kid"]?.string, let key = Key(jwk: jwk) else { continue }
            keys[id] = key
        }
        guard !keys.isEmpty else { throw JSONWebKeySet.Unavailable() }
        let found = keys
        self.state.withLock { state in
            // An older document that comes late knows nothing of keys published since.
            guard state.lastBegin.map({ $0 <= begin }) ?? true else { return }
            state.keys = found
            state.freshUntil = .now.advanced(by: self.limits.lifetime)
            state.lastBegin = begin
        }
    }
}
