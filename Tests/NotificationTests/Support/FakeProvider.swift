import AnchorClient
import EventLoops

@testable import NotificationService

/// How an identity stands there; the events have a type of the same name.
typealias ProviderVerification = VerificationStatus

/// The provider in memory: one customer in one state.
final class FakeProvider: NotificationProvider {
    private let verification = Locked(VerificationStatus.pending)

    func set(_ status: VerificationStatus) { self.verification.withLock { $0 = status } }

    func customer(id: String, deadline: Duration?) async throws(AnchorError) -> CustomerSnapshot {
        CustomerSnapshot(id: id, kind: .individual, verification: self.verification.withLock { $0 })
    }
}
