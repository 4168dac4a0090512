import Foundation
import Messaging
import Postgres
import Primitives
import ServiceKit

/// The table `pin_tries`: read and written only by who holds the row of the PIN.
struct PINTryStore: Sendable {
    /// The try of this request; nil when there was none.
    ///
    /// - Throws: `AuthError.keyReused` when the key was used for another one.
    func find(_ scope: IdempotencyScope, in transaction: EventTransaction) async throws -> PINTry? {
        let rows = try await transaction.query(
            """
            SELECT request_hash, outcome, attempts_left FROM pin_tries
            WHERE user_id = \(scope.user.uuid) AND route = \(scope.route) AND key = \(scope.key.text)
            """
        )
        guard let row = rows.first else { return nil }
        let (hash, word, left) = try row.decode([UInt8].self, String?.self, Int32.self)
        guard scope.isOfSameRequest(hash) else { throw AuthError.keyReused }
        return PINTry(outcome: word.flatMap { PINTry.Outcome(rawValue: $0) }, attemptsLeft: Int(left))
    }

    /// Notes a try that was counted and is compared next.
    func insert(_ scope: IdempotencyScope, attemptsLeft: Int, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO pin_tries (user_id, route, key, request_hash, tried_at, attempts_left)
            VALUES (\(scope.user.uuid), \(scope.route), \(scope.key.text), \(scope.fingerprint.bytes),
                \(transaction.now), \(Int32(attemptsLeft)))
            """
        )
    }

    /// Notes what comparing gave.
    func settle(_ scope: IdempotencyScope, _ outcome: PINTry.Outcome, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            UPDATE pin_tries SET outcome = \(outcome.rawValue)
            WHERE user_id = \(scope.user.uuid) AND route = \(scope.route) AND key = \(scope.key.text)
            """
        )
    }

    /// Removes a try that was not compared; false when it was, or is gone.
    func remove(_ scope: IdempotencyScope, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            """
            DELETE FROM pin_tries
            WHERE user_id = \(scope.user.uuid) AND route = \(scope.route) AND key = \(scope.key.text)
                AND outcome IS NULL
            RETURNING user_id
            """
        )
        return !rows.isEmpty
    }

    /// Forgets tries from before a time.
    func prune(before moment: Date, in transaction: EventTransaction) async throws {
        try await transaction.stage("DELETE FROM pin_tries WHERE tried_at < \(moment)")
    }
}
