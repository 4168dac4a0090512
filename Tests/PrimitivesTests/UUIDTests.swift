import Foundation
import Primitives
import Testing

/// A clock that stands where it is put.
private final class StoppedClock: TimeSource, @unchecked Sendable {
    // Sendable: one test on one thread moves it.
    var now: Date
    init(milliseconds: Int64) { self.now = Date(millisecondsSince1970: milliseconds) }
}

@Suite("Ids")
struct UUIDTests {
    @Test("a million ids of one source are different and ascend")
    func orderAndUniqueness() {
        let source = UUIDv7Source()
        var previous = source.next().lowercased
        var wrong = 0
        for _ in 0..<1_000_000 {
            let next = source.next().lowercased
            // Ascending strictly, so no two are equal.
            if next <= previous { wrong += 1 }
            previous = next
        }
        #expect(wrong == 0)
    }

    @Test("ids of several sources and tasks are different")
    func sourcesDoNotCollide() async {
        let shared = UUIDv7Source()
        let all = await withTaskGroup(of: [UUID].self) { group in
            for index in 0..<8 {
                let source = index < 4 ? shared : UUIDv7Source()
                group.addTask { (0..<20_000).map { _ in source.next() } }
            }
            return await group.reduce(into: Set<UUID>()) { $0.formUnion($1) }
        }
        #expect(all.count == 160_000)
    }

    @Test("an id carries version, variant and the milliseconds of its clock")
    func layout() {
        let clock = StoppedClock(milliseconds: 1_795_223_225_123)
        let id = UUIDv7Source(clock: clock).next()
        #expect(id.version == 7)
        #expect(id.bytes[8] & 0xc0 == 0x80)
        #expect(id.version7Milliseconds == 1_795_223_225_123)
        #expect(UUID().version7Milliseconds == nil)
    }

    @Test("ids ascend when the clock stands still or goes back a little, and follow one that was far ahead")
    func clockGoesBack() {
        let clock = StoppedClock(milliseconds: 1_795_223_225_123)
        let source = UUIDv7Source(clock: clock)
        var ids = (0..<10_000).map { _ in source.next().lowercased }
        clock.now = clock.now.addingTimeInterval(-5)
        ids += (0..<10_000).map { _ in source.next().lowercased }
        #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
        clock.now = clock.now.addingTimeInterval(-3600)
        let right = (0..<10_000).map { _ in source.next() }
        #expect(zip(right, right.dropFirst()).allSatisfy { $0.lowercased < $1.lowercased })
        #expect(right[0].version7Milliseconds == clock.now.millisecondsSince1970)
    }

    @Test("random bits differ between ids of the same millisecond")
    func randomness() {
        let source = UUIDv7Source(clock: StoppedClock(milliseconds: 1_795_223_225_123))
        let tails = Set((0..<10_000).map { _ in Array(source.next().bytes.suffix(8)) })
        #expect(tails.count == 10_000)
    }

    @Test(
        "version 5 ids are those of the standard",
        arguments: [
            ("www.example.com", "2ed6657d-e927-568b-95e1-2665a8aea6a2"),
            ("python.org", "886313e1-3b8a-5372-9b90-0c9aee199e5d"),
        ]
    )
    func version5(_ name: String, _ expected: String) throws {
        let dns = try #require(UUID(uuidString: "6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
        #expect(UUID.v5(namespace: dns, name: name).lowercased == expected)
    }

    @Test("the text form is Foundation's in lower case and reads back, a thousand times")
    func text() {
        for _ in 0..<1000 {
            let id = UUID()
            #expect(id.lowercased == id.uuidString.lowercased())
            #expect(UUID(text: id.lowercased) == id)
            #expect(UUID(text: id.uuidString) == id)
            #expect(UUID(bytes: id.bytes) == id)
        }
    }

    @Test(
        "other text is no id",
        arguments: [
            "", "2ed6657d-e927-568b-95e1-2665a8aea6a", "2ed6657d-e927-568b-95e1-2665a8aea6a22",
            "2ed6657de927-568b-95e1-2665a8aea6a2-", "2ed6657d-e927-568b-95e1-2665a8aea6ag",
            "{2ed6657d-e927-568b-95e1-2665a8aea6a2}", "2ed6657de927568b95e12665a8aea6a2",
            " 2ed6657d-e927-568b-95e1-2665a8aea6a2",
        ]
    )
    func notAnID(_ text: String) {
        #expect(UUID(text: text) == nil)
    }

    @Test("a user id is fixed for a subject, and its JSON is lower-case text")
    func userID() throws {
        let user = UserID(clerkSubject: "user_2abc")
        // Pinned: another value would orphan every account.
        #expect(user.description == "958c7d6e-16f4-5933-b869-280166facbef")
        #expect(user != UserID(clerkSubject: "user_2abd"))
        let json = try JSONEncoder().encode([user])
        #expect(String(decoding: json, as: UTF8.self) == "[\"\(user)\"]")
        #expect(try JSONDecoder().decode([UserID].self, from: json) == [user])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([UserID].self, from: Data(#"["x"]"#.utf8)) }
    }
}
