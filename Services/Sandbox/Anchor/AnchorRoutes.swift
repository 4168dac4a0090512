import HTTPTypes
import Hummingbird

/// The provider's paths under `/api/v1`.
struct AnchorRoutes: Sendable {
    let provider: Provider
    let keys: ProviderKeys

    func add(to router: Router<SandboxContext>) {
        let group = router.group("api/v1")
            .add(middleware: KeyMiddleware(keys: self.keys))
            .add(middleware: FaultMiddleware(provider: self.provider))
        self.addCustomers(to: group)
        self.addDocuments(to: group)
        self.addAccounts(to: group)
        self.addCounterparties(to: group)
        self.addTransfers(to: group)
        self.addPayments(to: group)
        self.addWebhooks(to: group)
    }
}

/// Refuses requests without a right key.
struct KeyMiddleware: RouterMiddleware {
    typealias Context = SandboxContext

    let keys: ProviderKeys

    func handle(
        _ request: Request,
        context: SandboxContext,
        next: @concurrent (Request, SandboxContext) async throws -> Response
    ) async throws -> Response {
        guard self.keys.takes(request.headers[.anchorKey]) else { throw Refusal.unauthorised }
        return try await next(request, context)
    }
}

/// One page of a list, in either of the two forms the provider's clients use.
struct Page: Sendable {
    let number: Int
    let size: Int

    init(_ request: Request) {
        let number = request.query("page") ?? request.query("page[number]") ?? request.query("page%5Bnumber%5D")
        let size = request.query("size") ?? request.query("page[size]") ?? request.query("page%5Bsize%5D")
        self.number = min(max(number.flatMap { Int($0) } ?? 0, 0), 1_000_000)
        self.size = min(max(size.flatMap { Int($0) } ?? 20, 1), 1000)
    }

    /// The page's part of a collection, newest first.
    func cut<Items: RandomAccessCollection>(_ items: Items, _ json: (Items.Element) -> JSON?) -> JSON {
        let total = items.count
        let slice = items.reversed().dropFirst(min(total, self.number * self.size)).prefix(self.size)
        return [
            "data": .array(slice.compactMap(json)),
            "meta": [
                "pagination": [
                    "number": .integer(Int64(self.number)), "size": .integer(Int64(self.size)),
                    "total": .integer(Int64(total)),
                    "totalPages": .integer(Int64((total + self.size - 1) / self.size)),
                ]
            ],
        ]
    }
}

/// `{data: resource}`.
func single(_ resource: JSON) -> JSON { ["data": resource] }

extension Optional where Wrapped: Sendable {
    /// The value, or 404.
    func orNotFound(_ what: String) throws -> Wrapped {
        guard let value = self else { throw Refusal.notFound(what) }
        return value
    }
}
