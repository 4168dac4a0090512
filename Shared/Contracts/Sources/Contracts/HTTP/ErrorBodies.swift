/// Where in the request an error is.
public struct ErrorSource: Codable, Sendable, Hashable {
    /// JSON pointer into the body (RFC 6901).
    public var pointer: String?
    /// A header.
    public var header: String?
    /// A query parameter.
    public var parameter: String?

    /// Puts the values together.
    public init(pointer: String? = nil, header: String? = nil, parameter: String? = nil) {
        self.pointer = pointer
        self.header = header
        self.parameter = parameter
    }
}

/// One error (JSON:API 1.1, error objects).
public struct ErrorObject: Codable, Sendable, Hashable {
    /// HTTP status.
    public var status: String
    /// For programs.
    public var code: String
    /// A few words.
    public var title: String
    /// A sentence.
    public var detail: String?
    /// Where it is.
    public var source: ErrorSource?

    /// Puts the values together.
    public init(status: String, code: String, title: String, detail: String? = nil, source: ErrorSource? = nil) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.source = source
    }
}

/// The body of every 4xx and 5xx answer.
public struct ErrorBody: Codable, Sendable, Hashable {
    /// At least one.
    public var errors: [ErrorObject]

    /// Puts the values together.
    public init(errors: [ErrorObject]) {
        self.errors = errors
    }
}
