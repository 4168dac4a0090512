import AnchorClient
import Contracts

extension TransferVerdict {
    /// The provider answered, to the order itself or to a query by reference.
    init(_ snapshot: TransferSnapshot, from source: String) {
        self.init(outcome: .open, evidence: "\(source):\(snapshot.id)", providerID: snapshot.id)
        self.sessionID = snapshot.sessionID
        switch snapshot.status {
        case .completed: self.outcome = .completed
        case .reversed: self.outcome = .reversed
        case .failed(let reason):
            self.outcome = .failed
            self.reason = reason ?? "provider_failed"
        case .pending, .open: break
        }
    }

    /// The order was not answered as hoped.
    ///
    /// Only a refusal of the first attempt that proves that nothing was taken is a failure. Everything else may have
    /// been acted on: unknown, until a query by reference has shown how it stands. What is refused when it is sent
    /// again says nothing about the order before it.
    init(_ error: AnchorError, attempt: Int32) {
        if attempt == 1, error.refusalProof == .certain, case .refused(let status, _, let code) = error {
            self.init(outcome: .failed, reason: code.rawValue, evidence: "refused:\(status):\(code.rawValue)")
        } else {
            self.init(outcome: .unknown, reason: nil, evidence: "no_answer:\(error)")
        }
    }

    /// The provider is said to have sent a message.
    ///
    /// Nil for one that decides nothing.
    init?(_ fact: ProviderTransferUpdated) {
        let evidence = "webhook:\(fact.providerEventID)"
        switch fact.status {
        case .known(.successful): self.init(outcome: .completed, evidence: evidence, providerID: fact.anchorTransferID)
        case .known(.reversed): self.init(outcome: .reversed, evidence: evidence, providerID: fact.anchorTransferID)
        case .known(.failed):
            self.init(
                outcome: .failed,
                reason: fact.reason ?? "provider_failed",
                evidence: evidence,
                providerID: fact.anchorTransferID
            )
        case .known(.initiated), .unknown: return nil
        }
    }
}

extension TransferStatus {
    /// The state as operators read it; a word of the provider's that we do not know is kept as far as it is one.
    var word: String {
        switch self {
        case .pending: "pending"
        case .completed: "completed"
        case .failed: "failed"
        case .reversed: "reversed"
        case .open(let other):
            String(other.lowercased().prefix(40).filter { $0.isASCII && ($0.isLetter || $0 == "_") })
        }
    }
}
