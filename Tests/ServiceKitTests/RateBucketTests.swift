import Foundation
import Primitives
import Testing

@testable import ServiceKit

private func limit(_ requests: Int, _ seconds: Int) throws -> RateLimit {
    try #require(RateLimit(requests: requests, seconds: seconds))
}

/// Nanoseconds.
private func seconds(_ seconds: Double) -> Int64 { Int64(seconds * 1_000_000_000) }

@Suite("counting requests")
struct RateBucketTests {
    @Test("as many as the limit says come at once, then one each time a share of it has passed")
    func burst() throws {
        let limit = try limit(4, 2)
        var emptyAt: Int64?
        var taken: [Double] = []
        for moment in stride(from: 0.0, through: 3.0, by: 0.125) {
            let tries = moment == 0 ? 10 : 1
            for _ in 0..<tries {
                let outcome = RateBucket.add(to: emptyAt, at: seconds(moment), limit)
                emptyAt = outcome.emptyAt
                if outcome.isAllowed { taken.append(moment) }
            }
        }
        #expect(taken == [0, 0, 0, 0, 0.5, 1, 1.5, 2, 2.5, 3])
    }

    @Test("a refused request uses up nothing, and waiting as long as it says is enough and not too much")
    func wait() throws {
        let limit = try limit(2, 60)
        var emptyAt: Int64?
        for _ in 0..<2 { emptyAt = RateBucket.add(to: emptyAt, at: 0, limit).emptyAt }
        let refused = RateBucket.add(to: emptyAt, at: seconds(1), limit)
        #expect(!refused.isAllowed)
        #expect(refused.emptyAt == emptyAt)
        #expect(refused.wait == seconds(29))
        #expect(!RateBucket.add(to: emptyAt, at: seconds(30) - 1, limit).isAllowed)
        #expect(RateBucket.add(to: emptyAt, at: seconds(30), limit).isAllowed)
    }

    @Test("what is left counts down and comes back")
    func remaining() throws {
        let limit = try limit(3, 3)
        var emptyAt: Int64?
        var left: [Int] = []
        for _ in 0..<4 {
            let outcome = RateBucket.add(to: emptyAt, at: 0, limit)
            emptyAt = outcome.emptyAt
            left.append(RateBucket.remaining(outcome.emptyAt, at: 0, limit))
        }
        #expect(left == [2, 1, 0, 0])
        #expect(RateBucket.remaining(try #require(emptyAt), at: seconds(1), limit) == 1)
        #expect(RateBucket.remaining(try #require(emptyAt), at: seconds(60), limit) == 3)
    }

    @Test(
        "a limit is requests and seconds",
        arguments: [("600/60", 600, 60), ("1/3600", 1, 3600), ("1000000/1", 1_000_000, 1)]
    )
    func goodTexts(text: String, requests: Int, seconds: Int) throws {
        #expect(RateLimit(text: text) == (try limit(requests, seconds)))
    }

    @Test(
        "anything else is no limit",
        arguments: [
            "", "/", "600", "600/", "/60", "0/60", "60/0", "-1/60", "+1/60", "1/3601", "1000001/1", "6 /60", "1/2/3",
            "off",
        ]
    )
    func badTexts(text: String) {
        #expect(RateLimit(text: text) == nil)
    }

    @Test("a process remembers a bounded number of names, those that were used last among them")
    func bounded() throws {
        let buckets = LocalBuckets(capacity: 1600)
        let limit = try limit(2, 60)
        let loyal = RateKey(.user, user: UserID(UUID()))
        _ = buckets.add(to: loyal, at: 0, limit)
        for index in 0..<20_000 {
            _ = buckets.add(to: RateKey(.user, user: UserID(UUID())), at: 0, limit)
            // Refused from the second on: its bucket is full and stays known.
            if index % 20 == 0 { _ = buckets.add(to: loyal, at: 0, limit) }
        }
        #expect(buckets.count <= 1600)
        #expect(buckets.count > 400)
        #expect(!buckets.add(to: loyal, at: 0, limit).isAllowed)
    }

    @Test("an address behind IPv6 counts with its network, an IPv4 address alone")
    func networks() throws {
        let key = { (text: String) in RateKey(.address, address: try #require(ClientAddress(text: text))) }
        #expect(try key("2001:db8:1:2::1") == key("2001:db8:1:2:ffff:ffff:ffff:ffff"))
        #expect(try key("2001:db8:1:2::1") != key("2001:db8:1:3::1"))
        #expect(try key("192.0.2.1") != key("192.0.2.2"))
        #expect(try key("192.0.2.1") == key("::ffff:192.0.2.1"))
    }
}
