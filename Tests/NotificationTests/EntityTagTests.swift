import HTTPTypes
import HummingbirdCore
import NIOCore
import Testing

@testable import NotificationService

@Suite("Entity tags and cursors")
struct EntityTagTests {
    private func request(_ header: String?) -> Request {
        var head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/notifications")
        if let header { head.headerFields[.ifNoneMatch] = header }
        return Request(head: head, body: .init(buffer: ByteBuffer()))
    }

    @Test(
        "a tag is known when it is in the list, weak or not",
        arguments: [
            (#""7""#, true), (#"W/"7""#, true), (#""6", "7""#, true), (#""6",W/"7" "#, true), ("*", true),
            (nil, false), ("", false), (#""77""#, false), (#""6""#, false), ("7", false),
        ]
    )
    func known(header: String?, isKnown: Bool) {
        #expect(EntityTag(revision: 7).isKnown(to: self.request(header)) == isKnown)
    }
}
