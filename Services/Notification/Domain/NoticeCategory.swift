/// What messages are about; a person chooses by category what to hear where.
enum NoticeCategory: String, CaseIterable, Sendable {
    case money
    case security
    case account
    case requests
    case drops
    case subscription

    /// Whether it is always heard, on every channel: who moved the money or took over the phone must not be able to
    /// keep its owner from hearing of it.
    var isAlwaysHeard: Bool { self == .money || self == .security }
}

/// Where messages go.
enum NoticeChannel: String, CaseIterable, Sendable {
    /// The inbox and the live stream.
    case inApp = "in_app"
    /// The phone's lock screen.
    case push
}
