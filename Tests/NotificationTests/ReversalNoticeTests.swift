import Contracts
import Foundation
import Testing

@testable import NotificationService

@Suite("Messages about reversals")
struct ReversalNoticeTests {
    private func reversal(_ type: TransactionType, from sender: UUID?, to recipient: UUID) -> TransactionReversed {
        TransactionReversed(
            transactionID: UUID(),
            senderID: sender,
            recipientID: recipient,
            amount: 30_000,
            type: .known(type),
            route: .known(.internal),
            fee: 0,
            duty: 0,
            receivable: 20_000,
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    }

    @Test("payer and payee hear once that money was taken back, whether it had waited in suspense or not")
    func once() {
        let (payer, payee) = (UUID(), UUID())
        #expect(Notice.reversed(self.reversal(.p2p, from: payer, to: payee)).count == 2)
        #expect(Notice.reversed(self.reversal(.inbound, from: nil, to: payee)).isEmpty)
    }
}
