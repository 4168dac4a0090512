import Foundation
import Hummingbird
import Primitives

extension AnchorRoutes {
    func addPayments(to group: RouterGroup<SandboxContext>) {
        let provider = self.provider
        group.get("inbound-transfers") { request, _ in
            let page = Page(request)
            let number = request.query("accountNumberId") ?? ""
            return Response.json(provider.store.read { $0.inboundPage(page, accountNumberID: number) })
        }
        group.get("inbound-transfers/:id") { _, context in
            let id = context.text("id")
            let payment = try provider.store.read { $0.inbound[id] }.orNotFound("Inbound transfer")
            return Response.json(single(payment.transferJSON))
        }
        group.get("payments/:id") { _, context in
            let id = context.text("id")
            let payment = provider.store.read { state in
                let twin = id.hasSuffix("-anc_py") ? String(id.dropLast(6)) + "anc_inb_trsf" : id
                return state.inbound[twin]
            }
            guard let payment, payment.isSettled else { throw Refusal.notFound("Payment") }
            return Response.json(single(payment.paymentJSON(id: id)))
        }
        group.get("transactions") { request, _ in
            let page = Page(request)
            let account = request.query("accountId") ?? ""
            let days = try request.days()
            let json: JSON? = provider.store.read { state in
                guard state.accounts[account] != nil else { return nil }
                // Rows are in order of time, so the days cut a range.
                let rows = (state.rows[account] ?? []).drop { $0.createdAt < days.lowerBound }.prefix {
                    $0.createdAt < days.upperBound
                }
                return page.cut(rows) { $0.json }
            }
            return Response.json(try json.orNotFound("Deposit Account"))
        }
        group.post("transaction-notification") { request, _ in
            let body = try await request.bytes()
            let payment = try provider.perform { try $0.simulateTransfer(body) }
            return Response.json(single(payment.paymentJSON(id: payment.id)))
        }
    }
}

extension Request {
    /// The moments between the parameters `from` and `to`, which are days; all of them without.
    func days() throws(Refusal) -> Range<Int64> {
        let from = try Self.day(self.query("from")) ?? 0
        let end = try Self.day(self.query("to")).map { $0 + 86_400_000 } ?? Int64.max
        return from..<max(from, end)
    }

    private static func day(_ text: String?) throws(Refusal) -> Int64? {
        guard let text else { return nil }
        guard let date = Timestamp.parse(text.contains("T") ? text : text + "T00:00:00") else {
            throw Refusal.badRequest("from and to must be dates")
        }
        return date.millisecondsSince1970
    }
}

extension SandboxState {
    /// The inbound transfers to one account number; none for a number that does not exist.
    fileprivate func inboundPage(_ page: Page, accountNumberID: String) -> JSON {
        let owner = accountNumberID.split(separator: "-").first.map { "\($0)-anc_acc" } ?? ""
        let ids = self.accounts[owner]?.numberID == accountNumberID ? self.inboundByAccount[owner] ?? [] : []
        return page.cut(ids) { self.inbound[$0]?.transferJSON }
    }

    /// The provider's own way to fund an account in its test environment.
    mutating func simulateTransfer(_ body: [UInt8]) throws(Refusal) -> InboundPayment {
        let document = try Document(body)
        guard document.type == "Notification" else { throw .badRequest("data.type must be Notification") }
        guard let amount = document.attributes.json["transactionAmount"]?.number, amount > 0 else {
            throw .badRequest("transactionAmount must be a positive whole number")
        }
        let id = try document.relationships.link("destinationAccount").id
        guard self.accounts[id] != nil else { throw .notFound("Deposit Account") }
        let source = document.attributes.json["sourceAccount"]
        let payment = InboundPayment(
            id: self.newID("anc_inb_trsf"),
            reference: self.newID("ref"),
            accountID: id,
            amount: amount,
            payerName: source?["accountName"]?.text ?? "SANDBOX PAYER",
            payerNumber: source?["accountNumber"]?.text ?? "0000000001",
            narration: "simulated transfer",
            events: .nip,
            settleDelay: 0,
            createdAt: self.now
        )
        self.receive(payment)
        return payment
    }
}
