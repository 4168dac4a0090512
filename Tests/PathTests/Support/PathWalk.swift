import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport

@testable import TransactionService

/// One way that money goes: who pays whom, and what was there before.
final class PathWalk {
    let ledger: PathLedger
    let followers: Followers
    let payer: UserID
    let payee: UserID
    let payerName: String
    let payeeName: String
    /// The transfer that the way is about, once there is one.
    var transfer: UUID?
    /// The drop or the request that follows it.
    var drop: UUID?
    var request: UUID?
    /// The accounts whose books are compared at the end.
    var accounts: [(name: String, user: UserID?)] = []
    private var before: [String: Sight] = [:]

    init(_ ledger: PathLedger, _ followers: Followers, number: Int) {
        self.ledger = ledger
        self.followers = followers
        self.payer = UserID(clerkSubject: "user_payer_\(number)")
        self.payee = UserID(clerkSubject: "user_payee_\(number)")
        self.payerName = "payer\(number)"
        self.payeeName = "payee\(number)"
    }

    var payerAccount: String { "\(self.payerName)-account" }
    var payeeAccount: String { "\(self.payeeName)-account" }

    /// The two join; the payer has money.
    func begins() async throws {
        try await self.ledger.joins(self.payer, self.payerName)
        try await self.ledger.joins(self.payee, self.payeeName)
        _ = try await self.ledger.funds(self.payerAccount, 200_000)
        self.accounts = [(self.payerAccount, self.payer), (self.payeeAccount, self.payee), (PathLedger.pool, nil)]
    }

    /// From here on it counts: what was before is how it was.
    func from() async throws {
        try await self.followers.hear(self.ledger)
        self.before = try await self.sees()
    }

    /// What is otherwise now, by place.
    func changes() async throws -> [String: String] {
        try await self.followers.hear(self.ledger)
        let after = try await self.sees()
        return after.reduce(into: [:]) { words, seen in
            words[seen.key] = seen.value.since(self.before[seen.key] ?? .kobo(0))
        }
    }

    private func sees() async throws -> [String: Sight] {
        var sights: [String: Sight] = [:]
        for place in Place.all { sights[place.name] = try await place.look(self) }
        return sights
    }
}

/// What is seen at a place.
enum Sight {
    /// An amount or a number: what counts is by how much it has changed.
    case kobo(Int64)
    /// Named numbers: what counts is by how much each has changed.
    case numbers([String: Int64])
    /// A state: what counts is which one it is now, if it is another.
    case state(String)
    /// A list that grows: what counts is what was added, and `x now y` of what has changed.
    case list([String])
    /// What must be so, whatever was before.
    case fact(String)

    func since(_ before: Sight) -> String {
        switch (before, self) {
        case (.kobo(let old), .kobo(let new)): new == old ? "-" : new > old ? "+\(new - old)" : "\(new - old)"
        case (.numbers(let old), .numbers(let new)): Self.moved(old, new)
        case (.state(let old), .state(let new)): new == old ? "-" : new
        case (.list(let old), .list(let new)): Self.added(old, new)
        case (_, .fact(let word)): word
        default: "?"
        }
    }

    private static func moved(_ old: [String: Int64], _ new: [String: Int64]) -> String {
        let words = Set(old.keys).union(new.keys).sorted().compactMap { name -> String? in
            let moved = new[name, default: 0] - old[name, default: 0]
            return moved == 0 ? nil : "\(name) \(moved > 0 ? "+" : "")\(moved)"
        }
        return words.isEmpty ? "-" : words.joined(separator: ", ")
    }

    private static func added(_ old: [String], _ new: [String]) -> String {
        var rest = old
        let added = new.filter { line in
            guard let place = rest.firstIndex(of: line) else { return true }
            rest.remove(at: place)
            return false
        }
        let words = added + rest.map { "no longer \($0)" }
        return words.isEmpty ? "-" : words.joined(separator: ", ")
    }
}

/// The services that hear what the ledger says.
final class Followers {
    let analytics: AnalyticsFollower
    let customer: CustomerFollower
    let notification: NotificationFollower
    private var heard: Int64 = 0

    init(_ analytics: AnalyticsFollower, _ customer: CustomerFollower, _ notification: NotificationFollower) {
        self.analytics = analytics
        self.customer = customer
        self.notification = notification
    }

    /// Everything that was said since the last time.
    func hear(_ ledger: PathLedger) async throws {
        let rows = try await ledger.work.client.query(
            "SELECT position, id, type, subject, sequence, data FROM outbox WHERE position > \(self.heard) ORDER BY position"
        )
        for row in rows {
            let (position, id, type, subject, sequence, data) =
                try row.decode(Int64.self, UUID.self, String.self, String.self, Int64.self, String.self)
            let kind = EventType(rawValue: type)
            try await self.analytics.follows(kind, data, about: subject, sequence, id: id)
            try await self.customer.follows(kind, data, about: subject, sequence, id: id)
            try await self.notification.follows(kind, data, about: subject, sequence, id: id)
            self.heard = position
        }
    }
}
