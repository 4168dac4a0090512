import Foundation
import HTTPTypes
import Hummingbird
import ServiceKit

/// The page: plain files, which are read once at the start.
struct PageController: Sendable {
    private let files: [String: File]

    private struct File: Sendable {
        let bytes: [UInt8]
        let type: String
        let tag: EntityTag
    }

    /// A file of the page is missing, or of no known kind.
    struct Incomplete: Error {}

    private static let first = "index.html"
    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml",
    ]

    /// Reads the folder.
    init(folder: URL) throws {
        var files: [String: File] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let url = folder.appendingPathComponent(name)
            guard let type = Self.types[url.pathExtension] else { throw Incomplete() }
            let bytes = Array(try Data(contentsOf: url))
            files[name] = File(bytes: bytes, type: type, tag: EntityTag(of: bytes))
        }
        guard files[Self.first] != nil else { throw Incomplete() }
        self.files = files
    }

    /// Adds the routes under `/console`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("") { request, _ in try self.answer(request, Self.first) }
        group.get("/assets/:file") { request, context in
            try self.answer(request, context.parameters.get("file") ?? "")
        }
    }

    private func answer(_ request: Request, _ name: String) throws -> APIResponse {
        guard let file = self.files[name] else { throw APIError.notFound(parameter: "file") }
        // Asked for each time and sent only when it changed: page and service are always of one version.
        let headers: HTTPFields = [.eTag: file.tag.text, .cacheControl: "no-cache", .contentType: file.type]
        if file.tag.isKnown(to: request.headers) { return APIResponse(.notModified, headers: headers) }
        return APIResponse(.ok, body: file.bytes, headers: headers)
    }
}

/// Tells browsers what the page may do: run and load its own files, and talk to its own service.
struct PageHeaders: RouterMiddleware {
    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ].joined(separator: "; ")

    private static let fields = [
        ("Content-Security-Policy", Self.policy), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ]

    func handle(
        _ request: Request,
        context: AppRequestContext,
        next: @concurrent (Request, AppRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        for (name, value) in Self.fields {
            if let name = HTTPField.Name(name) { response.headers[name] = value }
        }
        return response
    }
}
