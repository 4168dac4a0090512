import Cryptography
import HTTPTypes
public import Hummingbird
public import Primitives
import Sealing

/// SHA-256 over method, path and raw body: whether a repeated request is the same request.
public struct RequestFingerprint: Hashable, Sendable {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// Hashes the parts; lengths go in too, so that no two requests can share one text.
    public init(method: String, path: String, body: [UInt8]) {
        var hash = SHA256()
        for part in [Array(method.utf8), Array(path.utf8), body] {
            let length = UInt64(part.count)
            hash.update(data: (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) })
            hash.update(data: part)
        }
        self.bytes = Array(hash.finalize())
    }

    /// Takes the bytes of a hash that was made before.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// Whose key it is, on which route, and for which request.
public struct IdempotencyScope: Hashable, Sendable {
    /// Keys of two users never meet.
    public let user: UserID
    /// Method and route template: `POST /transactions/p2p`.
    public let route: String
    /// The key.
    public let key: IdempotencyKey
    /// The request.
    public let fingerprint: RequestFingerprint
    /// What the fingerprint of the same request is elsewhere, while a key that goes into it is being replaced.
    public let former: [RequestFingerprint]

    /// Puts a scope together.
    public init(
        user: UserID,
        route: String,
        key: IdempotencyKey,
        fingerprint: RequestFingerprint,
        former: [RequestFingerprint] = []
    ) {
        self.user = user
        self.route = route
        self.key = key
        self.fingerprint = fingerprint
        self.former = former
    }

    /// Whether a stored hash is that of this request.
    public func isOfSameRequest(_ hash: [UInt8]) -> Bool {
        hash == self.fingerprint.bytes || self.former.contains { $0.bytes == hash }
    }

    /// The same with keyed hashes of the request; the first key is the one in use.
    func hashed(with indexes: [BlindIndex]) -> IdempotencyScope {
        let text = Hex.encode(self.fingerprint.bytes)
        let hashes = indexes.map { RequestFingerprint(bytes: Hex.decode($0.index("request", text)) ?? []) }
        guard let first = hashes.first else { return self }
        return IdempotencyScope(
            user: self.user,
            route: self.route,
            key: self.key,
            fingerprint: first,
            former: Array(hashes.dropFirst())
        )
    }
}

extension Request {
    /// The idempotency scope of an authenticated request; reads the body.
    ///
    /// `identifying` is what makes two requests the same, when that is not the whole body: a plain hash of a body with a
    /// password in it could be searched for the password. `formerly` is the same under keys that are being replaced.
    ///
    /// - Throws: 400 without a key, 401 without an identity.
    public func idempotencyScope(
        context: AppRequestContext,
        identifying: [UInt8]? = nil,
        formerly: [[UInt8]] = []
    ) async throws -> IdempotencyScope {
        let identity = try context.requireIdentity()
        let key = try self.requireIdempotencyKey()
        let body = try await self.rawBody(context: context)
        let path = self.uri.path
        let fingerprint = { RequestFingerprint(method: self.method.rawValue, path: path, body: $0) }
        return IdempotencyScope(
            user: identity.userID,
            route: "\(self.method.rawValue) \(context.endpointPath ?? path)",
            key: key,
            fingerprint: fingerprint(identifying ?? body.bytes),
            former: formerly.map(fingerprint)
        )
    }
}
