import HTTPTypes
import ServiceKit
import Testing

@testable import NotificationService

@Suite("Entity tags")
struct EntityTagTests {
    @Test(
        "a tag is known when it is in the list, weak or not",
        arguments: [
            (#""7""#, true), (#"W/"7""#, true), (#""6", "7""#, true), (#""6",W/"7" "#, true), ("*", true),
            (nil, false), ("", false), (#""77""#, false), (#""6""#, false), ("7", false),
        ]
    )
    func known(header: String?, isKnown: Bool) {
        var headers = HTTPFields()
        headers[.ifNoneMatch] = header
        #expect(EntityTag(revision: 7).isKnown(to: headers) == isKnown)
    }
}
