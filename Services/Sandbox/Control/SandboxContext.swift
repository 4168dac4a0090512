import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// A request's context: also the channel, so that a fault can close it.
struct SandboxContext: RequestContext {
    static let maximumBodyBytes = 8 * 1024 * 1024

    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        self.coreContext = .init(source: source)
        self.channel = source.channel
    }

    /// A path parameter with its percent-encoding removed.
    func text(_ name: String) -> String {
        let raw = self.parameters.get(name) ?? ""
        return raw.removingPercentEncoding ?? raw
    }
}

extension HTTPField.Name {
    static let anchorKey = HTTPField.Name("x-anchor-key") ?? .authorization
    static let anchorIdempotentKey = HTTPField.Name("x-anchor-idempotent-key") ?? .authorization
    static let sandboxFault = HTTPField.Name("x-sandbox-fault") ?? .authorization
    static let apnsID = HTTPField.Name("apns-id") ?? .authorization
}

extension Response {
    /// A JSON answer.
    static func json(_ json: JSON, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json.bytes))
        )
    }

    /// A refusal in the provider's form.
    static func refusing(_ refusal: Refusal) -> Response {
        .json(refusal.json, status: HTTPResponse.Status(code: refusal.status))
    }
}

/// Turns refusals into answers.
struct RefusalMiddleware: RouterMiddleware {
    typealias Context = SandboxContext

    func handle(
        _ request: Request,
        context: SandboxContext,
        next: @concurrent (Request, SandboxContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let refusal as Refusal {
            return .refusing(refusal)
        } catch let error as HTTPError {
            return .refusing(
                Refusal(status: error.status.code, title: error.status.reasonPhrase, detail: error.body ?? "")
            )
        }
    }
}

extension Request {
    /// The body's bytes, bounded.
    func bytes() async throws -> [UInt8] {
        let buffer = try await self.body.collect(upTo: SandboxContext.maximumBodyBytes)
        return Array(buffer.readableBytesView)
    }

    /// The body as a JSON object; an empty one is an empty object.
    func fields() async throws -> Fields {
        let bytes = try await self.bytes()
        guard !bytes.isEmpty else { return Fields([:]) }
        guard let json = JSON(parsing: bytes), json.members != nil else {
            throw Refusal.badRequest("Malformed JSON request")
        }
        return Fields(json)
    }

    func query(_ name: String) -> String? { self.uri.queryParameters.get(name) }
}
