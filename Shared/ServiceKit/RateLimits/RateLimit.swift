/// So many requests in so much time: all of them may come at once, then one more each time a share of it has passed.
public struct RateLimit: Hashable, Sendable {
    /// How many requests.
    public let requests: Int
    /// In how many seconds.
    public let seconds: Int

    static let requestRange = 1...1_000_000
    static let secondRange = 1...3600

    /// A limit; nil when a number is out of its bounds.
    public init?(requests: Int, seconds: Int) {
        guard Self.requestRange.contains(requests), Self.secondRange.contains(seconds) else { return nil }
        self.requests = requests
        self.seconds = seconds
    }

    /// Reads `600/60`, nil when it is anything else.
    public init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let requests = Self.number(parts[0]), let seconds = Self.number(parts[1]) else {
            return nil
        }
        self.init(requests: requests, seconds: seconds)
    }

    /// Digits only: `Int` would take signs.
    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
    }

    /// What one request uses up, in nanoseconds.
    var interval: Int64 { Int64(self.seconds) * 1_000_000_000 / Int64(self.requests) }
    /// What may be used up at once, in nanoseconds.
    var window: Int64 { Int64(self.seconds) * 1_000_000_000 }
}
