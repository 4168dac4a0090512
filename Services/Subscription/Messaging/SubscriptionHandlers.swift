import Contracts
import Foundation
import Messaging
import Primitives
import ServiceKit

/// Event -> what subscription does.
enum SubscriptionHandlers {
    /// The table.
    static func make(
        subscriptions: SubscriptionStore,
        usage: UsageStore,
        approvals: ApprovalStore,
        profiles: ProfileStore,
        unsubscribe: Unsubscribe,
        settle: SettleCharge
    ) -> EventHandlers {
        var handlers = EventHandlers()
        handlers.on(UserCreated.self) { event, transaction in
            try await subscriptions.create(UserID(event.data.userID), in: transaction)
        }
        handlers.on(UserErased.self) { event, transaction in
            try await unsubscribe.erased(UserID(event.data.userID), in: transaction)
            try await profiles.close(UserID(event.data.userID), in: transaction)
        }
        handlers.on(UserRestricted.self) { event, transaction in
            guard event.data.restriction == .known(.closed) else { return }
            try await profiles.close(UserID(event.data.userID), in: transaction)
        }
        Self.addDevices(to: &handlers, approvals)
        Self.addUsage(to: &handlers, usage)
        handlers.on(SubscriptionChargePaid.self) { event, transaction in
            try await settle.paid(event.data, in: transaction)
        }
        handlers.on(SubscriptionChargeRefused.self) { event, transaction in
            try await settle.refused(event.data, in: transaction)
        }
        return handlers
    }

    private static func addDevices(to handlers: inout EventHandlers, _ approvals: ApprovalStore) {
        handlers.on(DeviceRegistered.self) { event, transaction in
            let data = event.data
            guard let key = Base64URL.decode(data.publicKey) else { throw EventProblem.undecodableData }
            try await approvals.register(data.deviceID, of: UserID(data.userID), key: key, in: transaction)
        }
        handlers.on(DeviceRevoked.self) { event, transaction in
            try await approvals.revoke(event.data.deviceID, of: UserID(event.data.userID), in: transaction)
        }
        let facts = ApprovalFactStore()
        facts.hear(in: &handlers)
        handlers.on(PINSet.self) { try await facts.endPINs($0.data.userID, $0.attributes.sequence, $1) }
        handlers.on(PINReset.self) { try await facts.endPINs($0.data.userID, $0.attributes.sequence, $1) }
    }

    private static func addUsage(to handlers: inout EventHandlers, _ usage: UsageStore) {
        handlers.on(ExternalSlotTaken.self) { event, transaction in
            let data = event.data
            let count = try Self.count(data.userID, data.month, data.used, step: 1, event.attributes)
            try await usage.record(count, in: transaction)
        }
        handlers.on(ExternalSlotReleased.self) { event, transaction in
            let data = event.data
            let count = try Self.count(data.userID, data.month, data.used, step: -1, event.attributes)
            try await usage.record(count, in: transaction)
        }
    }

    // `used` is nil when `transaction` no longer counts that month: then the change alone is known.
    private static func count(
        _ user: UUID,
        _ month: String,
        _ used: Int?,
        step: Int,
        _ attributes: EventAttributes
    ) throws -> UsageCount {
        guard let month = UsageMonth(text: month) else { throw EventProblem.undecodableData }
        return UsageCount(
            user: UserID(user),
            month: month,
            used: used,
            step: step,
            sequence: attributes.sequence
        )
    }
}
