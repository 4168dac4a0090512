import Cryptography
import EventLoops
import HTTPTypes
public import Hummingbird
import NIOCore
import Primitives

/// A body exactly as it was sent.
public struct RawBody: Sendable {
    /// The bytes.
    public let bytes: [UInt8]
    /// SHA-256 of the bytes.
    public let sha256: [UInt8]

    /// The most that a body may have unless a route says otherwise.
    public static let defaultLimit = 64 * 1024

    /// Keeps the bytes and their hash.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        self.sha256 = Array(SHA256.hash(data: bytes))
    }

    /// The hash in lower-case hexadecimal, as approvals name it.
    public var sha256Hex: String { Hex.encode(self.sha256) }
}

/// Remembers the body of one request: it can be read from the network only once.
final class RawBodyBox: Sendable {
    private let stored = Locked<RawBody?>(nil)

    var current: RawBody? { self.stored.withLock { $0 } }

    func keep(_ body: RawBody) {
        self.stored.withLock { $0 = body }
    }
}

extension Request {
    /// The body's bytes; read once, then remembered.
    ///
    /// - Parameters:
    ///   - context: The request's context.
    ///   - limit: The most bytes; the context's limit if nil.
    /// - Returns: Bytes and hash.
    /// - Throws: 413 beyond the limit, 400 when the body ends before it should.
    public func rawBody(context: AppRequestContext, limit: Int? = nil) async throws -> RawBody {
        if let known = context.bodyBox.current {
            return known
        }
        let limit = limit ?? context.bodyLimit
        if let length = self.headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw APIError.bodyTooLarge
        }
        let body = RawBody(try await self.collectedBytes(limit: limit))
        context.bodyBox.keep(body)
        return body
    }

    private func collectedBytes(limit: Int) async throws -> [UInt8] {
        do {
            return Array(buffer: try await self.body.collect(upTo: limit))
        } catch is NIOTooManyBytesError {
            throw APIError.bodyTooLarge
        } catch let error as CancellationError {
            throw error
        } catch {
            // A chunk that is none, or a peer that left: there is no complete body to speak of.
            throw APIError.invalid("", code: "unreadable_body", detail: "The body did not arrive whole.")
        }
    }

    /// Decodes the JSON body strictly.
    ///
    /// Refused with a pointer: members that the type does not ask for, wrong types, duplicated members, numbers that
    /// are not plain integers where one is wanted, anything beyond Int64, invalid UTF-8.
    /// - Throws: 400, 413 or 415 as `APIError`; whatever else the type's own decoding throws.
    public func decodeBody<Body: Decodable>(as type: Body.Type, context: AppRequestContext) async throws -> Body {
        guard self.hasJSONBody else { throw APIError.unsupportedMediaType }
        let body = try await self.rawBody(context: context)
        do {
            return try StrictJSONDecoder.decodeClosed(type, from: body.bytes)
        } catch let error as StrictJSONError {
            throw APIError.from(error)
        } catch let error as DecodingError {
            throw APIError.from(error)
        }
    }

    /// Absent counts as JSON; a form or a text does not.
    private var hasJSONBody: Bool {
        guard let type = self.headers[.contentType] else { return true }
        let parts = type.lowercased().split(separator: ";").map { part in part.filter { $0 != " " } }
        guard let media = parts.first, media == "application/json" || media == "application/vnd.api+json" else {
            return false
        }
        return parts.dropFirst().allSatisfy { !$0.hasPrefix("charset=") || $0.dropFirst(8).contains("utf-8") }
    }
}
