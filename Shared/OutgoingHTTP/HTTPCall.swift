/// A header, of a request or an answer.
public typealias HTTPHeader = (name: String, value: String)

extension [HTTPHeader] {
    /// All values of a header, in the order of coming; upper and lower case are the same.
    public func values(of name: String) -> [String] {
        self.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

/// How a request is meant.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
    /// As it is sent, upper case.
    public let rawValue: String

    /// Takes the word that is sent.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Reads.
    public static let get = HTTPMethod(rawValue: "GET")
    /// Reads the head alone.
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// Orders.
    public static let post = HTTPMethod(rawValue: "POST")
    /// Puts in place.
    public static let put = HTTPMethod(rawValue: "PUT")
    /// Changes.
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// Removes.
    public static let delete = HTTPMethod(rawValue: "DELETE")

    /// Whether a request says how long its body is even when it has none (RFC 9110, 8.6).
    var namesLength: Bool { [.post, .put, .patch].contains(self) }
}

/// A request to another server, and what its answer may be.
public struct HTTPCall: Sendable {
    /// How it is meant.
    public var method: HTTPMethod
    /// `http` or `https`.
    public var url: String
    /// In the order of sending.
    public var headers: [HTTPHeader]
    /// What is sent.
    public var body: [UInt8]?
    /// A longer body of the answer counts as none.
    public var longestAnswer: Int
    /// Whether the connection is used for nothing else afterwards.
    public var endsConnection = false

    /// Takes all that a request usually has.
    public init(
        _ method: HTTPMethod = .get,
        _ url: String,
        headers: [HTTPHeader] = [],
        body: [UInt8]? = nil,
        longestAnswer: Int = 1024 * 1024
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.longestAnswer = longestAnswer
    }

    /// Host and port as the URL has them, without a password: whose turn it is, and what is measured, goes by it.
    var host: String {
        let text = self.url.utf8
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return "" }
        let rest = text[colon...].drop { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        let authority = rest.prefix { ![UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        let start =
            authority.lastIndex(of: UInt8(ascii: "@")).map { authority.index(after: $0) } ?? authority.startIndex
        return String(Substring(authority[start...]))
    }
}

/// The answer to a request.
public struct HTTPAnswer: Sendable {
    /// The status.
    public let status: Int
    /// In the order of coming.
    public let headers: [HTTPHeader]
    /// The whole body.
    public let body: [UInt8]

    /// Takes all that an answer has.
    public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Whether the status is a success.
    public var isSuccess: Bool { (200..<300).contains(self.status) }

    /// The first value of a header; upper and lower case are the same.
    public func header(_ name: String) -> String? {
        self.headers.values(of: name).first
    }
}
