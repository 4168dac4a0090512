import EventLoops
public import Messaging
public import Primitives
public import Sealing

/// Where the users' data keys come from.
public protocol DataKeys: Sendable {
    /// The key of a user's personal data; nil when the user was erased, and then for ever.
    ///
    /// - Throws: `DataKeyError` when the owner of the keys does not answer, or does not know the user yet.
    func key(for user: UserID) async throws -> DataKey?
}

/// Why there is no key now.
public enum DataKeyError: Error, Sendable, Equatable, APIErrorConvertible, JobError {
    /// The owner of the keys cannot be asked now.
    case unavailable
    /// The owner of the keys does not know the user.
    case unknownUser

    /// 503: a later try may succeed.
    public var apiError: APIError { .unavailable() }

    /// A job waits: the key, or the news of the user, is on its way.
    public var jobOutcome: JobOutcome? {
        switch self {
        case .unavailable: .again(reason: "data_key_unavailable", after: nil)
        case .unknownUser: .again(reason: "data_key_unknown", after: nil)
        }
    }
}

/// Keys in memory; a user that was never given one is unknown.
public final class InMemoryDataKeys: DataKeys {
    private let keys: Locked<[UserID: DataKey?]>

    /// Begins with some keys.
    public init(_ keys: [UserID: DataKey] = [:]) {
        self.keys = Locked(keys.mapValues { Optional($0) })
    }

    /// The key of a user.
    public func key(for user: UserID) async throws -> DataKey? {
        guard let known = self.keys.withLock({ $0[user] }) else { throw DataKeyError.unknownUser }
        return known
    }

    /// Gives a user a key.
    public func set(_ key: DataKey, for user: UserID) {
        self.keys.withLock { $0[user] = .some(key) }
    }

    /// Destroys a user's key.
    public func erase(_ user: UserID) {
        self.keys.withLock { $0[user] = .some(nil) }
    }
}
