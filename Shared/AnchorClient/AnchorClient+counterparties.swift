import Foundation

/// A bank that NIP reaches.
public struct Bank: Sendable, Hashable {
    /// The provider's id, ending in `-anc_bk`.
    public var id: String
    /// The bank's name.
    public var name: String
    /// Normally 6 digits.
    public var nipCode: String

    /// Creates a bank.
    public init(id: String, name: String, nipCode: String) {
        self.id = id
        self.name = name
        self.nipCode = nipCode
    }
}

/// A bank account that money can go to.
///
/// Personal data.
public struct CounterpartyDraft: Sendable, Hashable, Encodable {
    /// The bank's NIP code.
    public var bankCode: String
    /// The owner's name; the bank's own record wins when `verifyName` is set.
    public var accountName: String
    /// 10 digits.
    public var accountNumber: String
    /// Whether the provider asks the bank for the name.
    public var verifyName: Bool

    /// Creates a draft.
    public init(bankCode: String, accountName: String, accountNumber: String, verifyName: Bool = true) {
        self.bankCode = bankCode
        self.accountName = accountName
        self.accountNumber = accountNumber
        self.verifyName = verifyName
    }
}

/// A bank account registered at the provider.
public struct Counterparty: Sendable, Hashable {
    /// The provider's id, ending in `-anc_cp`.
    public var id: String
    /// The name the bank has.
    ///
    /// Personal data.
    public var accountName: String

    /// Creates a counterparty.
    public init(id: String, accountName: String) {
        self.id = id
        self.accountName = accountName
    }
}

extension AnchorClient {
    /// All banks.
    public func banks(deadline: Duration? = nil) async throws(AnchorError) -> [Bank] {
        let answer: ListEnvelope<BankAttributes> = try await self.call(.get("/banks"), "banks", deadline: deadline)
        return answer.data.compactMap { bank in
            guard let code = bank.attributes.nipCode, !code.isEmpty else { return nil }
            return Bank(id: bank.id, name: bank.attributes.name ?? "", nipCode: code)
        }
    }

    /// Asks the bank for the name of an account (name enquiry); nil when the bank has no such account.
    ///
    /// - Parameters:
    ///   - bank: The NIP code or the provider's id of the bank.
    ///   - number: 10 digits.
    ///   - deadline: The time the call may take.
    /// - Returns: The name.
    /// - Throws: `refused` when the provider cannot ask.
    public func verifyAccount(
        bank: String,
        number: String,
        deadline: Duration? = nil
    ) async throws(AnchorError) -> String? {
        struct Attributes: Decodable {
            var accountName: String
        }
        // The id may be absent here, so the shared resource type does not fit.
        struct Answer: Decodable {
            struct Detail: Decodable {
                var attributes: Attributes
            }

            var data: Detail
        }
        let path = "/payments/verify-account/\(escaped(bank))/\(escaped(number))"
        do {
            let answer: Answer = try await self.call(.get(path), "account name", deadline: deadline)
            return answer.data.attributes.accountName
        } catch .notFound {
            return nil
        } catch {
            throw error
        }
    }

    /// Registers a bank account.
    ///
    /// The same account again answers with the existing one.
    public func createCounterparty(
        _ draft: CounterpartyDraft,
        deadline: Duration? = nil
    ) async throws(AnchorError) -> Counterparty {
        struct Attributes: Decodable {
            var accountName: String?
        }
        let body = Draft(type: "CounterParty", attributes: draft)
        let answer: Envelope<Attributes> = try await self.call(
            .post("/counterparties", body),
            "counterparty",
            deadline: deadline
        )
        return Counterparty(id: answer.data.id, accountName: answer.data.attributes.accountName ?? draft.accountName)
    }

    /// Removes a bank account.
    ///
    /// One that is gone already is a success.
    public func deleteCounterparty(id: String, deadline: Duration? = nil) async throws(AnchorError) {
        do {
            try await self.call(.delete("/counterparties/\(escaped(id))"), deadline: deadline)
        } catch .notFound {
            return
        } catch {
            throw error
        }
    }
}
