import Contracts

/// Ada pays bola seven times, approved by device and by PIN in turn; the first request is sent twice.
struct PaySevenTimes {
    let stage: Stage
    let cast: Cast

    func callAsFunction() async throws(Failure) -> [Payment] {
        self.stage.report.step("Ada pays bola \(Journey.payments) times")
        var payments: [Payment] = []
        for number in 1...Journey.payments {
            payments.append(try await self.pay(number))
        }
        self.checkRoutes(payments)
        return payments
    }

    private func pay(_ number: Int) async throws(Failure) -> Payment {
        let means: Approver.Means = number.isMultiple(of: 2) ? .pin : .device
        self.stage.report.note("payment \(number), approved by \(means.rawValue)")
        let order = try PaymentOrder(from: self.cast.ada, to: self.cast.bola, description: "Payment \(number)").call
        let call = try await Approver(stage: self.stage).approve(order, as: self.cast.ada, by: means)
        let answer = try await self.stage.require(202, from: call, as: self.cast.ada)
        if number == 1 { try await self.repeatRequest(call, first: answer) }
        return Payment(answer: answer, response: try answer.decode(P2PResponse.self))
    }

    /// That it moved money once shows in the wallets at the end.
    private func repeatRequest(_ call: Call, first: Answer) async throws(Failure) {
        self.stage.report.note("the same request again, under the same Idempotency-Key")
        let second = try await self.stage.perform(call, as: self.cast.ada)
        let isSame = second.status == first.status && second.body == first.body
        self.stage.report.check(
            "the same request twice gets the same answer",
            isSame,
            "status \(first.status) and \(second.status), bodies \(first.body == second.body ? "equal" : "differ"), "
                + (second.isReplay ? "marked as replayed" : "not marked as replayed")
        )
    }

    private func checkRoutes(_ payments: [Payment]) {
        let routes = payments.map(\.response.route)
        let external = routes.filter { $0 == Payment.Route.external.rawValue }.count
        let rerouted = routes.filter { $0 == Payment.Route.internal.rawValue }.count
        self.stage.report.check(
            "the free slots go to the bank, the rest into the wallet",
            external == Journey.freeSlots && rerouted == Journey.payments - Journey.freeSlots,
            "\(external) external, \(rerouted) internal: \(routes.joined(separator: ", "))"
        )
    }
}
