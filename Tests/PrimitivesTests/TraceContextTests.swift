import Primitives
import Testing

@Suite("W3C trace context")
struct TraceContextTests {
    private static let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test("what is parsed is written the same")
    func roundTrip() {
        #expect(TraceContext.parse(Self.text)?.text == Self.text)
        #expect(TraceContext.parse(TraceContext.root().text) != nil)
    }

    @Test("a child keeps trace and flags and has another span")
    func child() throws {
        let parent = try #require(TraceContext.parse(Self.text))
        let child = parent.child()
        #expect(child.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(child.span != parent.span)
        #expect(child.flags == 1)
    }

    @Test("a later version may append, version 00 may not")
    func versions() {
        #expect(TraceContext.parse("cc" + Self.text.dropFirst(2) + "-what") != nil)
        #expect(TraceContext.parse(Self.text + "-what") == nil)
    }

    @Test(
        "what the standard forbids is no trace",
        arguments: [
            "", "00", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
        ]
    )
    func forbidden(text: String) {
        #expect(TraceContext.parse(text) == nil)
    }
}
