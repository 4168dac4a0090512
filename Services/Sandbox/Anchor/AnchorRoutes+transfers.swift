import HTTPTypes
import Hummingbird

extension AnchorRoutes {
    func addTransfers(to group: RouterGroup<SandboxContext>) {
        let provider = self.provider
        group.post("transfers") { request, _ in
            let key = request.headers[.anchorIdempotentKey]
            let body = try await request.bytes()
            let json = try provider.perform { state in
                let transfer = try state.takeTransfer(body, idempotencyKey: key)
                return single(state.resource(transfer))
            }
            return Response.json(json)
        }
        group.get("transfers/by-reference/:reference") { _, context in
            let reference = context.text("reference")
            return try Self.answer(provider) { $0.transfersByReference[reference]?.first }
        }
        group.get("transfers/verify/:id") { _, context in
            let id = context.text("id")
            return try Self.answer(provider) { _ in id }
        }
        group.get("transfers/:id") { _, context in
            let id = context.text("id")
            return try Self.answer(provider) { _ in id }
        }
        group.get("transfers") { request, _ in
            let page = Page(request)
            let source = request.query("accountId")
            let destination = request.query("destinationAccountId")
            let days = try request.days()
            return Response.json(
                provider.store.read { state in
                    let ids = state.transfers(from: source, to: destination)
                        .filter { id in state.transfers[id].map { days.contains($0.createdAt) } ?? false }
                    return page.cut(ids) { id in state.transfers[id].map { state.resource($0) } }
                }
            )
        }
    }

    private static func answer(_ provider: Provider, _ find: (SandboxState) -> String?) throws -> Response {
        let json = provider.store.read { state in
            find(state).flatMap { state.transfers[$0] }.map { single(state.resource($0)) }
        }
        return Response.json(try json.orNotFound("Transfer"))
    }
}

extension SandboxState {
    /// The transfers of one account, as payer or as payee; all of them for neither.
    fileprivate func transfers(from source: String?, to destination: String?) -> [String] {
        if let source { return self.transfersByAccount[source] ?? [] }
        return destination.map { self.transfersByDestination[$0] ?? [] } ?? self.transferOrder
    }
}
