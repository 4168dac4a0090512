import HTTPTypes
public import Hummingbird
import NIOCore

extension APIError: HTTPResponseError {
    /// The JSON:API answer.
    public func response(from request: Request, context: some RequestContext) throws -> Response {
        let known = context as? AppRequestContext
        return self.response(requestID: known?.requestIDText)
    }

    /// The JSON:API answer; the request id goes into the member `id`.
    func response(requestID: String?) -> Response {
        var headers = self.headers
        headers[.contentType] = "application/vnd.api+json"
        let body = ByteBuffer(bytes: self.body(requestID: requestID))
        return Response(status: self.status, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    /// The body of the JSON:API answer.
    public func body(requestID: String?) -> [UInt8] {
        var text = JSONText()
        text.object { document in
            document.key("errors")
            document.array { errors in
                errors.object { self.write(to: &$0, requestID: requestID) }
            }
        }
        return text.bytes
    }

    private func write(to error: inout JSONText, requestID: String?) {
        if let requestID {
            error.member("id", requestID)
        }
        error.member("status", String(self.status.code))
        error.member("code", self.code)
        error.member("title", self.title)
        if let detail = self.detail {
            error.member("detail", detail)
        }
        guard let source = self.source else { return }
        error.key("source")
        error.object { object in
            switch source {
            case .pointer(let pointer): object.member("pointer", pointer)
            case .header(let name): object.member("header", name)
            case .parameter(let name): object.member("parameter", name)
            }
        }
    }
}
