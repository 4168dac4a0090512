import Foundation
public import Primitives

extension AnchorClient {
    /// Orders a transfer.
    ///
    /// Commit the order before the call; when the error says `mayHaveBeenSent`, ask `transfer(reference:)` before
    /// sending the same order again.
    ///
    /// - Important: A success says only that the provider took the order, whatever its status.
    public func createTransfer(
        _ order: TransferOrder,
        deadline: Duration? = nil
    ) async throws(AnchorError) -> TransferSnapshot {
        let draft = Draft(
            type: order.rail.requestType,
            attributes: TransferDraft(order),
            relationships: order.relationships
        )
        let answer: Envelope<TransferAttributes> = try await self.call(
            .post("/transfers", draft, idempotencyKey: order.reference),
            "transfer",
            deadline: deadline
        )
        let snapshot = TransferSnapshot(answer.data)
        // The pair of the check before the call: an answer about something else is no answer.
        guard snapshot.reference == order.reference, snapshot.amount == order.amount else {
            throw AnchorError.malformed(what: "transfer echo")
        }
        return snapshot
    }

    /// The transfer with our reference; nil when the provider has none (yet: one may still be on its way).
    public func transfer(
        reference: String,
        deadline: Duration? = nil
    ) async throws(AnchorError) -> TransferSnapshot? {
        let found: TransferSnapshot
        do {
            found = try await self.read("/transfers/by-reference/\(escaped(reference))", deadline: deadline)
        } catch .notFound {
            return nil
        } catch {
            throw error
        }
        // Another transfer is neither an answer nor an absence.
        guard found.reference == reference else { throw AnchorError.malformed(what: "transfer echo") }
        return found
    }

    /// The transfer with the provider's id.
    public func transfer(id: String, deadline: Duration? = nil) async throws(AnchorError) -> TransferSnapshot {
        try await self.read("/transfers/\(escaped(id))", of: id, deadline: deadline)
    }

    /// Like `transfer(id:)`, and makes the provider ask the rail.
    public func verifyTransfer(id: String, deadline: Duration? = nil) async throws(AnchorError) -> TransferSnapshot {
        try await self.read("/transfers/verify/\(escaped(id))", of: id, deadline: deadline)
    }

    /// One page of an account's transfers.
    ///
    /// - Parameters:
    ///   - accountID: The deposit account.
    ///   - side: Whether it pays or is paid.
    ///   - from: The first day of the transfers.
    ///   - page: From 0.
    ///   - size: Transfers per page.
    ///   - deadline: The time the call may take.
    /// - Returns: The transfers and whether there are more.
    /// - Throws: `AnchorError`.
    public func transfers(
        accountID: String,
        side: TransferSide,
        from: CivilDate? = nil,
        page: Int = 0,
        size: Int = 100,
        deadline: Duration? = nil
    ) async throws(AnchorError) -> TransferPage {
        var path = "/transfers?\(side.rawValue)=\(escaped(accountID))&page=\(page)&size=\(size)"
        if let from { path += "&from=\(from)" }
        let answer: ListEnvelope<TransferAttributes> = try await self.call(.get(path), "transfers", deadline: deadline)
        let hasMore = answer.meta?.pagination?.totalPages.map { page + 1 < $0 } ?? (answer.data.count == size)
        return TransferPage(transfers: answer.data.map { TransferSnapshot($0) }, hasMore: hasMore)
    }

    private func read(
        _ path: String,
        of id: String? = nil,
        deadline: Duration?
    ) async throws(AnchorError) -> TransferSnapshot {
        let answer: Envelope<TransferAttributes> = try await self.call(.get(path), "transfer", deadline: deadline)
        let snapshot = TransferSnapshot(answer.data)
        if let id, snapshot.id != id { throw AnchorError.malformed(what: "transfer echo") }
        return snapshot
    }
}

extension TransferOrder {
    fileprivate var relationships: [String: Draft<TransferDraft>.Link] {
        let source = Draft<TransferDraft>.Link(self.sourceAccountID, "DepositAccount")
        switch self.destination {
        case .counterparty(let id): return ["account": source, "counterParty": .init(id, "CounterParty")]
        case .account(let id): return ["account": source, "destinationAccount": .init(id, "DepositAccount")]
        }
    }
}

struct TransferDraft: Encodable {
    var amount: Int64
    var currency = "NGN"
    var reason: String
    var reference: String
    var metadata: [String: String]?

    init(_ order: TransferOrder) {
        self.amount = order.amount.kobo
        self.reason = order.reason
        self.reference = order.reference
        self.metadata = order.metadata
    }
}

struct TransferAttributes: Decodable {
    var reference: String?
    var amount: Money
    var status: String
    var createdAt: String?
    var sessionId: String?
    var failureReason: String?
}

extension TransferSnapshot {
    init(_ resource: Resource<TransferAttributes>) {
        let attributes = resource.attributes
        self.init(
            id: resource.id,
            reference: attributes.reference ?? "",
            rail: TransferRail(responseType: resource.type),
            amount: attributes.amount,
            status: TransferStatus(wire: attributes.status, failureReason: codeOnly(attributes.failureReason)),
            createdAt: attributes.createdAt.flatMap { Timestamp.parse($0) },
            sessionID: idOnly(attributes.sessionId),
            sourceAccountID: resource.relationships?.id("account"),
            destinationAccountID: resource.relationships?.id("destinationAccount"),
            counterpartyID: resource.relationships?.id("counterParty", "counterparty")
        )
    }
}
