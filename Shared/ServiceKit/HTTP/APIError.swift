public import HTTPTypes

/// A refusal that a client may see: it becomes one JSON:API error.
///
/// Nothing in it may be personal data or a cause from the inside: title and detail are written for the person at the
/// other end.
public struct APIError: Error, Sendable, Equatable {
    /// What in the request the error is about.
    public enum Source: Sendable, Equatable {
        /// A place in the body, as a JSON pointer: `/kyc_details/bvn`.
        case pointer(String)
        /// A header, by name.
        case header(String)
        /// A query or path parameter, by name.
        case parameter(String)
    }

    /// The HTTP status.
    public var status: HTTPResponse.Status
    /// A stable code that clients branch on, in snake case.
    public var code: String
    /// A short summary that is the same for each occurrence.
    public var title: String
    /// What is special about this occurrence.
    public var detail: String?
    /// What in the request it is about.
    public var source: Source?
    /// Headers of the answer, such as `Retry-After`.
    public var headers: HTTPFields
    /// Whether a final refusal is kept under the idempotency key of its request.
    ///
    /// False for what may be otherwise later, because somebody does something or time goes on: the same request is then
    /// decided anew. Nothing may have been done with it that another try would do again.
    public var isKept = true

    /// Creates an error.
    public init(
        _ status: HTTPResponse.Status,
        code: String,
        title: String? = nil,
        detail: String? = nil,
        source: Source? = nil,
        headers: HTTPFields = [:]
    ) {
        self.status = status
        self.code = code
        self.title = title ?? Self.title(of: code)
        self.detail = detail
        self.source = source
        self.headers = headers
    }

    /// `insufficient_funds` reads "Insufficient funds".
    private static func title(of code: String) -> String {
        let words = code.split(separator: "_").joined(separator: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }
}

/// An error of a domain that knows how it is told to a client.
///
/// A service conforms its closed error enumerations in one file per error, `DomainError+HTTPResponse.swift`.
public protocol APIErrorConvertible: Error {
    /// What the client is told.
    var apiError: APIError { get }
}

extension APIError: APIErrorConvertible {
    /// Itself.
    public var apiError: APIError { self }
}

extension APIError: CustomStringConvertible {
    /// Status and code; never the detail.
    public var description: String { "\(self.status.code) \(self.code)" }
}
