import Foundation
import Hummingbird
import Primitives

extension ControlRoutes {
    func addLog(to group: RouterGroup<SandboxContext>) {
        let provider = self.provider
        group.get("log") { request, _ in
            let after = request.query("after").flatMap { Int($0) } ?? 0
            let kind = request.query("type")
            let limit = Self.limit(request)
            return Response.json(provider.store.read { $0.logPage(after: after, kind: kind, limit: limit) })
        }
        group.get("references/:reference") { _, context in
            let reference = context.text("reference")
            let transfers = provider.store.read { state in
                (state.transfersByReference[reference] ?? []).compactMap { state.transfers[$0] }.map {
                    state.resource($0)
                }
            }
            return Response.json(["accepted": .integer(Int64(transfers.count)), "transfers": .array(transfers)])
        }
        group.get("balances") { request, _ in
            let after = request.query("after").flatMap { Int($0) } ?? 0
            let limit = Self.limit(request)
            return Response.json(provider.store.read { $0.balancePage(after: after, limit: limit) })
        }
        group.get("bills") { request, _ in
            let after = request.query("after").flatMap { Int($0) } ?? 0
            let account = request.query("account")
            let limit = Self.limit(request)
            return Response.json(provider.store.read { $0.billPage(of: account, after: after, limit: limit) })
        }
        group.get("summary") { _, _ in Response.json(provider.store.read { $0.summary }) }
    }
}

extension SandboxState {
    /// The most entries one page looks at.
    private static let maximumScan = 20_000

    /// Entries after a sequence number; `next` is where the next page begins, whatever the filter let through.
    func logPage(after: Int, kind: String?, limit: Int) -> JSON {
        var found: [JSON] = []
        var position = min(max(0, after), self.log.count)
        let end = min(self.log.count, position + Self.maximumScan)
        while position < end, found.count < limit {
            let entry = self.log[position]
            position += 1
            if kind == nil || kind == entry.kind.rawValue { found.append(entry.json(sequence: position)) }
        }
        return [
            "entries": .array(found), "next": .integer(Int64(position)), "total": .integer(Int64(self.log.count)),
        ]
    }

    func balancePage(after: Int, limit: Int) -> JSON {
        let ids = self.accountOrder.dropFirst(max(0, after)).prefix(limit)
        let rows = ids.compactMap { self.accounts[$0] }.map { account -> JSON in
            [
                "id": .string(account.id), "account_number": JSON(account.isNumbered ? account.number : nil),
                "customer": JSON(account.customerID), "ledger": .integer(account.ledger),
                "available": .integer(account.available), "hold": .integer(account.hold),
                "pending": .integer(account.pending),
            ]
        }
        return [
            "accounts": .array(rows), "next": .integer(Int64(after + rows.count)),
            "total": .integer(Int64(self.accountOrder.count)),
        ]
    }

    /// What was billed, the oldest first, to one account or to all.
    func billPage(of account: String?, after: Int, limit: Int) -> JSON {
        let all = account.map { id in self.bills.filter { $0.accountID == id } } ?? self.bills
        let page = all.dropFirst(max(0, after)).prefix(limit)
        return [
            "bills": .array(page.map(\.report)), "next": .integer(Int64(max(0, after) + page.count)),
            "total": .integer(Int64(all.count)),
        ]
    }

    /// Counts and sums; `in - out = ledger` always, or the stand-in itself loses money.
    var summary: JSON {
        let duplicates = self.transfersByReference.lazy.filter { $0.value.count > 1 }.map(\.key).prefix(100)
        let open = self.transfers.values.lazy.filter { $0.status == .pending }.count
        return [
            "customers": .integer(Int64(self.customers.count)), "accounts": .integer(Int64(self.accounts.count)),
            "transfers": .integer(Int64(self.transfers.count)), "transfers_pending": .integer(Int64(open)),
            "inbound_payments": .integer(Int64(self.inbound.count)), "events": .integer(self.eventCount),
            "events_waiting": .integer(Int64(self.waitingEvents.count)), "total_in": .integer(self.totalIn),
            "total_out": .integer(self.totalOut),
            "total_ledger": .integer(self.accounts.values.reduce(0) { $0 + $1.ledger }),
            "duplicate_references": .array(duplicates.sorted().map { .string($0) }),
        ]
    }
}

extension Bill {
    /// As the control API shows it.
    fileprivate var report: JSON {
        [
            "id": .string(self.id), "account": .string(self.accountID), "kind": .string(self.kind.rawValue),
            "amount": .integer(self.amount), "reference": .string(self.reference),
            "narration": .string(self.narration),
            "at": .string(Timestamp.text(Date(millisecondsSince1970: self.createdAt))),
        ]
    }
}
