import Messaging

/// Looks every ten seconds for plans whose time is over.
enum LapseSchedule {
    static let interval = Duration.seconds(10)

    /// The schedule.
    static func make(_ lapseExpired: LapseExpired) -> Schedule {
        Schedule("lapse_expired", every: Self.interval) { try await lapseExpired(in: $0) }
    }
}
