import Foundation
import Primitives

/// Whoever holds a phone or an open session and nothing else does not get what decides about money.
///
/// The first PIN, another one without the old, and a device less need somebody who has just proved to Clerk who they are.
struct FreshSignIn: Sendable {
    let clock: any TimeSource

    /// How long ago the user may have signed in.
    static let age = TimeInterval(10 * 60)

    /// Checks when the user signed in.
    ///
    /// - Throws: `AuthError.reverificationRequired`, also when the session token does not say when.
    func check(_ provenAt: Date?) throws(AuthError) {
        guard let provenAt, self.clock.now.timeIntervalSince(provenAt) <= Self.age else {
            throw AuthError.reverificationRequired
        }
    }
}
