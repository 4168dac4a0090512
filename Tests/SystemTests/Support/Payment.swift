import Contracts
import EventLoops
import Foundation
import Primitives
import Sealing
import TestSupport

/// A payment to ask for, under a key and with an approval of its own.
struct PaymentOrder: Sendable {
    static let path = "/transactions/p2p"

    let payer: Person
    var key = "system-\(UUID().lowercased)"
    var body: [UInt8]
    /// The value of the approval header, or nothing.
    var approval: String?

    /// A payment approved by the payer's phone.
    init(from payer: Person, to payee: String, _ amount: Int64) throws {
        self.payer = payer
        self.body = try RunningSuite.json(P2PRequest(recipientUsername: payee, amount: amount, description: "Lunch"))
        self.approval = try Self.approve(self.body, by: payer)
    }

    /// A payment with any body, approved by the payer's phone.
    init(from payer: Person, body: [UInt8]) throws {
        self.payer = payer
        self.body = body
        self.approval = try Self.approve(body, by: payer)
    }

    /// Signs a body with the phone of a person, whose clock agrees with those of the services.
    static func approve(
        _ body: [UInt8],
        by person: Person,
        method: String = "POST",
        path: String = Self.path
    ) throws -> String {
        let offset = try RunningSuite.current.clockOffset.withLock { $0 }
        let text = ApprovalText(
            method: method,
            path: path,
            body: body,
            nonce: UUID(),
            timestamp: Int64(Date().timeIntervalSince1970) + Int64(offset),
            user: person.id
        )
        let approval = DeviceApproval(
            device: person.device,
            nonce: text.nonce,
            timestamp: text.timestamp,
            signature: try person.key.sign(text)
        )
        return ApprovalHeader.device(approval).value
    }
}

extension RunningSuite {
    /// Asks for a payment, of the suite's own process or of a replica.
    func pay(_ order: PaymentOrder, at replica: Replica? = nil) async throws -> Reply {
        let token = try await self.token(of: order.payer.subject)
        var headers = ["Idempotency-Key": order.key, "Authorization": "Bearer \(token)"]
        headers[ApprovalHeader.name] = order.approval
        let address = replica?.url ?? self.environment.publicURL("transaction")
        return try await self.send("POST", address + PaymentOrder.path, headers: headers, body: order.body)
    }

    /// Asks for a payment that is accepted, and gives its id.
    func pay(from payer: Person, to payee: Person, _ amount: Int64) async throws -> UUID {
        let answer = try await self.pay(PaymentOrder(from: payer, to: payee.username, amount))
        guard answer.status == 202 else {
            throw TestFailure("the payment was answered \(answer.status) \(answer.text)")
        }
        return try answer.decode(P2PResponse.self).transactionID
    }

    /// Asks for all of them, up to 200 at once; with replicas each is asked in turn, beginning with the suite's own process.
    ///
    /// The answers are in the order of the orders.
    func payAtOnce(_ orders: [PaymentOrder], at replicas: [Replica] = []) async throws -> [Reply] {
        // Once beforehand, so that the sandbox is not asked for as many tokens.
        for subject in Set(orders.map(\.payer.subject)) { _ = try await self.token(of: subject) }
        let targets = [nil] + replicas
        return try await withThrowingTaskGroup(of: (Int, Reply).self) { group in
            var answers: [(Int, Reply)] = []
            for (index, order) in orders.enumerated() {
                // No more than there are connections: the client's own queue gives up after a while.
                if index >= 200, let answer = try await group.next() { answers.append(answer) }
                group.addTask { (index, try await self.pay(order, at: targets[index % targets.count])) }
            }
            return try await group.reduce(into: answers) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// The state of a transfer.
    func state(_ transfer: UUID) async throws -> String {
        try await self.rows("transaction", "SELECT state FROM transfers WHERE id = '\(transfer)'").first ?? "none"
    }

    /// Waits until a transfer is in a state.
    func await(_ transfer: UUID, _ state: String, within limit: Duration = .seconds(20)) async throws {
        try await eventually("transfer to be \(state)", within: limit, every: .milliseconds(100)) {
            let found = try await self.state(transfer)
            guard found == state else { throw TestFailure("it is \(found)") }
            return true
        }
    }

    /// How many transfers of somebody have not ended.
    func openTransfers(of person: Person) async throws -> Int {
        try await self.number(
            "SELECT count(*) FROM transfers WHERE sender_id = '\(person.id)'"
                + " AND state NOT IN ('completed', 'failed', 'reversed')"
        )
    }

    private struct Accepted: Decodable {
        struct Transfer: Decodable {
            let type: String
        }

        let transfers: [Transfer]
    }

    /// The kinds of the transfers that the provider took under the reference of one of ours.
    func takenByProvider(_ transfer: UUID) async throws -> [String] {
        try await self.sandbox("GET", "/sandbox/references/trf-\(transfer.lowercased)").decode(Accepted.self).transfers
            .map(\.type)
    }

    /// How many transfers the provider took under the reference of one of ours.
    func acceptedByProvider(_ transfer: UUID) async throws -> Int {
        try await self.takenByProvider(transfer).count
    }

    // MARK: Time

    /// Moves the clocks of all services and of their databases.
    func setClocks(_ offset: Int) async throws {
        for name in SuiteEnvironment.names {
            let answer = try await self.operate("PUT", name, "/internal/ops/clock", #"{"offset_seconds":\#(offset)}"#)
            guard answer.status == 200 else { throw TestFailure("the clock of \(name): \(answer.status)") }
        }
        self.clockOffset.withLock { $0 = offset }
        // Those that were good a moment ago have expired, or are from the future.
        self.tokens.withLock { $0.removeAll() }
    }

    /// Lets time pass in leaps until `done`, then sets the clocks right again.
    ///
    /// For what the services only do after minutes, such as taking over the job of a dead process.
    func leap(_ what: String, _ done: () async throws -> Bool) async throws {
        for leap in 1...8 {
            try await self.setClocks(leap * 600)
            let isDone = try? await eventually(what, within: .seconds(3), every: .milliseconds(100)) {
                try await done() ? true : nil
            }
            if isDone == true {
                return try await self.setClocks(0)
            }
        }
        try await self.setClocks(0)
        throw TestFailure("after many leaps in time still waiting for \(what)")
    }
}
