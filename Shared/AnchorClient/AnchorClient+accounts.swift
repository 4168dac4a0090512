import Foundation

extension AnchorClient {
    /// Opens a deposit account with the one product the kind allows.
    ///
    /// Not idempotent at the provider: after `mayHaveBeenSent` look at `accounts(customerID:)` first.
    public func createDepositAccount(
        customerID: String,
        kind: CustomerKind,
        deadline: Duration? = nil
    ) async throws(AnchorError) -> DepositAccount {
        let draft = Draft(
            type: "DepositAccount",
            attributes: ["productName": kind.productName],
            relationships: ["customer": .init(customerID, kind.wireType)]
        )
        let answer: Envelope<DepositAccountAttributes> = try await self.call(
            .post("/accounts", draft),
            "account",
            deadline: deadline
        )
        return DepositAccount(answer.data, included: answer.included)
    }

    /// Reads an account with its number, if it has one yet.
    public func depositAccount(id: String, deadline: Duration? = nil) async throws(AnchorError) -> DepositAccount {
        let answer: Envelope<DepositAccountAttributes> = try await self.call(
            .get("/accounts/\(escaped(id))?include=AccountNumber"),
            "account",
            deadline: deadline
        )
        return DepositAccount(answer.data, included: answer.included)
    }

    /// The accounts of a customer, without their numbers.
    public func accounts(customerID: String, deadline: Duration? = nil) async throws(AnchorError) -> [DepositAccount] {
        let answer: ListEnvelope<DepositAccountAttributes> = try await self.call(
            .get("/accounts?customerId=\(escaped(customerID))&size=50"),
            "accounts",
            deadline: deadline
        )
        return answer.data.map { DepositAccount($0, included: nil) }
    }

    /// What an account holds.
    public func balance(accountID: String, deadline: Duration? = nil) async throws(AnchorError) -> AccountBalance {
        // A plain object, unlike every other answer: no id, no attributes.
        struct Answer: Decodable {
            var data: AccountBalance
        }
        let answer: Answer = try await self.call(
            .get("/accounts/balance/\(escaped(accountID))"),
            "balance",
            deadline: deadline
        )
        return answer.data
    }
}

struct DepositAccountAttributes: Decodable {
    var status: String?
    var frozen: Bool?
}

struct AccountNumberAttributes: Decodable {
    var accountNumber: String
    var accountName: String?
    var bank: BankAttributes?
}

struct BankAttributes: Decodable {
    var name: String?
    var nipCode: String?
}

extension DepositAccount {
    init(_ resource: Resource<DepositAccountAttributes>, included: [Included]?) {
        self.init(
            id: resource.id,
            status: resource.attributes.status ?? "",
            isFrozen: resource.attributes.frozen ?? false,
            customerID: resource.relationships?.id("customer"),
            number: included?.lazy.compactMap { $0.number }.first
        )
    }
}

extension AccountNumber {
    init(_ attributes: AccountNumberAttributes, id: String?) {
        self.init(
            id: id,
            number: attributes.accountNumber,
            accountName: attributes.accountName ?? "",
            bankName: attributes.bank?.name ?? "",
            bankCode: attributes.bank?.nipCode
        )
    }
}

extension Included {
    /// The account number that came along, if this is one.
    fileprivate var number: AccountNumber? { self.accountNumber.map { AccountNumber($0, id: self.id) } }
}
