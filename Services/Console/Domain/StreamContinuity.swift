/// Decides from the first entry of each batch whether anything was left out since the one before.
///
/// Reading begins with the last entry that is stored already, the anchor: only when it is there, with the same bytes, is
/// the log the one that was read before, and whole since then. A log that was deleted and declared again counts from 0.
///
/// Offsets have small holes: the broker itself writes to a stream, such as at the beginning of each segment. What is lost
/// is lost by whole segments.
struct StreamContinuity: Sendable {
    /// Where reading begins.
    enum Beginning: Sendable, Hashable {
        /// Nothing was ever read.
        case never
        /// The log was made anew, and nothing was read of the new one; that there is a gap is recorded.
        case anew
        /// After this entry.
        case after(StreamPlace)
    }

    /// The first entry of a batch.
    struct First: Sendable {
        let place: StreamPlace
        /// Whether it is the first one of a subscription.
        let opensSubscription: Bool
    }

    /// What to do with a batch.
    enum Verdict: Sendable, Equatable {
        /// Store it, but for so many entries at its beginning, which are stored.
        case take(skipping: Int)
        /// These entries are gone; store the batch, and fetch the others elsewhere.
        case takeAfterGap(Range<UInt64>, GapReason)
        /// It cannot be told: begin again with the anchor.
        case reanchor
        /// It is another log: begin with its first entry, and fetch elsewhere what may be missing.
        case beginAnew
    }

    private var beginning: Beginning
    /// The last entry that was judged, once there is one.
    private var last: UInt64?

    init(_ beginning: Beginning) { self.beginning = beginning }

    /// Judges `count` entries whose offsets have no holes.
    mutating func judge(_ first: First, count: Int) -> Verdict {
        let offset = first.place.offset
        let verdict: Verdict
        if let last = self.last {
            verdict = first.opensSubscription || offset <= last ? .reanchor : Self.verdict(after: last, offset)
        } else {
            verdict = self.judgeBeginning(first.place)
        }
        if verdict != .reanchor && verdict != .beginAnew { self.last = offset + UInt64(max(count, 1)) - 1 }
        return verdict
    }

    private func judgeBeginning(_ place: StreamPlace) -> Verdict {
        switch self.beginning {
        case .anew: return .take(skipping: 0)
        case .never:
            let isBeginning = place.offset <= Self.smallHole
            return isBeginning ? .take(skipping: 0) : .takeAfterGap(0..<place.offset, .beganLate)
        case .after(let anchor):
            guard place.offset >= anchor.offset else { return .beginAnew }
            if place.offset == anchor.offset { return place.digest == anchor.digest ? .take(skipping: 1) : .beginAnew }
            return Self.verdict(after: anchor.offset, place.offset)
        }
    }

    /// The most offsets that the broker takes for itself in one place.
    private static let smallHole: UInt64 = 16

    private static func verdict(after last: UInt64, _ next: UInt64) -> Verdict {
        let missing = last + 1..<next
        return missing.count <= Int(self.smallHole) ? .take(skipping: 0) : .takeAfterGap(missing, .truncated)
    }
}

/// Why events may be missing.
enum GapReason: String, Sendable {
    /// The log had lost its beginning when the archive began.
    case beganLate = "began_late"
    /// The log was cut before it was read.
    case truncated
    /// The log was deleted and declared again.
    case madeAnew = "made_anew"
    /// An operator wants the outboxes to be read.
    case asked
}
