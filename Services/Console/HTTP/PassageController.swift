import Contracts
import HTTPTypes
import Hummingbird
import Primitives
import ServiceKit

/// Passes what the page asks on to the services; who has signed in is who acts.
struct PassageController: Sendable {
    let ports: any InternalPorts
    let signIn: SignIn

    private static let longestQuery = 2000

    /// Adds the routes, below `/services/{service}`.
    func add(to group: RouterGroup<AppRequestContext>) {
        for passage in Passage.all {
            group.on(RouterPath("/services/:service\(passage.path)"), method: passage.method) { request, context in
                try await self.pass(request, context, through: passage)
            }
        }
    }

    private func pass(
        _ request: Request,
        _ context: AppRequestContext,
        through passage: Passage
    ) async throws -> APIResponse {
        guard let service = context.parameters.get("service").flatMap({ ServiceName(rawValue: $0) }),
            passage.services.contains(service)
        else { throw APIError.notFound(parameter: "service") }
        guard let path = passage.filled({ context.parameters.get($0) }) else {
            throw APIError.notFound(parameter: passage.parameters.first ?? "id")
        }
        var call = InternalCall(method: passage.method, path: path)
        if let query = request.uri.query {
            guard query.utf8.count <= Self.longestQuery else {
                throw APIError(.badRequest, code: "query_too_long")
            }
            call.path += "?\(query)"
        }
        if passage.method != .get { call.body = try await request.rawBody(context: context).bytes }
        call.operatorName = try await self.signIn.session(of: request).session.name
        call.requestID = context.requestIDText
        call.traceparent = context.trace.text
        do {
            return try await self.ports.call(service, call).passedOn(from: service)
        } catch let error as ServiceUnreachable {
            throw APIError.unreachable(error.service)
        }
    }
}

extension InternalAnswer {
    /// The answer for the browser.
    ///
    /// - Throws: 503 instead of 401, which is about our token: a browser would take its own session for ended.
    func passedOn(from service: ServiceName) throws(APIError) -> APIResponse {
        guard self.status != HTTPResponse.Status.unauthorized.code else { throw .refused(by: service) }
        var headers = HTTPFields()
        if let type = self.header("Content-Type") { headers[.contentType] = type }
        return APIResponse(HTTPResponse.Status(code: self.status), body: self.body, headers: headers)
    }
}

extension APIError {
    /// 503 that says who does not know the token of the internal ports.
    static func refused(by service: ServiceName) -> APIError {
        var error = APIError.unavailable("service_refuses", retryAfter: 30)
        error.detail = "\(service.rawValue) does not take console's token: see SERVICES_INTERNAL_TOKEN."
        return error
    }

    /// 503 that says who does not answer.
    static func unreachable(_ service: ServiceName) -> APIError {
        var error = APIError.unavailable("service_unreachable", retryAfter: 2)
        error.detail = "\(service.rawValue) does not answer."
        return error
    }
}
