import Hummingbird

extension AnchorRoutes {
    func addCounterparties(to group: RouterGroup<SandboxContext>) {
        let provider = self.provider
        group.get("banks") { _, _ in Response.json(["data": .array(SandboxBank.all.map(\.json))]) }
        group.get("payments/verify-account/:bank/:number") { _, context in
            let bank = try SandboxBank.find(context.text("bank")).orNotFound("Bank")
            let number = context.text("number")
            let name = try provider.store.read { $0.holder(of: number) }.orNotFound("Account")
            let attributes: [String: JSON] = [
                "accountName": .string(name), "accountNumber": .string(number), "bank": bank.inline,
            ]
            return Response.json(single(resource("0", "AccountDetail", attributes)))
        }
        group.post("counterparties") { request, _ in
            let body = try await request.bytes()
            let counterparty = try provider.perform { try $0.createCounterparty(body) }
            return Response.json(single(counterparty.json), status: .created)
        }
        group.get("counterparties/:id") { _, context in
            let id = context.text("id")
            let counterparty = provider.store.read { $0.counterparties[id] }
            return Response.json(single(try counterparty.orNotFound("CounterParty").json))
        }
        group.delete("counterparties/:id") { _, context in
            let id = context.text("id")
            try provider.perform { try $0.removeCounterparty(id: id) }
            return Response.json(["data": ["id": .string(id)]])
        }
    }
}
