import HTTPTypes
import Primitives
import ServiceKit
import Testing

@testable import NotificationService

@Suite("Entity tags")
struct EntityTagTests {
    private static let ada = UserID(clerkSubject: "user_ada")

    @Test("a tag is known when it is in the list, weak or not")
    func known() {
        let tag = EntityTag(revision: 7, of: Self.ada)
        let other = EntityTag(revision: 6, of: Self.ada)
        for (header, isKnown) in [
            (tag.text, true), ("W/" + tag.text, true), ("\(other.text), \(tag.text)", true),
            ("\(other.text),W/\(tag.text) ", true), ("*", true), (nil, false), ("", false), (other.text, false),
            (#""7""#, false), (String(tag.text.dropFirst().dropLast()), false),
        ] as [(String?, Bool)] {
            var headers = HTTPFields()
            headers[.ifNoneMatch] = header
            #expect(tag.isKnown(to: headers) == isKnown, "\(header ?? "none")")
        }
    }

    @Test("the tag of an inbox is the same while it stands, and never that of another person's at the same revision")
    func ofOnePerson() {
        let bola = UserID(clerkSubject: "user_bola")
        #expect(EntityTag(revision: 4, of: Self.ada).text == EntityTag(revision: 4, of: Self.ada).text)
        var tags: Set<String> = []
        for user in [Self.ada, bola] {
            for revision in Int64(0)...50 { tags.insert(EntityTag(revision: revision, of: user).text) }
        }
        #expect(tags.count == 102)
        #expect(tags.allSatisfy { $0.wholeMatch(of: /"[A-Za-z0-9_-]{16}"/) != nil })
    }
}
