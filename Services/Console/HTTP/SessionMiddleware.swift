import Cryptography
import HTTPTypes
import Hummingbird
import ServiceKit

/// Lets only operators who have signed in through, and what changes something only from the page itself.
struct SessionMiddleware: RouterMiddleware {
    let signIn: SignIn

    func handle(
        _ request: Request,
        context: AppRequestContext,
        next: @concurrent (Request, AppRequestContext) async throws -> Response
    ) async throws -> Response {
        let opened = try self.signIn.session(of: request)
        context.senderIsKnown()
        if ![.get, .head].contains(request.method) {
            try Self.requireOwnPage(request)
            guard let word = request.headers[.consoleGuard], ConstantTime.equal(word, opened.guardWord) else {
                throw APIError.forbidden("not_from_the_page", detail: "Load the page again.")
            }
        }
        return try await next(request, context)
    }

    /// Browsers say where a request comes from; what is no browser says nothing.
    static func requireOwnPage(_ request: Request) throws(APIError) {
        let site = request.headers[.secFetchSite]
        guard site == nil || site == "same-origin" else {
            throw .forbidden("not_from_the_page", detail: "Only the page itself may ask for this.")
        }
    }
}

extension SignIn {
    static let cookieName = "transfa_console"

    /// The session of a request.
    ///
    /// - Throws: 401.
    func session(of request: Request) throws(APIError) -> Opened {
        guard let cookie = request.cookies[Self.cookieName], let opened = self.session(in: cookie.value) else {
            var error = APIError.unauthenticated
            error.detail = "Sign in first."
            throw error
        }
        return opened
    }
}

extension HTTPField.Name {
    /// Repeats the word that only the page was told.
    static let consoleGuard = HTTPField.Name("Transfa-Guard") ?? .authorization
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .origin
}
