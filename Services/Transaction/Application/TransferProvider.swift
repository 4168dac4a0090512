import AnchorClient
import Foundation
import Messaging
import Primitives

/// The part of the provider that moves money.
protocol TransferProvider: Sendable {
    /// Whether a call may be made now: the circuit is not open.
    var isAvailable: Bool { get async }
    /// Orders a transfer.
    func createTransfer(_ order: TransferOrder, deadline: Duration?) async throws(AnchorError) -> TransferSnapshot
    /// Asks for a transfer by our reference; nil when the provider has none.
    func transfer(reference: String, deadline: Duration?) async throws(AnchorError) -> TransferSnapshot?
}

/// The real one.
struct AnchorTransfers: TransferProvider {
    let client: AnchorClient
    let circuit: AnchorCircuit
    let clock: any TimeSource

    var isAvailable: Bool {
        get async {
            guard case .open(let until) = self.circuit.state else { return true }
            return self.clock.now >= until
        }
    }

    func createTransfer(_ order: TransferOrder, deadline: Duration?) async throws(AnchorError) -> TransferSnapshot {
        try await self.client.createTransfer(order, deadline: deadline)
    }

    func transfer(reference: String, deadline: Duration?) async throws(AnchorError) -> TransferSnapshot? {
        try await self.client.transfer(reference: reference, deadline: deadline)
    }
}

extension JobOutcome {
    /// No call may be made now.
    static let providerUnavailable = JobOutcome.again(reason: "provider_unavailable", after: .seconds(5))
    /// `AnchorRepeats` gave nothing; each waits for a time of its own, so that not all come back at once.
    static var tooManyRepeats: JobOutcome {
        .again(reason: "too_many_repeats", after: .milliseconds(Int64.random(in: 2000...4000)))
    }
}
