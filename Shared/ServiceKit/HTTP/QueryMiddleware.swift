import Hummingbird

/// Refuses queries that a route does not take; see ``RouteQueries``.
struct QueryMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: AppRequestContext,
        next: @concurrent (Request, AppRequestContext) async throws -> Response
    ) async throws -> Response {
        if let path = context.endpointPath, path != RouteIndex.notFound {
            try context.queries?.check(request, at: path)
        }
        return try await next(request, context)
    }
}
