import Contracts
import Cryptography
import Foundation
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import ConsoleService
@testable import ServiceKit

/// Knows two users of an organization, one of them an operator.
private struct Organization: TokenVerifier {
    func verify(_ token: String) async throws(APIError) -> Identity {
        guard token != "forged" else { throw .unauthenticated }
        let role = token == "operator" ? "operator" : "member"
        return Identity(
            userID: UserID(clerkSubject: "user_\(token)"),
            clerkSubject: "user_\(token)",
            sessionID: "sess_1",
            organization: token == "loner" ? nil : Identity.Organization(id: "org_1", role: role)
        )
    }
}

@Suite("Signing in to the page")
struct SignInTests {
    private let clock = AdjustableClock()
    private let key = SymmetricKey(size: .bits256)

    private static func entry(_ name: String, _ token: String) -> String {
        "\(name):\(Hex.encode(Array(SHA256.hash(data: Array(token.utf8)))))"
    }

    private func signIn(
        _ entries: [String] = [Self.entry("ada", "one"), Self.entry("bola", "two")],
        hash: KeyedHash? = nil
    ) throws -> SignIn {
        SignIn(
            tokens: try OperatorTokens(entries),
            role: SignIn.Role(verifier: Organization(), organization: .init(id: "org_1", role: "org:operator")),
            lifetime: .seconds(600),
            clock: self.clock,
            hash: hash ?? KeyedHash(self.key)
        )
    }

    @Test("a token opens a session in its owner's name, which lasts until its time is over")
    func lifetime() throws {
        let signIn = try self.signIn()
        let opened = try signIn.withToken("one")
        #expect(opened.session.name == "ada" && opened.session.way == .token)
        self.clock.offset = .seconds(590)
        #expect(signIn.session(in: opened.cookie)?.session == opened.session)
        #expect(signIn.session(in: opened.cookie)?.guardWord == opened.guardWord)
        self.clock.offset = .seconds(601)
        #expect(signIn.session(in: opened.cookie) == nil)
        #expect(throws: SignIn.Refusal.wrongToken) { try signIn.withToken("three") }
        #expect(throws: SignIn.Refusal.wrongToken) { try signIn.withToken("") }
    }

    @Test("a session that was changed, made elsewhere, or whose token was withdrawn is none")
    func forged() throws {
        let signIn = try self.signIn()
        let opened = try signIn.withToken("one")
        let parts = opened.cookie.split(separator: ".").map(String.init)
        for index in parts.indices {
            var changed = parts
            changed[index] = index == 3 ? "9999999999" : changed[index] + "A"
            #expect(signIn.session(in: changed.joined(separator: ".")) == nil, "part \(index)")
        }
        for text in ["", ".", "....", opened.guardWord, String(opened.cookie.dropLast())] {
            #expect(signIn.session(in: text) == nil)
        }
        let elsewhere = SignIn(
            tokens: signIn.tokens,
            role: signIn.role,
            lifetime: signIn.lifetime,
            clock: self.clock,
            hash: KeyedHash(SymmetricKey(size: .bits256))
        )
        #expect(elsewhere.session(in: opened.cookie) == nil)
        #expect(try self.signIn([Self.entry("bola", "two")]).session(in: opened.cookie) == nil)
        #expect(try self.signIn([Self.entry("ada", "new")]).session(in: opened.cookie) == nil)
    }

    @Test("while a token is being replaced both open sessions of one person, and the old one's end with it")
    func replacedToken() throws {
        let both = try self.signIn([Self.entry("ada", "old"), Self.entry("ada", "new")])
        let (old, new) = (try both.withToken("old"), try both.withToken("new"))
        #expect(old.session.name == "ada" && new.session.name == "ada")
        let replaced = try self.signIn([Self.entry("ada", "new")])
        #expect(both.session(in: old.cookie) != nil)
        #expect(replaced.session(in: old.cookie) == nil)
        #expect(replaced.session(in: new.cookie) != nil)
    }

    @Test("while the key is being replaced, sessions and their words hold on every replica, and end when it is gone")
    func replacedKey() throws {
        let (first, second) = (SymmetricKey(size: .bits256), SymmetricKey(size: .bits256))
        let signIn = { (hash: KeyedHash) in try self.signIn(hash: hash) }
        let before = try signIn(KeyedHash(first, others: [second]))
        let after = try signIn(KeyedHash(second, others: [first]))
        for (maker, reader) in [(before, after), (after, before)] {
            let opened = try maker.withToken("one")
            #expect(reader.session(in: opened.cookie)?.session == opened.session)
            #expect(reader.session(in: opened.cookie)?.guardWord == opened.guardWord)
        }
        #expect(try signIn(KeyedHash(second)).session(in: try before.withToken("one").cookie) == nil)
    }

    @Test("a session of the identity provider opens one with the role in our organization alone")
    func organization() async throws {
        let signIn = try self.signIn()
        let opened = try await signIn.withOrganization("operator")
        #expect(opened.session.name == "user_operator" && opened.session.way == .organization)
        #expect(signIn.session(in: opened.cookie)?.session.name == "user_operator")
        let stricter = SignIn(
            tokens: signIn.tokens,
            role: SignIn.Role(verifier: Organization(), organization: .init(id: "org_1", role: "org:admin")),
            lifetime: signIn.lifetime,
            clock: self.clock,
            hash: signIn.hash
        )
        #expect(stricter.session(in: opened.cookie) == nil)
        await #expect(throws: SignIn.Refusal.noOperator) { try await signIn.withOrganization("member") }
        await #expect(throws: SignIn.Refusal.noOperator) { try await signIn.withOrganization("loner") }
        await #expect(throws: APIError.unauthenticated) { try await signIn.withOrganization("forged") }
    }

    @Test(
        "a list of operators with a mistake is refused",
        arguments: [
            ["ada"], ["ada:12"], [":" + String(repeating: "a", count: 64)],
            ["ada:" + String(repeating: "g", count: 64)],
            ["ada:" + String(repeating: "a", count: 64), "bola:" + String(repeating: "A", count: 64)],
            ["ada:" + String(repeating: "a", count: 64), "Ada:" + String(repeating: "b", count: 64)],
            ["Ada:" + String(repeating: "a", count: 64)], ["ada!:" + String(repeating: "a", count: 64)],
        ]
    )
    func malformed(_ entries: [String]) {
        #expect(throws: OperatorTokens.Malformed.self) { try OperatorTokens(entries) }
    }

    @Test("the page's filter of events suggests every kind that there is")
    func kinds() throws {
        let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        let file = folder.appendingPathComponent("../../Services/Console/Page/events.js")
        let text = try String(contentsOf: file, encoding: .utf8)
        let missing = EventCatalogue.all.map(\.type.rawValue).filter { !text.contains("\"\($0)\"") }
        #expect(missing == [])
    }

    @Test("nothing but plain parameters gets through a passage, and a passage is one way to one path")
    func passages() throws {
        let jobs = try #require(Passage.all.first { $0.path == "/ops/jobs/:id/cancel" })
        #expect(jobs.filled { _ in "01932f5e-0000-7000-8000-000000000001" }?.hasSuffix("0001/cancel") == true)
        for text in ["", "..", ".", "a/b", "a%2Fb", "a?b", "a#b", "ä", "a b", String(repeating: "a", count: 129)] {
            #expect(jobs.filled { _ in text } == nil, "\(text)")
        }
        let names = Passage.all.map { "\($0.method) \($0.path)" }
        #expect(Set(names).count == names.count)
    }

    @Test("a service that does not take console's token does not end the session of who asked")
    func refusedByService() throws {
        let answer = InternalAnswer(status: 401, body: [])
        let refusal = #expect(throws: APIError.self) { try answer.passedOn(from: .auth) }
        #expect(refusal == .refused(by: .auth) && refusal?.detail?.hasPrefix("auth ") == true)
        #expect(try InternalAnswer(status: 409, body: [1]).passedOn(from: .auth).body == [1])
    }
}
