import HTTPTypes
import Hummingbird
import NIOCore

/// Makes requests go wrong as a rule, the header `x-sandbox-fault` or the metadata `sandbox_fault` says.
struct FaultMiddleware: RouterMiddleware {
    typealias Context = SandboxContext

    let provider: Provider

    func handle(
        _ request: Request,
        context: SandboxContext,
        next: @concurrent (Request, SandboxContext) async throws -> Response
    ) async throws -> Response {
        var request = request
        let body = try await request.collectBody(upTo: SandboxContext.maximumBodyBytes)
        guard let fault = self.fault(for: request, body) else { return try await next(request, context) }
        switch fault {
        case .delay(let time):
            try await Task.sleep(for: .milliseconds(time))
            return try await next(request, context)
        case .status(let status, let words): return Response.refusing(.fault(status: status, saying: words))
        case .statusAfter(let status, let words):
            _ = try await next(request, context)
            return Response.refusing(.fault(status: status, saying: words))
        case .dropBefore: return try await Self.drop(context)
        case .dropAfter:
            _ = try await next(request, context)
            return try await Self.drop(context)
        case .lateCommit(let time):
            let key = request.headers[.anchorIdempotentKey]
            self.provider.takeLate(body: Array(body.readableBytesView), idempotencyKey: key, after: time)
            return try await Self.drop(context)
        }
    }

    private func fault(for request: Request, _ body: ByteBuffer) -> Fault? {
        if let text = request.headers[.sandboxFault], let fault = Fault(text) { return fault }
        if request.method == .post, Self.mentionsFault(body),
            let text = JSON(parsing: body.readableBytesView)?["data"]?["attributes"]?["metadata"]?["sandbox_fault"]?
                .text,
            let fault = Fault(text)
        {
            return fault
        }
        return self.provider.faults.take(method: request.method.rawValue, path: request.uri.path) {
            String(buffer: body)
        }
    }

    /// Whether it is worth parsing the body: nearly none asks for a fault, and every order comes through here.
    private static func mentionsFault(_ body: ByteBuffer) -> Bool {
        var rest = body.readableBytesView
        while let mark = rest.firstIndex(of: UInt8(ascii: "_")) {
            if rest[mark...].starts(with: "_fault".utf8) { return true }
            rest = rest[(mark + 1)...]
        }
        return false
    }

    /// Closes the connection; the answer that is returned goes nowhere.
    private static func drop(_ context: SandboxContext) async throws -> Response {
        try? await context.channel.close()
        return Response(status: .internalServerError)
    }
}
