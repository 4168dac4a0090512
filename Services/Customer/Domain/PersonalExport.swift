import Contracts
import Foundation
import Primitives

/// A person's request for all that is held about them, and how far it is.
struct PersonalExport: Sendable, Hashable {
    enum State: String, Sendable {
        case requested, collecting, ready, failed, expired
    }

    /// Why it came to nothing, as a code.
    enum Failure: String, Sendable {
        /// A service did not answer for too long.
        case notCollected = "not_collected"
        /// There is more than is ever collected.
        case tooLarge = "too_large"
    }

    /// What is asked for next.
    struct Place: Sendable, Hashable {
        let service: ServiceName
        /// What the service named as next; nil at its beginning.
        let cursor: String?

        /// The beginning of all.
        static let first = Place(service: Self.order[0], cursor: nil)
        /// In which order services are asked.
        private static let order = ServiceName.allCases

        /// What comes after a page of this place; nil when that was the last of all.
        func following(next cursor: String?) -> Place? {
            if let cursor { return Place(service: self.service, cursor: cursor) }
            guard let index = Self.order.firstIndex(of: self.service), index + 1 < Self.order.count else { return nil }
            return Place(service: Self.order[index + 1], cursor: nil)
        }

        /// As it is stored: the service, and behind a blank the cursor.
        var text: String { self.cursor.map { "\(self.service.rawValue) \($0)" } ?? self.service.rawValue }

        init(service: ServiceName, cursor: String?) {
            self.service = service
            self.cursor = cursor
        }

        /// Reads what `text` wrote.
        init?(text: String) {
            let parts = text.split(separator: " ", maxSplits: 1)
            guard let name = parts.first, let service = ServiceName(rawValue: String(name)) else { return nil }
            self.init(service: service, cursor: parts.count == 2 ? String(parts[1]) : nil)
        }
    }

    let id: UUID
    let user: UserID
    let state: State
    let requestedAt: Date
    /// Nil when nothing more is collected.
    let place: Place?
    let parts: Int
    /// Bytes of JSON.
    let size: Int64
    let reason: String?
    let readyAt: Date?
    let expiresAt: Date?

    /// A person asks at most once in so long, and for so long the file is kept.
    static let day = TimeInterval(86_400)
    /// A collection that takes longer has failed.
    static let patience = TimeInterval(6 * 3600)
    /// Parts of one export at most: about a million rows.
    static let maximumParts = 5000

    /// Whether it is being collected.
    var isRunning: Bool { self.state == .requested || self.state == .collecting }

    /// How it stands at a moment: its file is gone on time, whenever it is deleted.
    func state(at moment: Date) -> State {
        guard self.state == .ready, let expiresAt = self.expiresAt, expiresAt <= moment else { return self.state }
        return .expired
    }

    /// How long the person has to wait before asking again; nil when they may ask now.
    ///
    /// One that failed does not count.
    func wait(at moment: Date) -> Int? {
        guard self.state != .failed else { return nil }
        let left = self.requestedAt.addingTimeInterval(Self.day).timeIntervalSince(moment)
        return left > 0 ? Int(left.rounded(.up)) : nil
    }
}
