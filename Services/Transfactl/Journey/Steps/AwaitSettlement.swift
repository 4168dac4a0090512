import Contracts
import Primitives

/// Every payment ends as completed, and everybody has heard of it.
struct AwaitSettlement {
    let stage: Stage
    let cast: Cast
    let payments: [Payment]

    func callAsFunction() async throws(Failure) {
        self.stage.report.step("All payments are completed")
        var reroutes: [Bool] = []
        for (index, payment) in self.payments.enumerated() {
            try await self.completion(of: payment, number: index + 1)
            let events = try await self.stage.trail(of: payment.answer, with: self.expected(payment))
            self.stage.show(events)
            reroutes.append(events.contains { $0.type == TransferReroutedInternal.type })
        }
        let told = reroutes.filter { $0 }.count
        self.stage.report.check(
            "transfer.rerouted.internal tells of the payments into the wallet and of no other",
            reroutes == self.payments.map { $0.route == .internal },
            "\(told) events for \(self.payments.filter { $0.route == .internal }.count) payments"
        )
    }

    private func completion(of payment: Payment, number: Int) async throws(Failure) {
        let (id, payer) = (payment.response.transactionID, self.cast.ada)
        let ended = try await self.stage.end(of: id, by: payer, "payment \(number) is completed")
        guard ended.state == "completed" else {
            throw Failure("Payment \(number) ended as \(ended.state): \(ended.failureReason ?? "no reason given").")
        }
    }

    private func expected(_ payment: Payment) -> [EventType] {
        let common = [TransactionCreated.type, TransactionCompleted.type]
        return common + (payment.route == .external ? [ExternalSlotTaken.type] : [])
    }
}
