import EventLoops
import Foundation
public import OutgoingHTTP
public import Primitives
public import Sealing

/// Fetches data keys from `auth`'s internal port and keeps them at most five minutes.
public final class DataKeyClient: DataKeys {
    private struct Entry: Sendable {
        let key: DataKey?
        let until: ContinuousClock.Instant
    }

    private static let capacity = 10_000
    private static let maximumBytes = 4096
    private static let timeout = Duration.seconds(2)

    private let entries = Locked<[UserID: Entry]>([:])
    private let flights = SingleFlight<UserID, Fetched>()
    private let settings: DataKeySettings
    private let http: HTTPClient
    private let lifetime: Duration

    /// Creates a client that keeps a key for `lifetime`, five minutes at most.
    public init(settings: DataKeySettings, http: HTTPClient, lifetime: Duration = .seconds(300)) {
        self.settings = settings
        self.http = http
        self.lifetime = min(lifetime, .seconds(300))
    }

    /// The key of a user; concurrent callers share one fetch.
    public func key(for user: UserID) async throws -> DataKey? {
        if let entry = self.entries.withLock({ $0[user] }), entry.until > .now {
            return entry.key
        }
        return try await self.flights.value(for: user) { try await self.fetch(user) }.key
    }

    /// Forgets a user's key, when `user.erased` arrives.
    public func forget(_ user: UserID) {
        _ = self.entries.withLock { $0.removeValue(forKey: user) }
    }

    private struct Fetched: Sendable {
        let key: DataKey?
    }

    private func fetch(_ user: UserID) async throws -> Fetched {
        let url = "\(self.settings.url)/internal/keys/\(user.uuid.lowercased)"
        let call = HTTPCall(
            .get,
            url,
            headers: [("Authorization", "Bearer \(self.settings.token)")],
            longestAnswer: Self.maximumBytes
        )
        guard let answer = try? await self.http.send(call, within: Self.timeout) else { throw DataKeyError.unavailable }
        let fetched: Fetched
        switch answer.status {
        case 200: fetched = Fetched(key: try Self.key(in: answer.body))
        case 410: fetched = Fetched(key: nil)
        case 404: throw DataKeyError.unknownUser
        default: throw DataKeyError.unavailable
        }
        self.keep(fetched, of: user)
        return fetched
    }

    private static func key(in body: [UInt8]) throws(DataKeyError) -> DataKey {
        guard let text = try? StrictJSONParser.parse(body)["key"]?.string,
            let bytes = Data(base64Encoded: text), let key = try? DataKey(bytes: bytes)
        else { throw .unavailable }
        return key
    }

    private func keep(_ fetched: Fetched, of user: UserID) {
        let entry = Entry(key: fetched.key, until: .now.advanced(by: self.lifetime))
        self.entries.withLock { entries in
            if entries.count >= Self.capacity {
                entries = entries.filter { $0.value.until > .now }
            }
            if entries.count >= Self.capacity {
                entries.removeAll(keepingCapacity: true)
            }
            entries[user] = entry
        }
    }

    /// Drops keys whose time is over, so that a quiet service does not hold secrets; the host calls it by the minute.
    func dropExpired() {
        self.entries.withLock { entries in entries = entries.filter { $0.value.until > .now } }
    }
}
