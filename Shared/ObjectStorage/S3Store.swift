import Foundation
public import OutgoingHTTP

/// Objects in a bucket of S3, or of a server that speaks like it.
///
/// Addresses are path-style: `<endpoint>/<bucket>/<key>`.
public struct S3Store: ObjectStore {
    private let location: S3Location
    private let signature: S3Signature
    private let http: HTTPClient
    private let deadline: Duration
    private let pauses: [Duration]

    /// Takes a bucket.
    ///
    /// - Parameters:
    ///   - location: The bucket.
    ///   - credentials: What requests are signed with.
    ///   - http: The connections; its life is the caller's.
    ///   - deadline: How long one attempt may take, the answer's body included.
    ///   - pauses: How long to wait before each further attempt.
    public init(
        location: S3Location,
        credentials: S3Credentials,
        http: HTTPClient,
        deadline: Duration = .milliseconds(2500),
        pauses: [Duration] = [.milliseconds(100), .milliseconds(400)]
    ) {
        self.location = location
        self.signature = S3Signature(location: location, credentials: credentials)
        self.http = http
        self.deadline = deadline
        self.pauses = pauses
    }

    /// Keeps an object.
    public func put(_ bytes: [UInt8], contentType: String, at key: ObjectKey) async throws(ObjectStorageError) {
        let answer = try await self.send(.put, key, headers: ["content-type": contentType], body: bytes)
        guard answer.status == 200 else { throw .refused(status: answer.status) }
    }

    /// The bytes of an object.
    public func get(_ key: ObjectKey, limit: Int) async throws(ObjectStorageError) -> [UInt8]? {
        let answer = try await self.send(.get, key, limit: limit)
        switch answer.status {
        case 200 where answer.body.count <= limit: return answer.body
        case 200: throw .tooLong
        case 404 where !answer.saysNoBucket: return nil
        default: throw .refused(status: answer.status)
        }
    }

    /// Removes an object.
    public func delete(_ key: ObjectKey) async throws(ObjectStorageError) {
        let answer = try await self.send(.delete, key)
        guard (200..<300).contains(answer.status) || answer.status == 404 && !answer.saysNoBucket else {
            throw .refused(status: answer.status)
        }
    }

    // MARK: Calls

    private struct Answer {
        let status: Int
        let body: [UInt8]

        /// Too many requests, or a server in trouble.
        var canBeRepeated: Bool { self.status == 429 || self.status >= 500 }

        /// A bucket that is missing is a mistake of ours, and no object that is not there.
        var saysNoBucket: Bool {
            String(decoding: self.body.prefix(1024), as: UTF8.self).contains("NoSuchBucket")
        }
    }

    /// The most of an error's text that is read.
    private static let errorBytes = 16 * 1024

    private func send(
        _ method: HTTPMethod,
        _ key: ObjectKey,
        headers: [String: String] = [:],
        body: [UInt8] = [],
        limit: Int = 0
    ) async throws(ObjectStorageError) -> Answer {
        var pauses = self.pauses[...]
        while true {
            if let answer = try await self.attempt(method, key, headers, body, limit), !answer.canBeRepeated {
                return answer
            }
            guard let pause = pauses.popFirst(), (try? await Task.sleep(for: pause)) != nil else { throw .unavailable }
        }
    }

    /// One attempt; nil when no answer came.
    private func attempt(
        _ method: HTTPMethod,
        _ key: ObjectKey,
        _ headers: [String: String],
        _ body: [UInt8],
        _ limit: Int
    ) async throws(ObjectStorageError) -> Answer? {
        // A key has no character that would have to be encoded.
        let path = "/\(self.location.bucket)/\(key.text)"
        var call = HTTPCall(method, self.location.endpoint + path, longestAnswer: max(limit, Self.errorBytes))
        call.headers = self.signature.headers(method.rawValue, path, headers: headers, body: body, at: Date())
        if method == .put { call.body = body }
        do throws(HTTPFailure) {
            let answer = try await self.http.send(call, within: self.deadline)
            return Answer(status: answer.status, body: answer.body)
        } catch {
            guard error.reason == .answerTooLong, let status = error.status else { return nil }
            if status == 200 { throw .tooLong }
            return Answer(status: status, body: [])
        }
    }
}
