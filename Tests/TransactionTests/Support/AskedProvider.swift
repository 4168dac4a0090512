import AnchorClient
import EventLoops
import Primitives

@testable import TransactionService

/// A provider that answers as it was told to, and counts what it was asked.
struct AskedProvider: TransferProvider {
    private struct State {
        var transfers: [String: TransferSnapshot] = [:]
        var refusal: AnchorError?
        var silence: AnchorError?
        var orders: [String] = []
        var questions = 0
        var deadlines: [Duration] = []
    }

    private let state = Locked<State>(State())

    /// References of the orders that reached it.
    var orders: [String] { self.state.withLock { $0.orders } }
    /// How often it was asked about a transfer.
    var questions: Int { self.state.withLock { $0.questions } }
    /// How much time the orders had.
    var deadlines: [Duration] { self.state.withLock { $0.deadlines } }

    /// It refuses every order so; nil: it takes them.
    func refuses(_ error: AnchorError?) { self.state.withLock { $0.refusal = error } }

    /// It does not answer questions; nil: it does.
    func isSilent(_ error: AnchorError?) { self.state.withLock { $0.silence = error } }

    /// How a transfer stands there; nil: it has none.
    func has(_ reference: String, _ status: TransferStatus?) {
        self.state.withLock { state in
            state.transfers[reference] = status.map { status in
                TransferSnapshot(
                    id: "\(reference)-anc_trsf",
                    reference: reference,
                    rail: .book,
                    amount: Money(kobo: 100),
                    status: status
                )
            }
        }
    }

    var isAvailable: Bool { true }

    func createTransfer(_ order: TransferOrder, deadline: Duration?) async throws(AnchorError) -> TransferSnapshot {
        let refusal = self.state.withLock { state in
            state.orders.append(order.reference)
            if let deadline { state.deadlines.append(deadline) }
            return state.refusal
        }
        if let refusal { throw refusal }
        let taken = TransferSnapshot(
            id: "\(order.reference)-anc_trsf",
            reference: order.reference,
            rail: order.rail,
            amount: order.amount,
            status: .pending
        )
        self.state.withLock { $0.transfers[order.reference] = taken }
        return taken
    }

    func transfer(reference: String, deadline: Duration?) async throws(AnchorError) -> TransferSnapshot? {
        let (silence, found) = self.state.withLock { state in
            state.questions += 1
            return (state.silence, state.transfers[reference])
        }
        if let silence { throw silence }
        return found
    }
}
