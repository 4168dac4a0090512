import AnchorClient
import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport

@testable import NotificationService

/// Notification on a database of its own, with the provider in memory and without HTTP and broker.
struct NotificationWorld: ServiceWorld {
    let service: ServiceDatabase
    let provider = FakeProvider()
    let customers = CustomerStore()
    let webhooks = WebhookStore()
    let inbox = InboxStore()

    var handlers: EventHandlers { Self.handlers }

    static var handlers: EventHandlers {
        let learn = LearnCustomer(
            customers: CustomerStore(),
            webhooks: WebhookStore(),
            publishVerdict: PublishVerdict(customers: CustomerStore())
        )
        return NotificationHandlers.make(learnCustomer: learn, inbox: InboxStore())
    }

    private var publishVerdict: PublishVerdict { PublishVerdict(customers: self.customers) }

    var takeWebhook: TakeWebhook {
        TakeWebhook(
            database: self.work,
            webhooks: self.webhooks,
            customers: self.customers,
            publishVerdict: self.publishVerdict
        )
    }

    var checkCustomer: CheckCustomer {
        CheckCustomer(
            database: self.work,
            customers: self.customers,
            provider: self.provider,
            publishVerdict: self.publishVerdict
        )
    }

    // MARK: Events

    func adaIsCustomer() async throws {
        let created = CustomerCreated(
            userID: self.ada.uuid,
            anchorCustomerID: "1-anc_ind_cst",
            accountType: Open(.personal)
        )
        try await self.hear(created)
    }

    /// A webhook arrives whose signature was good; true when it was new.
    @discardableResult
    func webhook(_ id: String, _ type: String, _ links: [String: String] = [:]) async throws -> Bool {
        let relationships = links.map { #""\#($0)":{"data":{"id":"\#($1)","type":"x"}}"# }.joined(separator: ",")
        let body = #"{"data":{"id":"\#(id)","type":"\#(type)","attributes":{},"relationships":{\#(relationships)}}}"#
        return try await self.takeWebhook(try WebhookEvent(parsing: body.utf8), cause: Cause())
    }

    /// A verdict about Ada arrives.
    @discardableResult
    func verdict(_ id: String, _ word: String) async throws -> Bool {
        try await self.webhook(id, "customer.identification.\(word)", ["customer": "1-anc_ind_cst"])
    }

    /// Titles in a user's inbox, newest first.
    func titles(_ user: UUID) async throws -> [String] {
        try await self.inbox.page(UserID(user), before: nil, limit: 50, on: self.requests).map(\.title)
    }

    // MARK: Jobs

    func check() async throws -> JobOutcome {
        try await self.run(NotificationJob.checkCustomer, self.ada.description) { try await self.checkCustomer($0) }
    }
}

/// Runs `body` with notification on a fresh database.
func withNotification(_ body: (NotificationWorld) async throws -> Void) async throws {
    try await withServiceDatabase(
        .notification,
        migrations: try NotificationMigrations.all(),
        handlers: NotificationWorld.handlers
    ) { service in
        try await body(NotificationWorld(service: service))
    }
}
