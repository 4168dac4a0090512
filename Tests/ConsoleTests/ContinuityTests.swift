import Testing

@testable import ConsoleService

@Suite("Whether the log is whole")
struct ContinuityTests {
    private static func first(_ offset: UInt64, _ body: String = "x", opens: Bool = false) -> StreamContinuity.First {
        .init(place: StreamPlace(offset: offset, body: Array(body.utf8)), opensSubscription: opens)
    }

    private static func verdict(
        _ beginning: StreamContinuity.Beginning,
        _ offset: UInt64,
        _ body: String = "x"
    ) -> StreamContinuity.Verdict {
        var continuity = StreamContinuity(beginning)
        return continuity.judge(self.first(offset, body, opens: true), count: 1)
    }

    private static let anchor = StreamContinuity.Beginning.after(StreamPlace(offset: 10, body: Array("x".utf8)))

    @Test("reading begins well with the first entry, or with the anchor, which is not stored again")
    func good() {
        #expect(Self.verdict(.never, 0) == .take(skipping: 0))
        #expect(Self.verdict(.anew, 7) == .take(skipping: 0))
        #expect(Self.verdict(Self.anchor, 10) == .take(skipping: 1))
        #expect(Self.verdict(Self.anchor, 11) == .take(skipping: 0))
    }

    @Test("what is gone before it was read is a gap, from the very first entry on")
    func gaps() {
        #expect(Self.verdict(.never, 50) == .takeAfterGap(0..<50, .beganLate))
        #expect(Self.verdict(Self.anchor, 50) == .takeAfterGap(11..<50, .truncated))
        var continuity = StreamContinuity(.never)
        #expect(continuity.judge(Self.first(0, opens: true), count: 3) == .take(skipping: 0))
        #expect(continuity.judge(Self.first(50), count: 1) == .takeAfterGap(3..<50, .truncated))
        #expect(continuity.judge(Self.first(51), count: 1) == .take(skipping: 0))
    }

    @Test("other bytes in the anchor's place, or an end before it, are another log")
    func anew() {
        #expect(Self.verdict(Self.anchor, 10, "y") == .beginAnew)
        #expect(Self.verdict(Self.anchor, 9) == .beginAnew)
        #expect(Self.verdict(Self.anchor, 0) == .beginAnew)
    }

    @Test("a few offsets that the broker took for itself are no gap")
    func smallHoles() {
        #expect(Self.verdict(.never, 1) == .take(skipping: 0))
        #expect(Self.verdict(Self.anchor, 12) == .take(skipping: 0))
        var continuity = StreamContinuity(.never)
        #expect(continuity.judge(Self.first(0, opens: true), count: 3) == .take(skipping: 0))
        #expect(continuity.judge(Self.first(4), count: 1) == .take(skipping: 0))
    }

    @Test("batches follow each other; a repetition or a new subscription is looked at again")
    func following() {
        var continuity = StreamContinuity(.never)
        #expect(continuity.judge(Self.first(0, opens: true), count: 3) == .take(skipping: 0))
        #expect(continuity.judge(Self.first(3), count: 1) == .take(skipping: 0))
        #expect(continuity.judge(Self.first(4), count: 2) == .take(skipping: 0))
        for next in [Self.first(5), Self.first(0), Self.first(6, opens: true)] {
            var copy = continuity
            #expect(copy.judge(next, count: 1) == .reanchor)
        }
    }
}
