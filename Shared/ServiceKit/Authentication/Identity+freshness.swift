public import Foundation

extension Identity {
    /// How long ago somebody may have signed in for what an open session alone must not do.
    public static let freshness = TimeInterval(10 * 60)

    /// Lets on only who has signed in lately: a phone that lies about, or a session that was stolen, gets no further.
    ///
    /// - Throws: 403 `reverification_required`.
    public func requireFreshness(at moment: Date) throws(APIError) {
        guard let provenAt = self.provenAt, moment.timeIntervalSince(provenAt) <= Self.freshness else {
            throw .forbidden("reverification_required", detail: "Sign in again, then send this within ten minutes.")
        }
    }
}
