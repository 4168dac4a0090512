import HTTPTypes
import Hummingbird
import ServiceKit

/// Tells browsers what a page may do: at most load and run files of its own service, and talk to it.
struct PageHeaders: RouterMiddleware {
    private let policy: String

    private static let nothing = [
        "default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ]

    private init(_ more: [String]) {
        self.policy = (Self.nothing + more).joined(separator: "; ")
    }

    /// The operators' page.
    static let console = PageHeaders([
        "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
        "require-trusted-types-for 'script'", "trusted-types 'none'",
    ])

    /// A text to read.
    static let text = PageHeaders(["style-src 'self'", "img-src 'self'"])

    /// The reference of the API: scripts that are not ours write HTML from texts, and have pictures in their styles.
    static let reference = PageHeaders([
        "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
    ])

    private static let fields = [
        ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ]

    func handle(
        _ request: Request,
        context: AppRequestContext,
        next: @concurrent (Request, AppRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        for (name, value) in Self.fields + [("Content-Security-Policy", self.policy)] {
            if let name = HTTPField.Name(name) { response.headers[name] = value }
        }
        return response
    }
}
