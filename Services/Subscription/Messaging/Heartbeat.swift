import Contracts
import Messaging
import Primitives

/// Says every five seconds that subscription has published all it knows: transfers wait while this is missing.
enum Heartbeat {
    static let interval = Duration.seconds(5)

    static let schedule = Schedule("heartbeat", every: Heartbeat.interval) { transaction in
        try await transaction.publish(SubscriptionHeartbeat(at: Timestamp.text(transaction.now)), about: "subscription")
    }
}
