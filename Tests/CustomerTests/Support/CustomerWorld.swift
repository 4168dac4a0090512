import Contracts
import Foundation
import Messaging
import Primitives
import Sealing
import ServiceKit
import ServiceTestSupport
import TestSupport

@testable import CustomerService

/// Customer on a database of its own, with the provider in memory and without HTTP and broker.
struct CustomerWorld: ServiceWorld {
    let service: ServiceDatabase
    let keys = InMemoryDataKeys()
    let provider = FakeProvider()
    let index: BlindIndex

    let users = CustomerUserStore()
    let beneficiaries = BeneficiaryStore()
    let enquiries = EnquiryStore()
    let banks = BankListStore()
    let transfers = TransferStore()
    let images = ImageStore()
    let documents = DocumentStore()
    let exports = ExportStore()

    let adaKey = DataKey()

    var handlers: EventHandlers {
        CustomerHandlers.make(
            users: self.users,
            images: self.images,
            transfers: self.transfers,
            documents: self.documents,
            exports: self.exports
        )
    }

    private var calls: ProviderCalls { ProviderCalls(database: self.work) }
    private var openDetails: OpenDetails { OpenDetails(keys: self.keys) }

    var createCustomer: CreateCustomer {
        CreateCustomer(
            database: self.work,
            users: self.users,
            openDetails: self.openDetails,
            provider: self.provider,
            calls: self.calls
        )
    }

    var startVerification: StartVerification {
        StartVerification(
            database: self.work,
            users: self.users,
            openDetails: self.openDetails,
            provider: self.provider,
            calls: self.calls
        )
    }

    var verifyBeneficiary: VerifyBeneficiary {
        VerifyBeneficiary(
            database: self.work,
            users: self.users,
            beneficiaries: self.beneficiaries,
            keys: self.keys,
            provider: self.provider,
            banks: BankDirectory(provider: self.provider, clock: self.clock),
            calls: self.calls,
            nameLengths: Self.nameLengths
        )
    }

    var compareNames: CompareNames {
        CompareNames(
            database: self.work,
            users: self.users,
            beneficiaries: self.beneficiaries,
            keys: self.keys,
            nameLengths: Self.nameLengths
        )
    }

    /// Here no bank cuts names off.
    static let nameLengths = NameLengths(usual: [])

    var answerEnquiry: AnswerEnquiry {
        AnswerEnquiry(
            database: self.work,
            enquiries: self.enquiries,
            keys: self.keys,
            provider: self.provider,
            banks: BankDirectory(provider: self.provider, clock: self.clock),
            clock: self.clock
        )
    }

    var listDocuments: ListDocuments {
        ListDocuments(
            database: self.work,
            users: self.users,
            documents: self.documents,
            provider: self.provider,
            clock: self.clock
        )
    }

    var deliverDocument: DeliverDocument {
        DeliverDocument(
            database: self.work,
            users: self.users,
            documents: self.documents,
            keys: self.keys,
            provider: self.provider,
            calls: self.calls,
            clock: self.clock
        )
    }

    var refreshBanks: RefreshBanks {
        RefreshBanks(database: self.work, store: self.banks, provider: self.provider)
    }

    /// Runs a body in a transaction of Ada's.
    func asAda<Value: Sendable>(_ body: (EventTransaction) async throws -> Value) async throws -> Value {
        try await self.asUser(self.ada, body)
    }
}

/// Runs `body` with customer on a fresh database.
func withCustomer(_ body: (CustomerWorld) async throws -> Void) async throws {
    try await withServiceDatabase(
        .customer,
        schema: try CustomerSchema.sets(),
        handlers: CustomerHandlers.make(
            users: CustomerUserStore(),
            images: ImageStore(),
            transfers: TransferStore(),
            documents: DocumentStore(),
            exports: ExportStore()
        )
    ) { service in
        let index = try BlindIndex(key: Array(repeating: 3, count: 32))
        let world = CustomerWorld(service: service, index: index)
        world.keys.set(world.adaKey, for: world.ada)
        try await body(world)
    }
}
