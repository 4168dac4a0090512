import HTTPTypes

extension APIError {
    /// 400 about a place in the body.
    public static func invalid(_ pointer: String, code: String = "invalid_value", detail: String? = nil) -> APIError {
        APIError(.badRequest, code: code, detail: detail, source: .pointer(pointer))
    }

    /// 400 about a query or path parameter.
    public static func invalid(parameter: String, detail: String? = nil) -> APIError {
        APIError(.badRequest, code: "invalid_parameter", detail: detail, source: .parameter(parameter))
    }

    /// 400 about a header.
    public static func invalid(header: String, code: String = "invalid_header", detail: String? = nil) -> APIError {
        APIError(.badRequest, code: code, detail: detail, source: .header(header))
    }

    /// 401 with the challenge, and no word on why.
    public static let unauthenticated = APIError(
        .unauthorized,
        code: "unauthenticated",
        detail: "A valid session token is required.",
        source: .header("Authorization"),
        headers: [.wwwAuthenticate: "Bearer"]
    )

    /// 403.
    public static func forbidden(_ code: String = "forbidden", detail: String? = nil) -> APIError {
        APIError(.forbidden, code: code, detail: detail)
    }

    /// 404 for a thing, or for one that belongs to somebody else: the two look the same.
    public static let notFound = APIError(
        .notFound,
        code: "not_found",
        detail: "There is none, or it is somebody else's."
    )

    /// 404 for a path parameter that names nothing.
    public static func notFound(parameter: String) -> APIError {
        var error = Self.notFound
        error.source = .parameter(parameter)
        return error
    }

    /// 409.
    public static func conflict(_ code: String, detail: String? = nil, source: Source? = nil) -> APIError {
        APIError(.conflict, code: code, detail: detail, source: source)
    }

    /// 422: the request is well-formed, and the business says no.
    public static func refused(_ code: String, detail: String? = nil, source: Source? = nil) -> APIError {
        APIError(.unprocessableContent, code: code, detail: detail, source: source)
    }

    /// The same, and the same request is decided anew: it may be otherwise by then.
    public func notKept() -> APIError {
        var error = self
        error.isKept = false
        return error
    }

    /// 409 for what passes by itself within moments, with the seconds to wait.
    ///
    /// Nothing is kept under the key and no approval is spent: the very same request is good later.
    public static func passing(_ code: String, detail: String? = nil, after seconds: Int) -> APIError {
        APIError(.conflict, code: code, detail: detail, headers: [.retryAfter: String(seconds)])
    }

    /// 422 about the key: it was used for another request.
    public static let idempotencyKeyReused = APIError.refused(
        "idempotency_key_reused",
        detail: "The key was used for another request.",
        source: .header("Idempotency-Key")
    )

    /// 409 about the person who asks: nothing of them, or not all of it, has arrived here yet.
    ///
    /// It passes by itself a moment after sign-up, and so is never kept under an idempotency key.
    public static let notOnboarded = APIError(
        .conflict,
        code: "not_onboarded",
        detail: "Complete sign-up first. Right after it, try again in a moment.",
        headers: [.retryAfter: "2"]
    )

    /// 429 with the seconds to wait, whatever there was too much of.
    public static func tooManyRequests(
        detail: String = "Wait as long as Retry-After says, then send it again.",
        source: Source? = nil,
        retryAfter seconds: Int
    ) -> APIError {
        APIError(
            .tooManyRequests,
            code: "too_many_requests",
            detail: detail,
            source: source,
            headers: [.retryAfter: String(seconds)]
        )
    }

    /// 503 with the seconds to wait.
    public static func unavailable(_ code: String = "temporarily_unavailable", retryAfter seconds: Int = 1) -> APIError
    {
        APIError(
            .serviceUnavailable,
            code: code,
            detail: "Wait as long as Retry-After says, then send it again.",
            headers: [.retryAfter: String(seconds)]
        )
    }

    /// 503 because the request took longer than its deadline.
    public static let deadlineExceeded = APIError(
        .serviceUnavailable,
        code: "deadline_exceeded",
        detail: "The request took too long. It may have taken effect: ask again with the same Idempotency-Key.",
        headers: [.retryAfter: "1"]
    )

    /// 500 that tells nothing but the request id.
    public static let unexpected = APIError(
        .internalServerError,
        code: "internal_error",
        detail: "Something went wrong inside. The id of this error helps to find out what."
    )

    /// 413.
    public static let bodyTooLarge = APIError(
        .contentTooLarge,
        code: "body_too_large",
        detail: "The body is longer than this path takes.",
        source: .pointer("")
    )

    /// 415.
    public static let unsupportedMediaType = APIError(
        .unsupportedMediaType,
        code: "unsupported_media_type",
        detail: "Send application/json.",
        source: .header("Content-Type")
    )

    /// A code for a bare status, for errors that the framework throws.
    static func from(status: HTTPResponse.Status) -> APIError {
        switch status {
        case .notFound: .notFound
        case .contentTooLarge: .bodyTooLarge
        case .unsupportedMediaType: .unsupportedMediaType
        case .unauthorized: .unauthenticated
        case let other where (400..<500).contains(other.code):
            APIError(other, code: Self.code(of: other))
        default: .unexpected
        }
    }

    private static func code(of status: HTTPResponse.Status) -> String {
        let words = status.reasonPhrase.lowercased().split { !$0.isLetter }
        return words.isEmpty ? "refused" : words.joined(separator: "_")
    }
}
