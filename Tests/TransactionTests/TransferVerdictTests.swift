import AnchorClient
import Contracts
import Foundation
import Primitives
import Testing

@testable import TransactionService

@Suite("What the provider's word means")
struct TransferVerdictTests {
    private func snapshot(_ status: TransferStatus) -> TransferSnapshot {
        TransferSnapshot(id: "1-anc_trsf", reference: "trf-x", rail: .nip, amount: Money(kobo: 5), status: status)
    }

    @Test(
        "an answer decides only when it names an end",
        arguments: [
            (TransferStatus.completed, TransferVerdict.Outcome.completed),
            (.failed(reason: nil), .failed),
            (.reversed, .reversed),
            (.pending, .open),
            (.open(other: "REVERSAL_IN_PROGRESS"), .open),
        ]
    )
    func answers(status: TransferStatus, outcome: TransferVerdict.Outcome) {
        let verdict = TransferVerdict(self.snapshot(status), from: "answer")
        #expect(verdict.outcome == outcome)
        #expect(verdict.providerID == "1-anc_trsf")
        #expect(!verdict.evidence.isEmpty)
    }

    @Test("a word nobody knows is never a failure")
    func unknownWord() {
        let status = TransferStatus(wire: "SOMETHING_NEW")
        #expect(TransferVerdict(self.snapshot(status), from: "query").outcome == .open)
    }

    @Test(
        "an order that was not answered is unknown, never failed",
        arguments: [
            AnchorError.timedOut(sent: true), .timedOut(sent: false), .connectionLost(sent: true),
            .unavailable(status: 503),
            .malformed(what: "transfer"), .unauthorised, .rateLimited(retryAfter: nil), .circuitOpen, .notFound,
            .cancelled(sent: true),
        ]
    )
    func unanswered(_ error: AnchorError) {
        #expect(TransferVerdict(error, attempt: 1).outcome == .unknown)
    }

    @Test(
        "a refusal proves nothing by an unknown status, or in words that may tell of an earlier order",
        arguments: [
            (409, AnchorRefusalCode.other), (409, .insufficientFunds), (425, .other), (307, .other), (410, .other),
            (422, .other), (400, .doubtful), (400, .duplicateReference), (400, .alreadyExists), (422, .conflict),
            (412, .doubtful),
        ]
    )
    func doubtfulRefusals(status: Int, code: AnchorRefusalCode) {
        let error = AnchorError.refused(status: status, title: "Refused", code: code)
        #expect(TransferVerdict(error, attempt: 1).outcome == .unknown)
    }

    @Test("a refusal of what is sent again says nothing about the order before it")
    func secondAttempt() {
        let error = AnchorError.refused(status: 400, title: "Bad Request", code: .insufficientFunds)
        #expect(TransferVerdict(error, attempt: 1).outcome == .failed)
        for attempt: Int32 in [2, 3] { #expect(TransferVerdict(error, attempt: attempt).outcome == .unknown) }
    }

    @Test("a refusal that is meant for good is a failure with its reason")
    func refusal() {
        let verdict = TransferVerdict(
            .refused(
                status: 400,
                title: "Bad Request",
                code: .invalidReason
            ),
            attempt: 1
        )
        #expect(verdict.outcome == .failed)
        #expect(verdict.reason != nil)
    }

    @Test("a refusal because the reference exists says nothing about the money")
    func duplicate() {
        let error = AnchorError.refused(status: 409, title: "Conflict", code: .conflict)
        #expect(TransferVerdict(error, attempt: 1).outcome == .unknown)
    }

    @Test(
        "messages: the name of the event decides",
        arguments: [
            (ProviderTransferStatus.successful, TransferVerdict.Outcome.completed), (.failed, .failed),
            (.reversed, .reversed),
        ]
    )
    func messages(status: ProviderTransferStatus, outcome: TransferVerdict.Outcome) {
        let fact = ProviderTransferUpdated(
            anchorTransferID: "1-anc_trsf",
            status: Open(status),
            providerEventID: "9-anc_et"
        )
        #expect(TransferVerdict(fact)?.outcome == outcome)
        #expect(TransferVerdict(fact)?.evidence == "webhook:9-anc_et")
    }

    @Test("a message that something began, or of a kind we do not know, decides nothing")
    func undecided() {
        for status in [Open(ProviderTransferStatus.initiated), .unknown("paused")] {
            let fact = ProviderTransferUpdated(
                anchorTransferID: "1-anc_trsf",
                status: status,
                providerEventID: "9-anc_et"
            )
            #expect(TransferVerdict(fact) == nil)
        }
    }
}

@Suite("Our reference")
struct TransferReferenceTests {
    @Test("it gives back the transaction it was made from")
    func ours() throws {
        let id = try #require(UUID(uuidString: "01932F5E-0000-7000-8000-000000000001"))
        #expect(TransferReference.transaction(in: "trf-\(id.uuidString.lowercased())") == id)
    }

    @Test(
        "somebody else's is none",
        arguments: ["", "trf-", "trf-12", "sub-x", "xtrf-01932f5e-0000-7000-8000-000000000001"]
    )
    func others(_ reference: String) {
        #expect(TransferReference.transaction(in: reference) == nil)
    }
}

@Suite("What a message is enough for")
struct TransferStandingTests {
    private func standing(_ state: String, id: String? = "1-anc_trsf", isFunding: Bool = false) -> TransferStanding {
        TransferStanding(id: UUID(), state: state, providerID: id, isFunding: isFunding)
    }

    private func verdict(_ outcome: TransferVerdict.Outcome) -> TransferVerdict {
        TransferVerdict(outcome: outcome, evidence: "webhook:9-anc_et", providerID: "1-anc_trsf")
    }

    @Test("that money arrived, under the id that the provider gave; never for what others are paid from")
    func proven() {
        for state in ["submitted", "unknown"] { #expect(self.standing(state).isProven(by: self.verdict(.completed))) }
        for outcome in [TransferVerdict.Outcome.failed, .reversed] {
            #expect(!self.standing("submitted").isProven(by: self.verdict(outcome)))
        }
        #expect(!self.standing("submitted", id: nil).isProven(by: self.verdict(.completed)))
        #expect(!self.standing("submitted", id: "2-anc_trsf").isProven(by: self.verdict(.completed)))
        #expect(!self.standing("submitted", isFunding: true).isProven(by: self.verdict(.completed)))
        for state in ["accepted", "failed"] { #expect(!self.standing(state).isProven(by: self.verdict(.completed))) }
    }

    @Test("nobody is asked about what would change nothing")
    func news() {
        #expect(!self.standing("completed").isNews(.completed) && self.standing("completed").isNews(.reversed))
        #expect(!self.standing("failed").isNews(.failed) && self.standing("failed").isNews(.completed))
        #expect(!self.standing("reversed").isNews(.reversed) && self.standing("unknown").isNews(.failed))
    }
}
