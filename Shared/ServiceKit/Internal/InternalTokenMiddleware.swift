import HTTPTypes
import Hummingbird

/// Lets only the holder of an internal token through, in constant time.
struct InternalTokenMiddleware: RouterMiddleware {
    private let tokens: SecretList

    private static let refusal: APIError = {
        var error = APIError.unauthenticated
        error.detail = "The internal token of this path is required."
        return error
    }()

    init(tokens: SecretList) {
        self.tokens = tokens
    }

    func handle(
        _ request: Request,
        context: AppRequestContext,
        next: @concurrent (Request, AppRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let sent = AuthenticationMiddleware.bearerToken(of: request), self.tokens.contains(sent)
        else { throw Self.refusal }
        context.senderIsKnown()
        return try await next(request, context)
    }
}
