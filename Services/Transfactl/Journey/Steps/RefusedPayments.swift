import Contracts

/// Payments that must not go through.
struct RefusedPayments {
    let stage: Stage
    let cast: Cast

    func callAsFunction() async throws(Failure) {
        try await self.fromReceiver()
        try await self.withoutApproval()
    }

    private func fromReceiver() async throws(Failure) {
        self.stage.report.step("The merchant only receives: its payment is refused")
        let settings = try Call.put(.service(.customer), "/users/me/settings", SettingsRequest(allowSending: false))
        _ = try await self.stage.require(
            200,
            from: settings,
            as: self.cast.merchant,
            causing: [UserSettingsChanged.type]
        )
        let order = try PaymentOrder(from: self.cast.merchant, to: self.cast.bola, description: "Must be refused").call
        let call = try await Approver(stage: self.stage).approve(order, as: self.cast.merchant, by: .pin)
        let answer = try await self.stage.perform(call, as: self.cast.merchant)
        self.check("a receive-only merchant cannot pay", answer, code: "receive_only")
    }

    private func withoutApproval() async throws(Failure) {
        self.stage.report.step("A payment without approval is refused")
        let call = try PaymentOrder(from: self.cast.ada, to: self.cast.bola, description: "Must be refused").call
        let answer = try await self.stage.perform(call, as: self.cast.ada)
        self.check("nothing is paid without approval", answer, code: "approval_required")
    }

    private func check(_ name: String, _ answer: Answer, code: String) {
        let found = answer.errorCode ?? "no code"
        self.stage.report.check(
            name,
            answer.status == 403 && found == code,
            "status \(answer.status) \(found), wanted 403 \(code)"
        )
    }
}
