import Primitives

/// What was found out about approvals, for two seconds.
final class ApprovalFactCache: Sendable {
    private let recent = RecentFacts<ApprovalFacts.Question, ApprovalFacts>()
    private let lookup: ApprovalVerifier.Facts

    init(lookup: @escaping ApprovalVerifier.Facts) {
        self.lookup = lookup
    }

    /// What is known; a device that is not known yet is asked about each time.
    func facts(_ question: ApprovalFacts.Question) async throws -> ApprovalFacts {
        let keeps = { (facts: ApprovalFacts) in question.device == nil || facts.deviceKey != nil }
        return try await self.recent.fact(question, keeping: keeps, look: self.lookup)
    }
}
