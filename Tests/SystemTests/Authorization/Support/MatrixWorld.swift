import Contracts
import Foundation
import Primitives
import TestSupport

/// The people of the authorization matrix.
struct MatrixWorld: Sendable {
    let suite: RunningSuite
    /// Pays the others, asks them, is asked by them, and has a drop for them.
    let partner: Person
    let stranger: Person
    let owner: Belongings
    let merchant: Belongings
    let frozen: Belongings
    let closed: Belongings
    /// Who is blocked by the owner, and whom everybody blocks.
    let nuisance: Person
    private let applications: [Asker: Application]
    /// A drop of the partner that others may claim.
    let partnersDrop: UUID
    /// Clerk's name of somebody who has not signed up yet, and what they sign up with.
    let newcomer: String
    let run: String

    private static let funding: Int64 = 500_000

    /// Signs everybody up, gives them what they own, and then takes from the merchant and the frozen person what they
    /// may not do any more.
    static func make(_ suite: RunningSuite) async throws -> MatrixWorld {
        let run = String(Int.random(in: 1_000_000...9_999_999))
        // First: meanwhile the provider wants documents of every shop.
        let applications = try await Self.applications(suite)
        let partner = try await suite.person("partner", funding: Self.funding)
        async let nuisance = suite.person("nuisance")
        async let stranger = suite.person("stranger", funding: Self.funding)
        async let owner = Self.somebody("owner", with: partner, suite)
        async let frozen = Self.somebody("frozen", with: partner, suite)
        async let closed = Self.somebody("closed", with: partner, suite)
        async let merchant = Self.merchant(with: partner, suite)
        let drop = MoneyDropRequest(
            amountPerClaim: 100,
            slots: 5,
            expiresAt: Timestamp.text(Date().addingTimeInterval(86_400))
        )
        let world = MatrixWorld(
            suite: suite,
            partner: partner,
            stranger: try await stranger,
            owner: try await owner,
            merchant: try await merchant,
            frozen: try await frozen,
            closed: try await closed,
            nuisance: try await nuisance,
            applications: applications,
            partnersDrop: try await suite.drop(by: partner, drop).moneyDropID,
            newcomer: "user_system_newcomer_\(run)",
            run: run
        )
        for person in [world.owner.person, world.merchant.person, world.stranger] {
            try await suite.givePlan(to: person)
        }
        try await suite.block(world.nuisance, by: world.owner.person)
        try await suite.receiveOnly(world.merchant.person)
        try await suite.restrict(world.frozen.person, to: "frozen")
        try await suite.close(world.closed.person)
        return world
    }

    /// Sign-ups that wait for documents, of an owner, of a merchant that receives only, of somebody frozen and of somebody
    /// closed.
    private static func applications(_ suite: RunningSuite) async throws -> [Asker: Application] {
        var applications: [Asker: Application] = [:]
        for asker in [Asker.owner, .merchant, .frozen, .closed] { applications[asker] = try await suite.application() }
        if let merchant = applications[.merchant] { try await suite.receiveOnly(merchant) }
        if let frozen = applications[.frozen] {
            try await suite.orderRestriction("frozen", of: UserID(clerkSubject: frozen.subject).uuid)
        }
        if let closed = applications[.closed] {
            try await suite.orderRestriction("closed", of: UserID(clerkSubject: closed.subject).uuid)
        }
        return applications
    }

    private static func somebody(
        _ name: String,
        with partner: Person,
        _ suite: RunningSuite
    ) async throws -> Belongings {
        try await suite.belongings(of: suite.person(name, funding: Self.funding), with: partner)
    }

    private static func merchant(with partner: Person, _ suite: RunningSuite) async throws -> Belongings {
        let merchant = try await suite.merchant("merchant")
        try await suite.fund(merchant, Self.funding)
        return try await suite.belongings(of: merchant, with: partner)
    }

    /// Who signs what an asker approves, and in whose name the asker's token is.
    func person(_ asker: Asker) -> Person {
        switch asker {
        case .nobody, .owner: self.owner.person
        case .stranger: self.stranger
        case .merchant: self.merchant.person
        case .frozen: self.frozen.person
        case .closed: self.closed.person
        }
    }

    /// What the asker asks about: a stranger, and nobody, about what is the owner's.
    func belongings(_ asker: Asker) -> Belongings {
        switch asker {
        case .nobody, .owner, .stranger: self.owner
        case .merchant: self.merchant
        case .frozen: self.frozen
        case .closed: self.closed
        }
    }

    /// The sign-up that the asker asks about.
    func application(_ asker: Asker) throws -> Application {
        let owner = [.nobody, .stranger].contains(asker) ? .owner : asker
        guard let application = self.applications[owner] else { throw TestFailure("\(asker) has no sign-up") }
        return application
    }

    /// What others must not see of the owner.
    var marks: OwnersMarks {
        let owner = self.owner.person
        let digits = owner.username.suffix(7)
        return OwnersMarks(
            secret: [owner.accountNumber, "221\(digits)7", "000\(digits)1", "00\(digits)7", "@example.com"],
            recognisable: [owner.username, self.nuisance.username] + self.owner.ids.map(\.lowercased)
                + [self.applications[.owner]?.document.lowercased].compactMap { $0 }
        )
    }
}

extension RunningSuite {
    /// Gives a person a plan for a month, and waits until more than one bank account is allowed.
    fileprivate func givePlan(to person: Person) async throws {
        let until = Timestamp.text(Date().addingTimeInterval(30 * 86_400))
        let order = #"{"user_id":"\#(person.id.lowercased)","plan":"plus","until":"\#(until)","reason":"a_test"}"#
        let given = try await self.operate("POST", "subscription", "/internal/subscriptions/activate", order)
        guard given.status == 200 else { throw TestFailure("the plan was answered \(given.text)") }
        let sql = "SELECT count(*) FROM users WHERE id = '\(person.id)' AND plan_until > transfa_now()"
        try await eventually("customer to know of the plan", within: .seconds(20), every: .milliseconds(50)) {
            try await self.number(sql, of: "customer") == 1
        }
    }

    /// Has somebody blocked.
    fileprivate func block(_ nuisance: Person, by person: Person) async throws {
        let path = "/users/\(nuisance.username)/block"
        let blocked = try await self.call("PUT", .customer, path, as: person.subject)
        guard blocked.status == 204 else { throw TestFailure("the block was answered \(blocked.text)") }
    }

    /// Restricts a person, as an operator does.
    fileprivate func restrict(_ person: Person, to restriction: String) async throws {
        try await self.orderRestriction(restriction, of: person.id)
        try await self.transaction(knows: "status = '\(restriction)'", of: person)
    }

    /// Closes a profile, as an operator does, and waits until everybody who has to know does.
    fileprivate func close(_ person: Person) async throws {
        try await self.orderRestriction("closed", of: person.id)
        try await self.transaction(knows: "status = 'closed'", of: person)
        let closed = [
            ("auth", "users WHERE closed_at IS NOT NULL AND id"),
            ("notification", "users WHERE closed_at IS NOT NULL AND id"),
            ("subscription", "closed_profiles WHERE user_id"),
        ]
        for (service, rows) in closed {
            let sql = "SELECT count(*) FROM \(rows) = '\(person.id)'"
            try await eventually("\(service) to know", within: .seconds(20), every: .milliseconds(50)) {
                try await self.number(sql, of: service) == 1
            }
        }
        // What was open ends with the profile; that is what the columns say of it.
        let image = "SELECT count(*) FROM payment_requests WHERE owner_id = '\(person.id)' AND state = 'open'"
        try await eventually("the requests to end", within: .seconds(20), every: .milliseconds(50)) {
            try await self.number(image) == 0
        }
    }

    private func transaction(knows condition: String, of person: Person) async throws {
        let sql = "SELECT count(*) FROM users WHERE id = '\(person.id)' AND \(condition)"
        try await eventually("transaction to know", within: .seconds(20), every: .milliseconds(50)) {
            try await self.number(sql) == 1
        }
    }
}
