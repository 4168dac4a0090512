import Foundation
public import OutgoingHTTP

/// Where objects are kept, as a setting says.
public enum ObjectStoreLocation: Hashable, Sendable {
    /// In a folder of this machine.
    case folder(path: String)
    /// In a bucket.
    case bucket(S3Location)

    /// Reads `file:///path` or `s3://bucket?endpoint=https://host&region=name`.
    ///
    /// - Throws: `LocationProblem`.
    public init(url text: String) throws(LocationProblem) {
        guard let url = URLComponents(string: text), url.user == nil, url.password == nil, url.fragment == nil else {
            throw LocationProblem("is not a URL without credentials")
        }
        switch url.scheme {
        case "file":
            guard url.host ?? "" == "", url.query == nil, url.path.hasPrefix("/"), url.path.count > 1 else {
                throw LocationProblem("must be file:// and an absolute path")
            }
            self = .folder(path: url.path)
        case "s3": self = .bucket(try S3Location(url))
        default: throw LocationProblem("must begin with file:// or s3://")
        }
    }

    /// The store.
    ///
    /// - Throws: `ObjectStorageError` when the folder can be neither found nor made.
    public func store(
        credentials: S3Credentials?,
        http: HTTPClient
    ) throws(ObjectStorageError) -> any ObjectStore {
        switch self {
        case .folder(let path): try FolderStore(path: path)
        case .bucket(let location):
            S3Store(location: location, credentials: credentials ?? S3Credentials(id: "", secret: ""), http: http)
        }
    }
}

/// What is wrong with a location; it never repeats it.
public struct LocationProblem: Error, Hashable, Sendable {
    /// Ends the sentence "the location ...".
    public let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// A bucket, and the server it is on.
public struct S3Location: Hashable, Sendable {
    /// The bucket.
    public let bucket: String
    /// Scheme, host and port.
    public let endpoint: String
    /// The region that signatures name.
    public let region: String

    /// What a signature names as host.
    var host: String { String(self.endpoint.drop { $0 != "/" }.dropFirst(2)) }

    init(_ url: URLComponents) throws(LocationProblem) {
        var parameters: [String: String] = [:]
        for item in url.queryItems ?? [] {
            guard ["endpoint", "region"].contains(item.name), parameters[item.name] == nil, let value = item.value
            else {
                throw LocationProblem("takes endpoint and region once each and nothing else")
            }
            parameters[item.name] = value
        }
        guard let bucket = url.host, url.port == nil, url.path.isEmpty || url.path == "/", Self.isBucket(bucket) else {
            throw LocationProblem("must name a bucket: s3://bucket?region=name")
        }
        guard let region = parameters["region"], region.wholeMatch(of: /[a-z0-9-]{1,32}/) != nil else {
            throw LocationProblem("must name a region: s3://bucket?region=name")
        }
        self.bucket = bucket
        self.region = region
        guard let endpoint = parameters["endpoint"] else {
            self.endpoint = "https://s3.\(region).amazonaws.com"
            return
        }
        guard endpoint.wholeMatch(of: /https?:\/\/([A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(:[0-9]{1,5})?\/?/) != nil else {
            throw LocationProblem("has an endpoint that is not http:// or https://, a host and perhaps a port")
        }
        self.endpoint = endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint
    }

    private static func isBucket(_ name: String) -> Bool {
        name.wholeMatch(of: /[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/) != nil
    }
}

/// What requests to a bucket are signed with.
public struct S3Credentials: Hashable, Sendable {
    /// The access key's id.
    public let id: String
    let secret: String

    /// Takes both halves of an access key.
    public init(id: String, secret: String) {
        self.id = id
        self.secret = secret
    }
}

extension S3Credentials: CustomStringConvertible, CustomDebugStringConvertible {
    /// The id alone.
    public var description: String { "access key \(self.id)" }
    /// The id alone.
    public var debugDescription: String { self.description }
}
