import Foundation

/// What a batch of events does to rows in the end.
struct RowDifferences {
    let freshness: Freshness

    private struct Row {
        let table: String
        let key: String
        let before: [String: JSONValue]?
        var after: [String: JSONValue]?
        var events: [UUID]
    }

    /// One change per row that ends otherwise than it began, in the order in which they were first written.
    func changes(_ recorded: [RecordedRow]) -> [ReplayChange] {
        var rows: [Row] = []
        var places: [String: Int] = [:]
        for (number, record) in recorded.enumerated() {
            let key = record.key ?? "#\(number + 1)"
            let place = "\(record.table) \(key)"
            if let index = places[place] {
                rows[index].after = record.after
                if rows[index].events.last != record.event { rows[index].events.append(record.event) }
            } else {
                places[place] = rows.count
                rows.append(
                    Row(
                        table: record.table,
                        key: key,
                        before: record.before,
                        after: record.after,
                        events: [record.event]
                    )
                )
            }
        }
        return rows.compactMap(self.change)
    }

    private func change(_ row: Row) -> ReplayChange? {
        let after = row.after?.mapValues(RaisedSequence.lowered)
        switch (row.before, after) {
        case (nil, nil): return nil
        case (nil, let after?):
            return ReplayChange(.row, .inserted, row.table, key: row.key, after: after, causedBy: row.events)
        case (let before?, nil):
            return ReplayChange(.row, .deleted, row.table, key: row.key, before: before, causedBy: row.events)
        case (let before?, let after?): return self.update(row, before, after)
        }
    }

    private func update(
        _ row: Row,
        _ before: [String: JSONValue],
        _ after: [String: JSONValue]
    ) -> ReplayChange? {
        let columns = self.freshness.differing(before, after)
        // A guard that alone is different says only which event came last.
        guard columns.contains(where: { !RaisedSequence.isColumn($0) }) else { return nil }
        let isOvertaken = columns.contains { column in
            guard RaisedSequence.isColumn(column), let old = before[column]?.wholeNumber,
                let new = after[column]?.wholeNumber
            else { return false }
            return old > new
        }
        return ReplayChange(
            .row,
            .updated,
            row.table,
            key: row.key,
            before: before.filter { columns.contains($0.key) },
            after: after.filter { columns.contains($0.key) },
            isOvertaken: isOvertaken,
            causedBy: row.events
        )
    }
}
