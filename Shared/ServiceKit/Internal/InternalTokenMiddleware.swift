import HTTPTypes
import Hummingbird
import Sealing

/// Lets only the holder of the internal token through, in constant time.
struct InternalTokenMiddleware: RouterMiddleware {
    private let token: [UInt8]

    private static let refusal: APIError = {
        var error = APIError.unauthenticated
        error.detail = "The internal token is required."
        return error
    }()

    init(token: String) {
        self.token = Array(token.utf8)
    }

    func handle(
        _ request: Request,
        context: AppRequestContext,
        next: @concurrent (Request, AppRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let sent = AuthenticationMiddleware.bearerToken(of: request),
            ConstantTime.equal(Array(sent.utf8), self.token)
        else { throw Self.refusal }
        return try await next(request, context)
    }
}
