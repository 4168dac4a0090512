import Hummingbird

extension AnchorRoutes {
    func addCustomers(to group: RouterGroup<SandboxContext>) {
        let provider = self.provider
        group.post("customers") { request, _ in
            let body = try await request.bytes()
            let customer = try provider.perform { try $0.createCustomer(body) }
            return Response.json(single(customer.json), status: .created)
        }
        group.get("customers") { request, _ in
            let page = Page(request)
            let query = request.query("query")?.lowercased()
            return Response.json(
                provider.store.read { state in
                    guard let query else { return page.cut(state.customerOrder) { state.customers[$0]?.json } }
                    let found = state.customerByEmail[query].map { [$0] } ?? []
                    return page.cut(found) { state.customers[$0]?.json }
                }
            )
        }
        group.get("customers/search") { request, _ in
            let page = Page(request)
            let value = request.query("searchValue")?.lowercased() ?? ""
            return Response.json(
                provider.store.read { state in
                    page.cut(state.customerByEmail[value].map { [$0] } ?? []) { state.customers[$0]?.json }
                }
            )
        }
        group.get("customers/:id") { _, context in
            let id = context.text("id")
            return Response.json(single(try provider.store.read { $0.customers[id]?.json }.orNotFound("Customer")))
        }
        group.put("customers/update/:id") { request, context in
            let id = context.text("id")
            let body = try await request.bytes()
            return Response.json(single(try provider.perform { try $0.updateCustomer(id, body) }.json))
        }
        self.addVerification(to: group)
    }

    private func addVerification(to group: RouterGroup<SandboxContext>) {
        let provider = self.provider
        group.post("customers/:id/verification/individual") { request, context in
            let id = context.text("id")
            let body = try await request.bytes()
            try provider.perform { try $0.startIndividualVerification(id, body) }
            return Response.json(["data": ["message": "KYC initiated"]])
        }
        group.post("customers/:id/verification/business") { request, context in
            let id = context.text("id")
            _ = try await request.fields()
            try provider.perform { try $0.startBusinessVerification(id) }
            return Response.json(["data": ["message": "KYB initiated"]])
        }
    }
}
