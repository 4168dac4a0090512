import Foundation
public import Primitives

extension AnchorClient {
    /// Reads a payment that came in, by an id ending in `-anc_inb_trsf` or `-anc_py`.
    public func inboundPayment(
        id: String,
        deadline: Duration? = nil
    ) async throws(AnchorError) -> InboundPayment {
        let path = id.hasSuffix("-anc_py") ? "/payments/" : "/inbound-transfers/"
        let answer: Envelope<InboundAttributes> = try await self.call(
            .get(path + escaped(id)),
            "inbound payment",
            deadline: deadline
        )
        return InboundPayment(answer.data)
    }

    /// One page of the inbound transfers to an account number, in an order that the provider does not promise.
    ///
    /// - Parameters:
    ///   - accountNumberID: The provider's id of the number, ending in `-anc_acc_num`.
    ///   - page: From 0.
    ///   - size: Payments per page.
    ///   - deadline: The time the call may take.
    /// - Returns: The payments and the number of pages.
    /// - Throws: `AnchorError`.
    public func inboundTransfers(
        accountNumberID: String,
        page: Int = 0,
        size: Int = 100,
        deadline: Duration? = nil
    ) async throws(AnchorError) -> InboundPaymentPage {
        let answer: ListEnvelope<InboundAttributes> = try await self.call(
            .get("/inbound-transfers?accountNumberId=\(escaped(accountNumberID))&page=\(page)&size=\(size)"),
            "inbound transfers",
            deadline: deadline
        )
        return InboundPaymentPage(
            payments: answer.data.map { InboundPayment($0) },
            pageCount: answer.meta?.pagination?.totalPages
        )
    }

    /// One page of an account's history.
    ///
    /// - Parameters:
    ///   - accountID: The deposit account.
    ///   - from: First day.
    ///   - to: Last day.
    ///   - page: From 0.
    ///   - size: Rows per page.
    ///   - deadline: The time the call may take.
    /// - Returns: The rows and whether there are more.
    /// - Throws: `notFound` for an unknown account.
    public func transactions(
        accountID: String,
        from: CivilDate? = nil,
        to: CivilDate? = nil,
        page: Int = 0,
        size: Int = 100,
        deadline: Duration? = nil
    ) async throws(AnchorError) -> AccountTransactionPage {
        var path = "/transactions?accountId=\(escaped(accountID))&page=\(page)&size=\(size)"
        if let from { path += "&from=\(from)" }
        if let to { path += "&to=\(to)" }
        let answer: ListEnvelope<TransactionAttributes> = try await self.call(
            .get(path),
            "transactions",
            deadline: deadline
        )
        let hasMore = answer.meta?.pagination?.totalPages.map { page + 1 < $0 } ?? (answer.data.count == size)
        return AccountTransactionPage(rows: answer.data.map { AccountTransaction($0) }, hasMore: hasMore)
    }
}

struct InboundAttributes: Decodable {
    struct Payer: Decodable {
        var accountNumber: String?
        var accountName: String?
        var bank: BankAttributes?
    }

    var reference: String?
    var paymentReference: String?
    var amount: Money
    var status: String?
    var description: String?
    var narration: String?
    var createdAt: String?
    var paidAt: String?
    var sourceAccountNumber: String?
    var sourceAccountName: String?
    var sourceBank: BankAttributes?
    var counterParty: Payer?
}

extension InboundPayment {
    init(_ resource: Resource<InboundAttributes>) {
        let attributes = resource.attributes
        self.init(
            id: resource.id,
            reference: attributes.reference ?? attributes.paymentReference,
            amount: attributes.amount,
            accountID: resource.relationships?.id("account", "settlementAccount", "depositAccount"),
            // A Payment resource has no status: it exists only once the money is settled.
            isSettled: attributes.status.map { $0.uppercased() == "COMPLETED" } ?? true,
            paidAt: (attributes.paidAt ?? attributes.createdAt).flatMap { Timestamp.parse($0) },
            payer: Payer(
                accountName: attributes.sourceAccountName ?? attributes.counterParty?.accountName,
                accountNumber: attributes.sourceAccountNumber ?? attributes.counterParty?.accountNumber,
                bankName: attributes.sourceBank?.name ?? attributes.counterParty?.bank?.name
            ),
            narration: attributes.description ?? attributes.narration
        )
    }
}

struct TransactionAttributes: Decodable {
    var amount: Money
    var direction: String?
    var reference: String?
    var createdAt: String?
    var feeType: String?
}

extension AccountTransaction {
    init(_ resource: Resource<TransactionAttributes>) {
        let attributes = resource.attributes
        self.init(
            id: resource.id,
            amount: attributes.amount,
            direction: attributes.direction.flatMap { Direction(rawValue: $0.uppercased()) },
            reference: attributes.reference,
            createdAt: attributes.createdAt.flatMap { Timestamp.parse($0) },
            feeType: attributes.feeType.map { codeOnly($0) ?? AccountBill.unreadable }
        )
    }
}
