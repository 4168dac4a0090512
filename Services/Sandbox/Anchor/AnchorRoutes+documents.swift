import Hummingbird

extension AnchorRoutes {
    func addDocuments(to group: RouterGroup<SandboxContext>) {
        let provider = self.provider
        group.get("documents/:id") { _, context in
            let id = context.text("id")
            let documents = try provider.store.read { state in
                state.customers[id].map { state.documents(of: $0.id) }
            }.orNotFound("Customer")
            return Response.json(["data": .array(documents.map(\.json))])
        }
        group.post("documents/upload-document/:customer/:document") { request, context in
            let (customer, document) = (context.text("customer"), context.text("document"))
            let form = try await request.form()
            return Response.json(
                single(try provider.perform { try $0.takeDocument(document, of: customer, form) }.json)
            )
        }
    }
}
