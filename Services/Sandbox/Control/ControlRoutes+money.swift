import HTTPTypes
import Hummingbird

extension ControlRoutes {
    func addMoney(to group: RouterGroup<SandboxContext>) {
        let provider = self.provider
        group.post("accounts") { request, _ in
            let fields = try await request.fields()
            let name = try fields.text("name")
            let id = fields.json["id"]?.text
            let json = try provider.perform { state in
                let account = try state.createOrganisationAccount(name: name, id: id)
                return JSON.object(["id": .string(account.id), "account_number": .string(account.number)])
            }
            return Response.json(json, status: .created)
        }
        group.post("accounts/:id/fund") { request, context in
            let order = try FundOrder(try await request.fields())
            let id = context.text("id")
            return Response.json(try provider.perform { try $0.fund(id, order) }, status: .created)
        }
        group.put("banks/accounts/:number/holder") { request, context in
            let number = context.text("number")
            guard number.utf8.count == 10, number.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw Refusal.badRequest("an account number has ten digits")
            }
            let name = try await request.fields().text("name")
            try provider.perform { $0.record(.holderNamed(number: number, name: name)) }
            return Response.json(["status": "ok"])
        }
        group.post("payments/:id/settle") { _, context in
            let id = context.text("id")
            let payment = try provider.perform { state in
                state.settleInbound(id)
                return state.inbound[id]
            }
            return Response.json(single(try payment.orNotFound("Inbound transfer").transferJSON))
        }
        group.post("transfers/:id/outcome") { request, context in
            let words = Transfer.Status.self
            let outcome = try await request.fields().word("outcome", of: ["completed", "failed", "reversed"])
            let status = try words.init(rawValue: outcome.uppercased()).orNotFound("Outcome")
            let id = context.text("id")
            let json = try provider.perform { state in
                let transfer = try state.decideTransfer(id, status)
                return single(state.resource(transfer))
            }
            return Response.json(json)
        }
        group.post("transfers/:id/amount") { request, context in
            guard let amount = try await request.fields().json["amount"]?.number, amount > 0 else {
                throw Refusal.badRequest("amount must be a positive whole number")
            }
            let id = context.text("id")
            let json = try provider.perform { state in
                let transfer = try state.alterTransfer(id, amount)
                return single(state.resource(transfer))
            }
            return Response.json(json)
        }
    }

    /// What people at the provider decide about customers.
    func addCustomers(to group: RouterGroup<SandboxContext>) {
        let provider = self.provider
        group.get("customers/:id/documents") { _, context in
            let id = context.text("id")
            let documents = provider.store.read { $0.documents(of: id) }
            return Response.json(["data": .array(documents.map(\.report))])
        }
        group.post("customers/:id/documents/:document") { request, context in
            let (id, document) = (context.text("id"), context.text("document"))
            let outcome = try await request.fields().word("outcome", of: ["approved", "rejected"])
            try provider.perform { try $0.decideDocument(document, of: id, isApproved: outcome == "approved") }
            return Response.json(["status": "ok"])
        }
        group.post("customers/:id/verification") { request, context in
            let id = context.text("id")
            let word = try await request.fields().text("outcome")
            guard let plan = VerificationPlan(rawValue: word), plan != .never else {
                throw Refusal.badRequest("There is no outcome \(word)")
            }
            let customer = try provider.perform { state in
                state.decide(id, plan)
                return state.customers[id]
            }
            return Response.json(single(try customer.orNotFound("Customer").json))
        }
    }
}

/// Money to put into an account.
struct FundOrder: Sendable {
    var amount: Int64
    var events: InboundEvents
    var reference: String?
    var isWrapped: Bool?
    var settleDelay: Int64
    var payerName: String
    var payerNumber: String
    var narration: String

    init(_ fields: Fields) throws(Refusal) {
        let json = fields.json
        guard let amount = json["amount"]?.number, amount > 0 else {
            throw .badRequest("amount must be a positive whole number")
        }
        guard let events = InboundEvents(rawValue: json["events"]?.text ?? "nip") else {
            throw .badRequest("events must be nip, payment, both, repeated or none")
        }
        self.amount = amount
        self.events = events
        self.reference = json["reference"]?.text
        self.isWrapped = json["wrapper"]?.flag
        self.settleDelay = max(0, json["settle_delay_ms"]?.number ?? 0)
        self.payerName = json["payer_name"]?.text ?? "SANDBOX PAYER"
        self.payerNumber = json["payer_account_number"]?.text ?? "0000000001"
        self.narration = json["narration"]?.text ?? "sandbox funding"
    }
}

extension SandboxState {
    /// Lets money arrive, by the id of an account or its number.
    mutating func fund(_ idOrNumber: String, _ order: FundOrder) throws(Refusal) -> JSON {
        let id = self.accountByNumber[idOrNumber] ?? idOrNumber
        guard self.accounts[id] != nil else { throw .notFound("Deposit Account") }
        let payment = InboundPayment(
            id: self.newID("anc_inb_trsf"),
            reference: order.reference ?? self.newID("ref"),
            accountID: id,
            amount: order.amount,
            payerName: order.payerName,
            payerNumber: order.payerNumber,
            narration: order.narration,
            events: order.events,
            isWrapped: order.isWrapped,
            settleDelay: order.settleDelay,
            createdAt: self.now
        )
        self.receive(payment)
        return [
            "id": .string(payment.id), "reference": .string(payment.reference), "account": .string(id),
            "amount": .integer(payment.amount),
        ]
    }
}
