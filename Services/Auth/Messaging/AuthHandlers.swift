import Contracts
import Messaging
import Primitives

/// Event -> what auth does.
enum AuthHandlers {
    /// The table.
    static func make(
        users: UserStore,
        closeProfile: CloseProfile,
        eraseClosed: EraseClosedProfiles
    ) -> EventHandlers {
        var handlers = EventHandlers()
        handlers.on(CustomerVerified.self) { event, transaction in
            try await users.setVerification(
                UserID(event.data.userID),
                Open(.approved),
                sequence: event.attributes.sequence,
                in: transaction
            )
        }
        handlers.on(CustomerRejected.self) { event, transaction in
            try await users.setVerification(
                UserID(event.data.userID),
                event.data.status,
                reason: event.data.reason,
                sequence: event.attributes.sequence,
                in: transaction
            )
        }
        handlers.on(CustomerDetailsRefused.self) { event, transaction in
            try await users.setRefusal(event, in: transaction)
        }
        // An operator has closed the profile: there it stops receiving, here it stops approving.
        handlers.on(UserRestricted.self) { event, transaction in
            if try await users.setRestriction(event, in: transaction) {
                try await BarFormer(users: users).restricted(event.data, in: transaction)
            }
            guard event.data.restriction == .known(.closed) else { return }
            try await closeProfile(UserID(event.data.userID), in: transaction)
        }
        handlers.on(UserErasureCleared.self) { event, transaction in
            try await eraseClosed.cleared(UserID(event.data.userID), in: transaction)
        }
        return handlers
    }
}
