import Documents
import Foundation
import Primitives

/// A statement as the files that people keep.
struct WriteStatement: Sendable {
    let store: StatementStore
    let names: HistoryStore
    let renderer: PDFRenderer

    /// Lines that are read at once.
    private static let page = 1000

    /// A line with the name of the other party.
    struct NamedLine: Sendable {
        let line: StatementLine
        let text: String
    }

    /// The lines after one of them.
    func lines(
        of statement: Statement,
        after sequence: Int64 = 0,
        limit: Int = Self.page,
        for user: UserID
    ) async throws -> [NamedLine] {
        let lines = try await self.store.lines(of: statement, after: sequence, limit: limit, for: user)
        let others = Set(lines.compactMap(\.counterparty)).subtracting([user.uuid])
        let names = try await self.names.usernames(of: Array(others))
        return lines.map { line in
            NamedLine(line: line, text: line.text(counterparty: line.counterparty.flatMap { names[$0] }))
        }
    }

    // MARK: CSV

    /// The beginning of the file: heads and opening balance.
    func csvHead(_ statement: Statement, _ period: LagosPeriod) -> String {
        let heads = ["Date", "Description", "Reference", "Money in", "Money out", "Balance"]
        let opening = [period.from.description, "Opening balance", "", "", "", statement.opening.plainText]
        return CSV.line(heads) + CSV.line(opening)
    }

    /// Some lines of the file, and the number of the last of them.
    func csvLines(
        of statement: Statement,
        after sequence: Int64,
        for user: UserID
    ) async throws -> (text: String, last: Int64) {
        let lines = try await self.lines(of: statement, after: sequence, for: user)
        guard let last = lines.last?.line.sequence else { throw StatementGap() }
        return (try lines.map { CSV.line(try Self.cells($0, \.plainText)) }.joined(), last)
    }

    /// The end of the file: the closing balance.
    ///
    /// A file without it is not whole.
    func csvEnd(_ statement: Statement, _ period: LagosPeriod) -> String {
        CSV.line([period.to.description, "Closing balance", "", "", "", statement.closing.plainText])
    }

    private func eachPage(
        of statement: Statement,
        for user: UserID,
        _ body: ([NamedLine]) async throws -> Void
    ) async throws {
        var last = statement.before
        while last < statement.last {
            let lines = try await self.lines(of: statement, after: last, for: user)
            guard let end = lines.last?.line.sequence else { throw StatementGap() }
            try await body(lines)
            last = end
        }
    }

    private static func cells(_ named: NamedLine, _ text: (Money) -> String) throws(MoneyOverflow) -> [String] {
        let line = named.line
        return [
            LagosTime.text(line.postedAt), named.text, line.reference,
            line.amount.isPositive ? text(line.amount) : "",
            line.amount.isNegative ? text(try line.amount.negated()) : "", text(line.balance),
        ]
    }

    // MARK: PDF

    /// - Throws: `StatementProblem.tooLong`; `DocumentError` with `busy`.
    func pdf(
        _ statement: Statement,
        _ period: LagosPeriod,
        for user: UserID,
        at moment: Date
    ) async throws -> [UInt8] {
        guard statement.count <= PDFRenderer.maximumRows else { throw StatementProblem.tooLong }
        var rows: [[String]] = []
        var (moneyIn, moneyOut) = (Money.zero, Money.zero)
        rows.reserveCapacity(statement.count)
        try await self.eachPage(of: statement, for: user) { lines in
            for named in lines {
                let amount = named.line.amount
                if amount.isNegative {
                    moneyOut = try moneyOut.subtracting(amount)
                } else {
                    moneyIn = try moneyIn.adding(amount)
                }
                var cells = try Self.cells(named, \.nairaText)
                // As wide as the column: to the minute.
                cells[0] = String(cells[0].prefix("yyyy-MM-dd HH:mm".count))
                rows.append(cells)
            }
        }
        let name = try await self.names.usernames(of: [user.uuid])[user.uuid]
        let document = Document(
            title: "Account statement",
            fields: [
                Document.Field("Account", name.map { "@\($0)" } ?? ""),
                Document.Field("Period", "\(period.from) to \(period.to)"),
                Document.Field("Opening balance", statement.opening.nairaText),
                Document.Field("Money in", moneyIn.nairaText),
                Document.Field("Money out", moneyOut.nairaText),
                Document.Field("Closing balance", statement.closing.nairaText),
            ],
            columns: [
                Document.Column("Date", share: 80), Document.Column("Description", share: 105),
                Document.Column("Reference", share: 116), Document.Column("Money in", share: 68, .trailing),
                Document.Column("Money out", share: 68, .trailing), Document.Column("Balance", share: 74, .trailing),
            ],
            rows: rows,
            note: "Made \(LagosTime.text(moment)). Times are those of Lagos."
        )
        return try await self.renderer.render(document, for: user.description)
    }
}

/// Entries of a wallet that were there are no longer to be seen.
struct StatementGap: Error {}
