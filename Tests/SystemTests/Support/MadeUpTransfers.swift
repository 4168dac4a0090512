import Contracts
import Foundation
import Primitives

/// Many transfers that never were, told of by events, and what they come to.
struct MadeUpTransfers {
    /// What moved for a user on a day.
    struct Totals: Equatable {
        var inWallet: Int64 = 0
        var inBank: Int64 = 0
        var moneyOut: Int64 = 0
        var fees: Int64 = 0
    }

    /// A user's day in Lagos.
    struct Key: Hashable {
        let user: UUID
        let day: String
    }

    /// Clerk's names of the users.
    let subjects: [String]
    /// In the order in which they are told, repeats included.
    private(set) var events: [StrayEvent] = []
    /// How many of them are different.
    private(set) var distinct = 0
    /// What they come to, reckoned here and not by the service.
    private(set) var totals: [Key: Totals] = [:]

    private let ids = UUIDv7Source()

    /// Nine different events, then one that was told before again, and so on; each ninth of the different ones takes an
    /// earlier transfer back.
    ///
    /// What is told again has the id of the first and tells of another transfer: totals would show it if it took effect.
    init(count: Int) throws {
        let run = UUID().lowercased.prefix(8)
        self.subjects = (0..<40).map { "user_madeup_\(run)_\($0)" }
        var open: [TransactionCompleted] = []
        for number in 0..<count {
            if number % 10 == 9 {
                let first = self.events[(number * 7919) % self.events.count]
                let other = self.transfer(number)
                self.events.append(try StrayEvent(other, about: other.transactionID, sequence: 1, id: first.id))
            } else if number % 10 == 8 {
                try self.takeBack(open.remove(at: (number * 31) % open.count))
            } else {
                open.append(try self.complete(number))
            }
        }
    }

    private func transfer(_ number: Int) -> TransactionCompleted {
        TransactionCompleted(
            transactionID: self.ids.next(),
            senderID: UserID(clerkSubject: self.subjects[number % 40]).uuid,
            recipientID: UserID(clerkSubject: self.subjects[(number * 3 + 1) % 40]).uuid,
            amount: 100 + Int64(number % 997),
            type: Open(.p2p),
            route: Open(number % 4 == 0 ? .external : .internal),
            fee: Int64(number % 5),
            duty: Int64(number % 2),
            // Either side of midnight in Lagos.
            timestamp: number % 3 == 0 ? "2026-11-20T23:00:00.000Z" : "2026-11-20T22:59:59.999Z"
        )
    }

    private mutating func complete(_ number: Int) throws -> TransactionCompleted {
        let transfer = self.transfer(number)
        try self.tell(transfer, about: transfer.transactionID, sequence: 1)
        self.count(transfer, sign: 1)
        return transfer
    }

    private mutating func takeBack(_ transfer: TransactionCompleted) throws {
        let reversal = TransactionReversed(
            transactionID: transfer.transactionID,
            senderID: transfer.senderID,
            recipientID: transfer.recipientID,
            amount: transfer.amount,
            type: transfer.type,
            route: transfer.route,
            fee: transfer.fee,
            duty: transfer.duty,
            timestamp: "2026-11-21T09:00:00.000Z"
        )
        try self.tell(reversal, about: transfer.transactionID, sequence: 2)
        self.count(transfer, sign: -1)
    }

    private mutating func tell(_ data: some EventData, about subject: UUID, sequence: Int64) throws {
        self.events.append(try StrayEvent(data, about: subject, sequence: sequence, id: self.ids.next()))
        self.distinct += 1
    }

    private mutating func count(_ transfer: TransactionCompleted, sign: Int64) {
        let day = transfer.timestamp.contains("T23:00") ? "2026-11-21" : "2026-11-20"
        if let sender = transfer.senderID {
            self.totals[Key(user: sender, day: day), default: Totals()].moneyOut += sign * transfer.amount
            self.totals[Key(user: sender, day: day), default: Totals()].fees += sign * (transfer.fee + transfer.duty)
        }
        guard let recipient = transfer.recipientID else { return }
        if transfer.route == .known(.external) {
            self.totals[Key(user: recipient, day: day), default: Totals()].inBank += sign * transfer.amount
        } else {
            self.totals[Key(user: recipient, day: day), default: Totals()].inWallet += sign * transfer.amount
        }
    }
}

extension RunningSuite {
    /// The totals that analytics shows.
    func shownTotals() async throws -> [MadeUpTransfers.Key: MadeUpTransfers.Totals] {
        let rows = try await self.rows(
            "analytics",
            """
            SELECT user_id, day, sum(in_wallet), sum(in_bank), sum(money_out), sum(fees)
            FROM day_totals WHERE generation = (SELECT live FROM projections WHERE name = 'money') GROUP BY user_id, day
            """
        )
        return Dictionary(
            uniqueKeysWithValues: rows.compactMap { row in
                let columns = row.split(separator: "|").map(String.init)
                guard columns.count == 6, let user = UUID(uuidString: columns[0]) else { return nil }
                let numbers = columns[2...].compactMap { Int64($0) }
                guard numbers.count == 4 else { return nil }
                return (
                    MadeUpTransfers.Key(user: user, day: columns[1]),
                    MadeUpTransfers.Totals(
                        inWallet: numbers[0],
                        inBank: numbers[1],
                        moneyOut: numbers[2],
                        fees: numbers[3]
                    )
                )
            }
        )
    }
}
