import AnchorClient
import Contracts
import Foundation
import Messaging
import Primitives
import Sealing
import ServiceKit
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
    let preferences = PreferenceStore()
    let pushes = PushStore()
    let keys = InMemoryDataKeys()
    let apple = FakeApple()

    var handlers: EventHandlers { Self.handlers }

    static var handlers: EventHandlers {
        NotificationHandlers.make(telling: FileNotices(inbox: InboxStore(), pushes: PushStore()))
    }

    private var publishVerdict: PublishVerdict {
        PublishVerdict(customers: self.customers, notices: FileNotices(inbox: self.inbox, pushes: self.pushes))
    }

    var takeWebhook: TakeWebhook {
        TakeWebhook(database: self.work, webhooks: self.webhooks, customers: self.customers)
    }

    var confirmVerdict: ConfirmVerdict {
        ConfirmVerdict(
            database: self.work,
            customers: self.customers,
            provider: self.provider,
            publishVerdict: self.publishVerdict,
            clock: self.clock
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

    /// The provider is asked about the verdict of a webhook, and has decided so.
    @discardableResult
    func confirm(_ id: String, _ status: ProviderVerification) async throws -> JobOutcome {
        self.provider.set(status)
        return try await self.run(NotificationJob.confirmVerdict, id) { try await self.confirmVerdict($0) }
    }

    /// Titles in a user's inbox, newest first.
    func titles(_ user: UUID) async throws -> [String] {
        try await self.inbox.page(UserID(user), before: nil, limit: 50, on: self.requests).map(\.title)
    }

    /// A person marks everything read, or everything up to a message.
    @discardableResult
    func readAll(upTo id: UUID? = nil, as user: UserID) async throws -> Int64? {
        try await self.asUser(user) { try await self.inbox.markAllRead(upTo: id, of: user, in: $0) }
    }

    /// A person marks one message read.
    @discardableResult
    func read(_ id: UUID, as user: UserID) async throws -> InboxEntry? {
        try await self.asUser(user) { try await self.inbox.markRead(id, of: user, in: $0) }
    }

    /// Money arrives for a person from another.
    func moneyArrives(for person: UserID? = nil, amount: Int64 = 123_450, id: UUID? = nil) async throws {
        let event = TransactionCompleted(
            transactionID: self.ids.next(),
            senderID: UserID(clerkSubject: "user_somebody").uuid,
            recipientID: (person ?? self.ada).uuid,
            amount: amount,
            type: Open(.p2p),
            route: Open(.internal),
            fee: 0,
            duty: 0,
            timestamp: Timestamp.text(self.clock.now)
        )
        try await self.hear(event, id: id)
    }

    /// Changes what a person wants to hear.
    @discardableResult
    func change(_ request: NotificationPreferencesRequest, of user: UserID) async throws -> NotificationPreferences {
        try await self.asUser(user) { transaction in
            let wishes = try await self.preferences.lock(user, in: transaction).changed(by: request)
            try await self.preferences.save(wishes, of: user, in: transaction)
            return wishes
        }
    }

    // MARK: Phones

    /// A person's phone is registered.
    @discardableResult
    func register(
        _ token: String,
        of user: UserID,
        device: UUID? = nil,
        session: String? = nil
    ) async throws -> RegisteredToken {
        if (try? await self.keys.key(for: user)) == nil { self.keys.set(DataKey(), for: user) }
        let token = try PushToken(checking: token)
        let sealed = try await SealPushToken(keys: self.keys)(token, of: user)
        return try await self.asUser(user) { transaction in
            try await self.pushes.register(
                token,
                sealed: sealed,
                device: device,
                session: session,
                of: user,
                in: transaction
            )
        }
    }

    func sendPush(by sender: (any PushSender)? = nil) -> SendPush {
        SendPush(
            database: self.work,
            pushes: self.pushes,
            keys: self.keys,
            sender: sender ?? self.apple,
            clock: self.clock
        )
    }

    /// The keys of the pushes that wait.
    func waitingPushes() async throws -> [String] {
        try await self.database.psql(
            "SELECT key FROM jobs WHERE kind = 'send_push' AND state = 'queued' ORDER BY created_at, key"
        )
    }

    /// Runs a push's job.
    func push(_ key: String, by sender: (any PushSender)? = nil) async throws -> JobOutcome {
        let send = self.sendPush(by: sender)
        return try await self.run(NotificationJob.sendPush, key) { try await send($0) }
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
        schema: try NotificationSchema.sets(),
        handlers: NotificationWorld.handlers
    ) { service in
        try await body(NotificationWorld(service: service))
    }
}
