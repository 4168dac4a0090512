import Cryptography
import Foundation

/// Hashes PINs with scrypt on threads of its own, a bounded number at a time.
///
/// A PIN has few digits, so what guards it once the table is stolen is the pepper; what guards it before is the count
/// of attempts that the caller keeps. Each hash in progress takes 16 MiB.
public final class PINHasher: Sendable {
    private let pool: HashingPool
    private let parameters: ScryptParameters
    private let pepper: DataKey?

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - threads: How many hashes are computed at a time.
    ///   - queueLimit: How many may wait; more are refused with `busy`.
    ///   - parameters: The cost of new hashes; old ones are checked at their own.
    ///   - pepper: A key from the environment that goes into every hash; without it no hash of it can be checked.
    public init(
        threads: Int = 2,
        queueLimit: Int = 64,
        parameters: ScryptParameters = .standard,
        pepper: DataKey? = nil
    ) {
        self.pool = HashingPool(threads: max(1, threads), queueLimit: max(0, queueLimit))
        self.parameters = parameters
        self.pepper = pepper
    }

    deinit { self.pool.stop() }

    /// Hashes a new PIN with a fresh salt.
    ///
    /// - Throws: `SealingError` with `busy` or `cancelled`.
    public func hash(_ pin: String) async throws(SealingError) -> String {
        let salt = randomBytes(PINHash.saltLength)
        let parameters = self.parameters
        let pepper = self.pepper
        return try await self.pool.run {
            PINHash.make(pin, salt: salt, parameters: parameters, pepper: pepper)
        }.text
    }

    /// Whether `pin` is the one that `stored` was made from.
    ///
    /// - Throws: `SealingError` with `malformed` when `stored` is no hash, `invalidKey` when it needs a pepper that
    ///   was not given (or the other way round), `busy` or `cancelled`.
    public func verify(_ pin: String, against stored: String) async throws(SealingError) -> Bool {
        let expected = try PINHash(text: stored)
        guard expected.isPeppered == (self.pepper != nil) else {
            throw SealingError(.invalidKey, "the PIN hash and the configuration disagree about a pepper")
        }
        let pepper = self.pepper
        let actual = try await self.pool.run {
            PINHash.make(pin, salt: expected.salt, parameters: expected.parameters, pepper: pepper)
        }
        return ConstantTime.equal(actual.hash, expected.hash)
    }

    /// Whether `stored` was made at another cost than new hashes; if so, hash anew after a successful check.
    public func needsRehash(_ stored: String) -> Bool {
        guard let hash = try? PINHash(text: stored) else { return true }
        return hash.parameters != self.parameters
    }
}
