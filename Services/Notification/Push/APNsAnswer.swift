import Foundation

/// What Apple answers to a push, and what that means.
struct APNsAnswer: Sendable {
    let status: Int
    /// Null when there is none or it is no JSON.
    let reason: String?
    /// For 410: since when the token is no good.
    let timestamp: Date?
    private let retryAfter: Int64?

    /// The most bytes of an answer.
    static let bodyLimit = 16 * 1024
    /// Apple asks not to push to a phone again soon when it was too much.
    static let pauseWhenTooMany = Duration.seconds(60)
    /// What only an operator can mend is tried again rarely.
    static let pauseWhenMisconfigured = Duration.seconds(300)

    private struct Body: Decodable {
        let reason: String?
        /// Milliseconds since 1970.
        let timestamp: Double?
    }

    init(status: Int, retryAfter: Int64?, body: [UInt8]) {
        self.status = status
        self.retryAfter = retryAfter
        let decoded = try? JSONDecoder().decode(Body.self, from: Data(body))
        self.reason = decoded?.reason
        self.timestamp = decoded?.timestamp.map { Date(timeIntervalSince1970: $0 / 1000) }
    }

    /// The provider token is older than an hour.
    var isExpiredProviderToken: Bool { self.status == 403 && self.reason == "ExpiredProviderToken" }

    /// What becomes of the push.
    var outcome: PushOutcome {
        switch (self.status, self.reason) {
        case (200, _): .taken
        case (410, _): .tokenGone(since: self.timestamp)
        case (400, "BadDeviceToken"): .tokenGone(since: nil)
        case (403, _): .later(reason: self.code, after: Self.pauseWhenMisconfigured)
        case (429, _): .later(reason: self.code, after: self.asked ?? Self.pauseWhenTooMany)
        case (500..., _): .later(reason: self.code, after: self.asked)
        default: .refused(reason: self.code)
        }
    }

    private var asked: Duration? {
        // More than an hour is not meant for a push.
        self.retryAfter.map { .seconds(min(max($0, 1), 3600)) }
    }

    /// A code for people: reasons are Apple's own words, and nothing else from outside gets into it.
    private var code: String {
        let word = (self.reason ?? "").prefix(40).filter { $0.isASCII && $0.isLetter }
        return word.isEmpty ? "apns_\(self.status)" : "apns_\(self.status)_\(word)"
    }
}
