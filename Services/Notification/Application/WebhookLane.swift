import AnchorClient
import Messaging
import ServiceKit
import ServiceLifecycle

/// Takes webhooks that come at once together: a thousand transfers that end at once cost few transactions.
///
/// Each is answered when its own row is committed.
struct WebhookLane: Service {
    private let takeWebhook: TakeWebhook
    private let lane: BatchLane<TakeWebhook.Arrival, Bool>

    init(takeWebhook: TakeWebhook) {
        self.takeWebhook = takeWebhook
        // What is refused the provider sends again.
        let refusal = NotificationError.tooManyWebhooks
        self.lane = BatchLane(full: refusal, closed: refusal) { try await takeWebhook.all($0) }
    }

    /// Takes an event; true when it was new.
    ///
    /// - Throws: `NotificationError.tooManyWebhooks`; what the database throws.
    func take(_ event: WebhookEvent, cause: Cause) async throws -> Bool {
        guard TakeWebhook.isPlain(event) else { return try await self.takeWebhook(event, cause: cause) }
        return try await self.lane.submit(TakeWebhook.Arrival(event: event, cause: cause))
    }

    /// Works until cancelled.
    func work() async { await self.lane.run() }

    /// Runs until told to stop, which happens when the public server has answered its last request.
    func run() async {
        await cancelWhenGracefulShutdown { await self.work() }
    }
}
