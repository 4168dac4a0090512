import Hummingbird

extension AnchorRoutes {
    func addAccounts(to group: RouterGroup<SandboxContext>) {
        let provider = self.provider
        group.post("accounts") { request, _ in
            let body = try await request.bytes()
            let json = try provider.perform { state in
                let account = try state.createAccount(body)
                return single(state.resource(account))
            }
            return Response.json(json, status: .created)
        }
        group.get("accounts/balance/:id") { _, context in
            let id = context.text("id")
            let account = try provider.store.read { $0.accounts[id] }.orNotFound("Deposit Account")
            return Response.json(["data": account.balanceJSON])
        }
        self.addAccountReads(to: group)
        self.addFreezing(to: group)
    }

    private func addAccountReads(to group: RouterGroup<SandboxContext>) {
        let provider = self.provider
        group.get("accounts") { request, _ in
            let page = Page(request)
            let customer = request.query("customerId")
            return Response.json(
                provider.store.read { state in
                    let ids = customer.map { state.accountsByCustomer[$0] ?? [] } ?? state.accountOrder
                    return page.cut(ids) { id in state.accounts[id].map { state.resource($0) } }
                }
            )
        }
        group.get("accounts/:id") { request, context in
            let id = context.text("id")
            let wantsNumber = request.query("include")?.split(separator: ",").contains("AccountNumber") ?? false
            let json: JSON? = provider.store.read { state in
                guard let account = state.accounts[id] else { return nil }
                guard wantsNumber else { return single(state.resource(account)) }
                let included = state.numberResource(account).map { [$0] } ?? []
                return ["data": state.resource(account), "included": .array(included)]
            }
            return Response.json(try json.orNotFound("Deposit Account"))
        }
        for path in ["account-number", "account-numbers"] {
            group.get("\(path)") { request, _ in
                let page = Page(request)
                let id = request.query("settlementAccountId") ?? request.query("AccountId") ?? ""
                return Response.json(
                    provider.store.read { state in
                        page.cut([id]) { id in state.accounts[id].flatMap { state.numberResource($0) } }
                    }
                )
            }
        }
    }

    private func addFreezing(to group: RouterGroup<SandboxContext>) {
        let provider = self.provider
        group.post("accounts/:id/freeze") { _, context in
            let id = context.text("id")
            try provider.perform { try $0.setFrozen(id, true) }
            return Response.json(["data": ["id": .string(id)]])
        }
        group.post("accounts/unfreeze") { request, _ in
            let data = try await request.fields().json["data"]
            let id = data?["id"]?.text ?? ""
            try provider.perform { try $0.setFrozen(id, false) }
            return Response.json(["data": ["id": .string(id)]])
        }
    }
}

extension Account {
    /// The plain object of the balance call.
    var balanceJSON: JSON {
        [
            "availableBalance": .integer(self.available), "ledgerBalance": .integer(self.ledger),
            "hold": .integer(self.hold), "pending": .integer(self.pending),
        ]
    }
}
