import EventLoops
import Foundation
import Primitives

/// What was found out about approvals, for two seconds: long enough for a burst, short enough for an end.
final class ApprovalFactCache: Sendable {
    private struct Entry: Sendable {
        let facts: ApprovalFacts
        let until: ContinuousClock.Instant
    }

    private static let lifetime = Duration.seconds(2)
    private static let capacity = 4096

    private let entries = Locked<[ApprovalFacts.Question: Entry]>([:])
    private let lookup: ApprovalVerifier.Facts

    init(lookup: @escaping ApprovalVerifier.Facts) {
        self.lookup = lookup
    }

    /// What is known; a device that is not known yet is asked about each time.
    func facts(_ question: ApprovalFacts.Question) async throws -> ApprovalFacts {
        if let entry = self.entries.withLock({ $0[question] }), entry.until > .now {
            return entry.facts
        }
        let facts = try await self.lookup(question)
        guard question.device == nil || facts.deviceKey != nil else { return facts }
        let entry = Entry(facts: facts, until: .now.advanced(by: Self.lifetime))
        self.entries.withLock { entries in
            if entries.count >= Self.capacity {
                entries.removeAll(keepingCapacity: true)
            }
            entries[question] = entry
        }
        return facts
    }
}
