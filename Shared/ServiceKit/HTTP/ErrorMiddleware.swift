import HTTPTypes
public import Hummingbird
import Logging

/// Turns every error of a route into a JSON:API answer, so that the framework's own form is never seen.
public struct ErrorMiddleware: RouterMiddleware {
    /// Creates the middleware; `ServiceHost.router()` adds it first.
    public init() {}

    /// Answers errors that the rest of the chain throws.
    public func handle(
        _ request: Request,
        context: AppRequestContext,
        next: @concurrent (Request, AppRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where context.endpointPath == RouteIndex.notFound {
            // No route: the edge knows whether it is a 404 or a 405.
            throw error
        } catch {
            return Self.response(to: error, context: context)
        }
    }

    /// The answer to an error; an unforeseen one is logged here, once.
    static func response(to error: any Error, context: AppRequestContext) -> Response {
        if let known = APIError.known(error) {
            return known.response(requestID: context.requestIDText)
        }
        context.logger.error(
            "a request failed unexpectedly",
            metadata: [
                "route": .safe(context.endpointPath ?? "unknown"), "request_id": .safe(context.requestIDText),
                "error": .safe(SafeErrorText.describe(error)),
            ]
        )
        return APIError.unexpected.response(requestID: context.requestIDText)
    }
}
