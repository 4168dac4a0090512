import Contracts
import EventLoops
import Foundation
import Primitives
import TestSupport
import Testing

extension Faults {
    /// Owners forbid something, and transaction cannot hear of it yet.
    @Suite struct BrokerOutageTests {
        @Test("what is forbidden while the broker is down does not leave when it is back")
        func forbidden() async throws {
            let suite = try RunningSuite.current
            try await suite.letSmallSumsTakeSlots()
            let story = try await ForbiddenPayments(on: suite)
            // From here all that transaction knows is old.
            let stale = try await suite.secondsUntilStale()
            try await suite.withoutBroker {
                try await suite.setClocks(stale)
                try await story.pay()
                try await story.awaitHeld()
                try await story.forbid()
                // What was said before the orders is old too, when it arrives.
                try await suite.setClocks(stale + 60)
                #expect(try await story.takenByProvider() == [:])
            }
            try await story.awaitEnds()
            try await story.check()
            try await suite.setClocks(0)
        }
    }
}

/// Five payments that are accepted while the broker is down, and what their owners then say.
private final class ForbiddenPayments: Sendable {
    enum Case: String, CaseIterable {
        /// Nothing is forbidden: it leaves.
        case fine
        /// The recipient deletes the bank account it would go to.
        case beneficiaryGone
        /// The sender may no longer send.
        case senderRestricted
        /// The device that approved it is revoked.
        case deviceRevoked
        /// The recipient is frozen.
        case recipientFrozen
    }

    private static let funding: Int64 = 50_000

    let suite: RunningSuite
    private let payers: [Case: Person]
    private let payees: [Case: Person]
    private let beneficiary: UUID
    private let counterparty: String
    private let payments = Locked<[Case: UUID]>([:])

    init(on suite: RunningSuite) async throws {
        self.suite = suite
        (self.payers, self.payees) = try await withThrowingTaskGroup(of: (Case, Person, Person).self) { group in
            for one in Case.allCases {
                group.addTask {
                    let payer = try await suite.person("payer", funding: Self.funding)
                    let payee = try await suite.person("payee")
                    try await suite.addBankAccount(of: payee)
                    return (one, payer, payee)
                }
            }
            return try await group.reduce(into: ([:], [:])) {
                $0.0[$1.0] = $1.1
                $0.1[$1.0] = $1.2
            }
        }
        let id = try Self.of(.beneficiaryGone, self.payees).id
        let found = try await suite.rows(
            "transaction",
            "SELECT id, counterparty_id FROM default_beneficiary('\(id)')"
        )
        let parts = found.first?.split(separator: "|").map(String.init) ?? []
        guard parts.count == 2, let beneficiary = UUID(uuidString: parts[0]) else { throw TestFailure("\(found)") }
        self.beneficiary = beneficiary
        self.counterparty = parts[1]
    }

    private static func of(_ one: Case, _ people: [Case: Person]) throws -> Person {
        guard let person = people[one] else { throw TestFailure("nobody for \(one)") }
        return person
    }

    // MARK: Story

    /// All are accepted.
    func pay() async throws {
        for one in Case.allCases {
            let id = try await self.suite.pay(
                from: Self.of(one, self.payers),
                to: Self.of(one, self.payees),
                1000
            )
            self.payments.withLock { $0[one] = id }
        }
    }

    private var keys: String {
        self.payments.withLock { $0.values.map { "'\($0.lowercased)'" }.joined(separator: ",") }
    }

    /// Until a worker has looked at each and found that what it knows is too old.
    func awaitHeld() async throws {
        let held = """
            SELECT count(*) FROM jobs JOIN transfers t ON t.id::text = key WHERE kind = 'submit_transfer'
                AND key IN (\(self.keys)) AND last_error = 'read_model_stale' AND t.state = 'accepted'
            """
        try await eventually("all to be held", within: .seconds(20), every: .milliseconds(100)) {
            try await self.suite.number(held) == Case.allCases.count
        }
    }

    /// The services that own them are told, and cannot tell anybody.
    func forbid() async throws {
        let payee = try Self.of(.beneficiaryGone, self.payees)
        let path = "/beneficiaries/\(self.beneficiary.lowercased)"
        try self.expect(204, await self.suite.call("DELETE", .customer, path, as: payee.subject))
        let revoked = try Self.of(.deviceRevoked, self.payers)
        let device = "/devices/\(revoked.device.lowercased)"
        try self.expect(204, await self.suite.call("DELETE", .auth, device, as: revoked.subject))
        try await self.restrict(Self.of(.senderRestricted, self.payers), "post_no_debit")
        try await self.restrict(Self.of(.recipientFrozen, self.payees), "frozen")
    }

    private func restrict(_ person: Person, _ restriction: String) async throws {
        let body = #"{"restriction":"\#(restriction)","reason":"test"}"#
        let path = "/internal/users/\(person.id.lowercased)/restriction"
        try self.expect(204, await self.suite.operate("PUT", "customer", path, body))
    }

    private func expect(_ status: Int, _ reply: Reply) throws {
        guard reply.status == status else { throw TestFailure("answered \(reply.status) \(reply.text)") }
    }

    // MARK: Ends

    /// What the provider took, by case.
    func takenByProvider() async throws -> [Case: [String]] {
        var taken: [Case: [String]] = [:]
        for (one, id) in self.payments.withLock({ $0 }) {
            let kinds = try await self.suite.takenByProvider(id)
            if !kinds.isEmpty { taken[one] = kinds }
        }
        return taken
    }

    func awaitEnds() async throws {
        let open = "SELECT count(*) FROM transfers WHERE id IN (\(self.keys)) AND ended_at IS NULL"
        try await eventually("all to end", within: .seconds(60), every: .milliseconds(200)) {
            try await self.suite.number(open) == 0
        }
    }

    func check() async throws {
        #expect(
            try await self.takenByProvider() == [.fine: ["NIP_TRANSFER"], .beneficiaryGone: ["BOOK_TRANSFER"]]
        )
        #expect(try await self.transfersToDeletedAccount() == 0)
        let wanted: [Case: String] = [
            .fine: "completed|external|free_slot|",
            .beneficiaryGone: "completed|internal|beneficiary_gone|",
            .senderRestricted: "failed|external|free_slot|sender_restricted",
            .deviceRevoked: "failed|external|free_slot|device_revoked",
            .recipientFrozen: "failed|external|free_slot|recipient_unavailable",
        ]
        for (one, id) in self.payments.withLock({ $0 }) {
            let sql = "SELECT state, route, route_reason, failure_reason FROM transfers WHERE id = '\(id)'"
            #expect(try await self.suite.rows("transaction", sql) == [wanted[one]])
            try await self.checkGivenBack(one)
        }
        #expect(try await self.suite.brokenInvariants() == [])
    }

    /// Money, limits, first-day cap and free slot are as if a payment that did not leave had never been.
    private func checkGivenBack(_ one: Case) async throws {
        let payer = try Self.of(one, self.payers)
        let payee = try Self.of(one, self.payees)
        let hasLeft = one == .fine || one == .beneficiaryGone
        let sent: Int64 = hasLeft ? 1000 : 0
        let wallet = try await self.suite.wallet(payer)
        #expect(wallet.posted == Self.funding - sent && wallet.held == 0 && wallet.available == wallet.posted)
        let counters = """
            SELECT s.day_total, s.month_total, d.first_day_total FROM spending_counters s, devices d
            WHERE s.user_id = '\(payer.id)' AND d.id = '\(payer.device)'
            """
        #expect(try await self.suite.rows("transaction", counters) == ["\(sent)|\(sent)|\(sent)"])
        let slots = "SELECT slots_used FROM receiving_counters WHERE user_id = '\(payee.id)'"
        #expect(try await self.suite.number(slots) == (one == .fine ? 1 : 0))
    }

    private struct Log: Decodable {
        struct Entry: Decodable {
            let destination: String?
        }

        let entries: [Entry]
        let next: Int
        let total: Int
    }

    /// From the provider's own log, whatever the reference.
    private func transfersToDeletedAccount() async throws -> Int {
        var found = 0
        var position = 0
        while true {
            let path = "/sandbox/log?type=transfer_accepted&limit=1000&after=\(position)"
            let page = try await self.suite.sandbox("GET", path).decode(Log.self)
            found += page.entries.count { $0.destination == self.counterparty }
            guard page.next > position, page.next < page.total else { return found }
            position = page.next
        }
    }
}

extension RunningSuite {
    /// How far the clocks must move until nothing that was heard so far is fresh, wherever earlier tests had moved them.
    fileprivate func secondsUntilStale() async throws -> Int {
        let ahead = """
            SELECT greatest(0, ceil(extract(epoch FROM max(beat_at) - clock_timestamp())))::bigint FROM source_heartbeats
            """
        return try await self.number(ahead) + 60
    }

    /// Runs `body` with the broker killed, and starts it again.
    fileprivate func withoutBroker(_ body: () async throws -> Void) async throws {
        try await self.control.kill(.rabbitmq)
        do {
            try await body()
        } catch {
            try await self.control.start(.rabbitmq)
            throw error
        }
        try await self.control.start(.rabbitmq)
    }
}
