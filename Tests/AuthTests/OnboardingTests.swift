import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import Sealing
import ServiceTestSupport
import TestSupport
import Testing

@testable import AuthService

@Suite("Onboarding", .serialized)
struct OnboardingTests {
    private let ada = UserID(clerkSubject: "user_ada")

    @Test("a user, a data key and user.created are made in one commit, and the details open with the key")
    func once() async throws {
        try await withAuth { world in
            let answer = try await world.onboard("user_ada", Sample.personal("Ada"))
            #expect(
                answer == OnboardingResponse(userID: self.ada.uuid, username: "ada", status: "onboarding_initiated")
            )
            let said = try await world.said(about: self.ada)
            #expect(said.map(\.type) == ["user.created"])
            let event = try JSONDecoder().decode(UserCreated.self, from: Data(said[0].data.utf8))
            #expect(event.username == "ada" && event.accountType == .known(.personal) && event.kybDetails == nil)
            let key = try await world.vault.open(self.ada, as: self.ada, on: world.requests)
            let kyc = try #require(event.kycDetails)
            #expect(try key.open(kyc, as: KYCDetails.self, field: "kyc_details", of: self.ada) == Sample.person)
            let contact = try #require(event.contactDetails)
            #expect(
                try key.open(contact, as: ContactDetails.self, field: "contact_details", of: self.ada) == Sample.contact
            )
        }
    }

    @Test("a second sign-up is refused and says nothing")
    func twice() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            await #expect(throws: AuthError.alreadyOnboarded) {
                try await world.onboard("user_ada", Sample.personal("ada"))
            }
            await #expect(throws: AuthError.alreadyOnboarded) {
                try await world.onboard("user_ada", Sample.personal("other"))
            }
            #expect(try await world.said(about: self.ada).count == 1)
        }
    }

    @Test("of two users who want one username at once, one gets it and one hears that it is taken")
    func race() async throws {
        try await withAuth { world in
            let outcomes = await self.together(2) { index in
                try await world.onboard("user_\(index)", Sample.personal(index == 0 ? "Wanted" : "wanted"))
            }
            #expect(outcomes.sorted() == ["ok", "\(AuthError.usernameTaken)"].sorted())
            for table in ["users", "data_keys", "outbox"] {
                let rows = try await world.count(table)
                #expect(rows == 1, "\(table)")
            }
        }
    }

    @Test("of two names that look alike only the first is given out")
    func lookalike() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("adal"))
            for name in ["ADAL", "adaI", "ada1"] {
                await #expect(throws: AuthError.usernameTaken) {
                    try await world.onboard("user_other", Sample.personal(name))
                }
            }
            try await world.onboard("user_other", Sample.personal("adah"))
        }
    }

    @Test("the database and the code see the same look-alikes")
    func skeletons() async throws {
        try await withAuth { world in
            let letters = "abcdefghijklmnopqrstuvwxyz0123456789"
            var names = letters.map { "x\($0)y" } + ["rnrn", "rrnn", "vvv", "vvvv", "rnvv", "vrnv", "1rn1", "0i8152"]
            // Every pair of letters, so that joined ones are met on both sides.
            names += letters.map { first in String(letters.flatMap { [first, $0] }.prefix(20)) }
            let sql: SQL = "SELECT n, username_skeleton(n) FROM unnest(\(names)::text[]) AS n"
            for row in try await world.work.client.query(sql) {
                let (name, skeleton) = try row.decode(String.self, String.self)
                #expect(try Username(name).skeleton == skeleton, "\(name)")
            }
        }
    }

    @Test("one user who signs up eight times at once does so once, and is never told the username is taken")
    func doubleClick() async throws {
        try await withAuth { world in
            let outcomes = await self.together(8) { _ in
                try await world.onboard("user_ada", Sample.personal("ada"))
            }
            #expect(outcomes.filter { $0 == "ok" }.count == 1)
            #expect(outcomes.filter { $0 == "\(AuthError.alreadyOnboarded)" }.count == 7)
        }
    }

    private func together(
        _ count: Int,
        _ work: @escaping @Sendable (Int) async throws -> OnboardingResponse
    ) async -> [String] {
        await withTaskGroup(of: String.self) { group in
            for index in 0..<count {
                group.addTask {
                    do {
                        _ = try await work(index)
                        return "ok"
                    } catch {
                        return "\(error)"
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("nothing personal rests in the clear, in no table")
    func sealed() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            let tables = try await world.database.psql(
                "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
            )
            for table in tables {
                let text = try await world.database.psql("SELECT t::text FROM \(table) t").joined(separator: "\n")
                for secret in [Sample.bvn, "Adaeze", "Okonkwo", "1994-02-28", "adaeze@", "8031234567", "Marina"] {
                    #expect(!text.contains(secret), "\(secret) in \(table)")
                }
            }
        }
    }

    @Test("a request sees its own user's rows and nobody else's, and none without a user")
    func rowLevelSecurity() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            try await world.onboard("user_bayo", Sample.personal("bayo"))
            for table in ["users", "data_keys"] {
                let sql = SQL(unsafe: "SELECT count(*) FROM \(table)")
                let own = try await world.requests.client.query(sql, as: self.ada.uuid)
                #expect(try own[0].decode(Int64.self) == 1)
                let none = try await world.requests.client.query(sql)
                #expect(try none[0].decode(Int64.self) == 0)
            }
            await #expect(throws: PostgresError.self) {
                try await world.asUser(self.ada) { transaction in
                    try await world.vault.store(DataKey(), for: UserID(clerkSubject: "user_bayo"), in: transaction)
                }
            }
        }
    }

    @Test("details can be completed later, by the same user only, and travel sealed")
    func details() async throws {
        try await withAuth { world in
            let first = try await world.onboard("user_ada", Sample.personal("ada", contact: nil))
            #expect(first.status == "awaiting_details")
            let provide = ProvideDetails(users: world.users, vault: world.vault, index: try world.index)
            let request = OnboardingDetailsRequest(contactDetails: Sample.contact)
            let today = LagosCalendar.day(of: world.clock.now)
            let answer = try await world.asUser(self.ada) { transaction in
                try await provide(request, user: self.ada, clerkSubject: "user_ada", today: today, in: transaction)
            }
            #expect(answer.status == "onboarding_initiated")
            let said = try await world.said(about: self.ada)
            #expect(said.map(\.type) == ["user.created", "user.details_provided"])
            #expect(said.map(\.sequence) == [1, 2])
            let event = try JSONDecoder().decode(UserDetailsProvided.self, from: Data(said[1].data.utf8))
            let key = try await world.vault.open(self.ada, as: self.ada, on: world.requests)
            let kyc = try #require(event.kycDetails)
            #expect(try key.open(kyc, as: KYCDetails.self, field: "kyc_details", of: self.ada) == Sample.person)
            let stranger = UserID(clerkSubject: "user_bayo")
            await #expect(throws: AuthError.notOnboarded) {
                try await world.asUser(stranger) { transaction in
                    try await provide(request, user: stranger, clerkSubject: "user_bayo", today: today, in: transaction)
                }
            }
        }
    }

    @Test("a verdict counts in the order of its source, and verified details stay as they are")
    func verification() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            try await world.work.transaction(cause: Cause()) { transaction in
                try await world.users.setVerification(self.ada, Open(.approved), sequence: 2, in: transaction)
                try await world.users.setVerification(self.ada, Open(.rejected), sequence: 1, in: transaction)
            }
            #expect(try await world.users.find(self.ada, on: world.requests)?.verification == .known(.approved))
            let provide = ProvideDetails(users: world.users, vault: world.vault, index: try world.index)
            let today = LagosCalendar.day(of: world.clock.now)
            await #expect(throws: AuthError.alreadyVerified) {
                try await world.asUser(self.ada) { transaction in
                    let request = OnboardingDetailsRequest(contactDetails: Sample.contact)
                    return try await provide(
                        request,
                        user: self.ada,
                        clerkSubject: "user_ada",
                        today: today,
                        in: transaction
                    )
                }
            }
        }
    }
}
