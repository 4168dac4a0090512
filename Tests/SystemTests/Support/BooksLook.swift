import EventLoops
import TestSupport

/// What the books said at one moment, in one statement and so in one snapshot.
struct BooksLook: Hashable, Sendable {
    /// What the wallets looked at held together.
    let posted: Int64
    /// The sum of all entries.
    let entries: Int64
    /// How many invariants did not hold, running balances among them.
    let broken: Int
}

extension RunningSuite {
    /// Runs `body` and looks at the books all the while.
    func watching<Result: Sendable>(
        _ people: [Person],
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> (result: Result, looks: [BooksLook]) {
        let looks = Locked<[BooksLook]>([])
        let result = try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                while !Task.isCancelled {
                    let look = try await self.look(at: people)
                    looks.withLock { $0.append(look) }
                    try? await Task.sleep(for: .milliseconds(100))
                }
                return nil
            }
            while let finished = try await group.next() {
                if let finished {
                    group.cancelAll()
                    return finished
                }
            }
            throw TestFailure("the body ended without a result")
        }
        return (result, looks.withLock { $0 })
    }

    private func look(at people: [Person]) async throws -> BooksLook {
        let ids = people.map { "'\($0.id)'" }.joined(separator: ",")
        let rows = try await self.rows(
            "transaction",
            """
            SELECT (SELECT sum(posted)::bigint FROM wallets WHERE user_id IN (\(ids))),
                (SELECT sum(amount)::bigint FROM entries), (SELECT count(*) FROM check_invariants())
            """
        )
        let numbers = rows.first?.split(separator: "|").compactMap { Int64($0) } ?? []
        guard numbers.count == 3 else { throw TestFailure("the books gave \(rows)") }
        return BooksLook(posted: numbers[0], entries: numbers[1], broken: Int(numbers[2]))
    }
}
