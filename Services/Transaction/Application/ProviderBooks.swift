import AnchorClient
import Foundation
import Primitives

/// Reads the provider's books of one account.
protocol ProviderBooks: Sendable {
    /// What the provider says about an account, its transfers since a moment and its payments.
    ///
    /// Where somebody is billed, its bills too, since a moment of their own.
    func read(_ account: String, since: Date, billsSince: Date) async throws -> TheirBooks
    /// What was billed to an account since a moment.
    func bills(of account: String, since: Date) async throws -> [TheirBooks.Bill]
}

/// The provider lists more than one look can take in.
struct TooManyRows: Error {}

/// The real ones.
struct AnchorBooks: ProviderBooks {
    let client: AnchorClient
    /// Whether looks at an account read its bills.
    let readsBills: Bool

    private static let pageSize = 100
    /// Pages of one list; with the size of a page, what happens on an account in the days that a look goes back.
    private static let maximumPages = 1000
    private static let deadline = Duration.seconds(10)

    /// Lists first and the balance last: what the lists show as done is in the balance.
    func read(_ account: String, since: Date, billsSince: Date) async throws -> TheirBooks {
        let day = Self.day(of: since)
        let paid = try await self.transfers(account, .source, from: day)
        let received = try await self.transfers(account, .destination, from: day)
        let payments = try await self.payments(account)
        let bills = try await self.readsBills ? self.bills(of: account, since: billsSince) : []
        let balance = try await self.client.balance(accountID: account, deadline: Self.deadline)
        return TheirBooks(
            transfers: paid + received,
            payments: payments,
            ledger: balance.ledger.kobo,
            pending: balance.pending.kobo,
            bills: bills
        )
    }

    func bills(of account: String, since: Date) async throws -> [TheirBooks.Bill] {
        let day = Self.day(of: since)
        let found = try await self.everyPage { page in
            let answer = try await self.client.transactions(
                accountID: account,
                from: day,
                page: page,
                size: Self.pageSize,
                deadline: Self.deadline
            )
            return (answer.rows, answer.hasMore)
        }
        return Self.distinct(found, by: \.id).compactMap(\.bill).map {
            TheirBooks.Bill(
                id: $0.id,
                kind: $0.kind,
                amount: $0.amount.kobo,
                reference: $0.reference,
                billedAt: $0.createdAt
            )
        }
    }

    /// The provider's days are those of UTC; a day earlier is on no account too late.
    private static func day(of moment: Date) -> CivilDate { LagosCalendar.day(of: moment).adding(days: -1) }

    private func transfers(
        _ account: String,
        _ side: TransferSide,
        from day: CivilDate
    ) async throws -> [TheirBooks.Transfer] {
        let found = try await self.everyPage { page in
            let answer = try await self.client.transfers(
                accountID: account,
                side: side,
                from: day,
                page: page,
                size: Self.pageSize,
                deadline: Self.deadline
            )
            return (answer.transfers, answer.hasMore)
        }
        // Money from outside is listed as payments; should it stand here too, under whatever reference, it counts once.
        return Self.distinct(found, by: \.id).filter { side == .source || $0.rail != nil }
            .map { TheirBooks.Transfer($0, isOutgoing: side == .source) }
    }

    private func payments(_ account: String) async throws -> [TheirBooks.Payment] {
        // An account that has no number yet has had no payments; that of drops has none at all.
        guard
            let number = try await self.client.depositAccount(id: account, deadline: Self.deadline).number?.id
        else { return [] }
        let found = try await self.everyPage { page in
            let answer = try await self.client.inboundTransfers(
                accountNumberID: number,
                page: page,
                size: Self.pageSize,
                deadline: Self.deadline
            )
            let hasMore = answer.pageCount.map { page + 1 < $0 } ?? (answer.payments.count == Self.pageSize)
            return (answer.payments, hasMore)
        }
        return Self.distinct(found, by: \.id).filter(\.isSettled).map {
            TheirBooks.Payment(id: $0.id, amount: $0.amount.kobo, paidAt: $0.paidAt, reference: $0.reference)
        }
    }

    private func everyPage<Row>(_ read: (Int) async throws -> (rows: [Row], hasMore: Bool)) async throws -> [Row] {
        var rows: [Row] = []
        for page in 0..<Self.maximumPages {
            let answer = try await read(page)
            rows += answer.rows
            guard answer.hasMore else { return rows }
        }
        throw TooManyRows()
    }

    /// Pages shift while they are read: a row may be on two.
    private static func distinct<Row>(_ rows: [Row], by id: KeyPath<Row, String>) -> [Row] {
        var seen: Set<String> = []
        return rows.filter { seen.insert($0[keyPath: id]).inserted }
    }
}

extension TheirBooks.Transfer {
    init(_ snapshot: TransferSnapshot, isOutgoing: Bool) {
        let status: TheirBooks.Status =
            switch snapshot.status {
            case .completed: .completed
            case .failed: .failed
            case .reversed: .reversed
            case .pending, .open: .open
            }
        self.init(
            id: snapshot.id,
            reference: snapshot.reference,
            status: status,
            amount: snapshot.amount.kobo,
            isOutgoing: isOutgoing,
            source: snapshot.sourceAccountID,
            createdAt: snapshot.createdAt,
            destination: snapshot.destinationAccountID,
            counterparty: snapshot.counterpartyID
        )
    }
}
