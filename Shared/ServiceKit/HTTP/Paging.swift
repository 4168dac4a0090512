public import Foundation
public import Hummingbird
import Primitives

/// The parameters of a list: `limit` and an opaque `cursor`.
public struct Paging: Sendable {
    /// How many rows a page has.
    public let limit: Int
    private let cursor: [UInt8]?

    /// Rows of a page when the client does not say.
    public static let defaultLimit = 20
    /// The most rows of a page.
    public static let maximumLimit = 50

    /// - Throws: 400 `invalid_parameter`.
    public init(_ request: Request) throws(APIError) {
        let parameters = request.uri.queryParameters
        if let text = parameters.get("limit") {
            guard let limit = Int(text), (1...Self.maximumLimit).contains(limit) else {
                throw .invalid(parameter: "limit", detail: "A number from 1 to \(Self.maximumLimit).")
            }
            self.limit = limit
        } else {
            self.limit = Self.defaultLimit
        }
        guard let text = parameters.get("cursor") else {
            self.cursor = nil
            return
        }
        guard let bytes = Base64URL.decode(text) else { throw Self.badCursor }
        self.cursor = bytes
    }

    private static let badCursor = APIError.invalid(
        parameter: "cursor",
        detail: "Use the next_cursor of the page before."
    )

    /// The cursor as a place in a list that is ordered by position; the end of time without one.
    public func position() throws(APIError) -> Int64 {
        guard let cursor else { return .max }
        guard let place = Self.position(of: cursor) else { throw Self.badCursor }
        return place
    }

    /// The place that the bytes of a cursor name.
    static func position(of cursor: [UInt8]) -> Int64? {
        guard cursor.count == 8 else { return nil }
        return Int64(exactly: cursor.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// The cursor as a place in a list that is ordered by id; the last one without one.
    public func id() throws(APIError) -> UUID {
        guard let cursor else {
            return UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255))
        }
        guard let id = UUID(bytes: cursor) else { throw Self.badCursor }
        return id
    }

    /// The cursor after a row.
    public static func cursor(after position: Int64) -> String {
        Base64URL.encode((0..<8).map { UInt8(truncatingIfNeeded: position >> (56 - 8 * $0)) })
    }

    /// The cursor after a row.
    public static func cursor(after id: UUID) -> String { Base64URL.encode(id.bytes) }
}
