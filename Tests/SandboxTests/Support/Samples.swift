import AnchorClient
import Foundation
import NIOHTTP1
import OutgoingHTTP
import Primitives
import Testing

@testable import SandboxService

/// Data that nobody has.
enum Samples {
    static let address = PostalAddress(
        line1: "1 Test Street",
        city: "Ikeja",
        state: "LAGOS",
        postalCode: "100001"
    )

    static func person(email: String) -> IndividualCustomer {
        IndividualCustomer(
            fullName: PersonName(firstName: "Test", lastName: "Person"),
            address: Self.address,
            email: email,
            phoneNumber: "08000000001"
        )
    }

    static func business(email: String) -> BusinessCustomer {
        BusinessCustomer(
            detail: BusinessDetail(
                industry: "Agriculture-AgriculturalCooperatives",
                registrationType: "Private_Incorporated",
                businessName: "Test Shop",
                businessBvn: "22222222226",
                dateOfRegistration: "2020-01-01",
                description: "Sells tests"
            ),
            contact: BusinessContact(email: email, phoneNumber: "08000000002", address: Self.address),
            officers: [
                BusinessOfficer(
                    role: .owner,
                    fullName: PersonName(firstName: "Test", lastName: "Owner"),
                    address: Self.address,
                    dateOfBirth: "1980-01-01",
                    email: "owner@transfa.test",
                    phoneNumber: "08000000003",
                    bvn: "22222222016",
                    title: "CEO",
                    percentageOwned: 100
                )
            ]
        )
    }

    static func verification(bvn: String = "22222222222") -> IndividualVerification {
        IndividualVerification(bvn: bvn, dateOfBirth: "1990-02-03", gender: .female)
    }

    static func order(
        _ reference: String,
        kobo: Int64,
        from source: String,
        to destination: TransferOrder.Destination
    ) -> TransferOrder {
        TransferOrder(
            reference: reference,
            amount: Money(kobo: kobo),
            sourceAccountID: source,
            destination: destination,
            reason: "test payment"
        )
    }
}

extension SandboxHandle {
    /// A verified person with an account that has its number.
    func personWithAccount(email: String = "a@transfa.test", kobo: Int64 = 0) async throws -> DepositAccount {
        let customer = try await self.client.createIndividualCustomer(Samples.person(email: email))
        try await self.client.startIndividualVerification(customerID: customer.id, Samples.verification())
        _ = try await self.eventually("approval") {
            try await self.client.customer(id: customer.id).verification == .approved ? true : nil
        }
        let opened = try await self.client.createDepositAccount(customerID: customer.id, kind: .individual)
        let account = try await self.eventually("account number") {
            let account = try await self.client.depositAccount(id: opened.id)
            return account.number == nil ? nil : account
        }
        if kobo > 0 { try await self.control(.post, "accounts/\(account.id)/fund", ["amount": .integer(kobo)]) }
        return account
    }

    func counterparty(number: String = "0123456789") async throws -> String {
        let draft = CounterpartyDraft(bankCode: "000014", accountName: "Anybody", accountNumber: number)
        return try await self.client.createCounterparty(draft).id
    }

    func settled(_ reference: String) async throws -> TransferSnapshot {
        try await self.eventually("the end of \(reference)") {
            guard let found = try await self.client.transfer(reference: reference) else { return nil }
            return found.status.isOpen ? nil : found
        }
    }

    /// The raw body of a transfer, for sending it wrong.
    func rawTransfer(from source: String, to destination: String, changing changes: [String: JSON] = [:]) -> JSON {
        var attributes: [String: JSON] = [
            "amount": 1000, "currency": "NGN", "reason": "test", "reference": "raw-1",
        ]
        attributes.merge(changes) { _, new in new }
        return [
            "data": [
                "type": "NIPTransfer", "attributes": .object(attributes.filter { $0.value != .null }),
                "relationships": [
                    "account": .link(source, "DepositAccount"), "counterParty": .link(destination, "CounterParty"),
                ],
            ]
        ]
    }
}
