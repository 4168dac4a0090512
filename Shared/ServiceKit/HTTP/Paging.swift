public import Foundation
public import Hummingbird
import Primitives

/// The parameters of a list: `limit` and an opaque `cursor`; and the cursors of its pages.
///
/// Every list of every service is read with it. A cursor holds for the path and the person that it was given to, and
/// is refused when a character of it was changed.
public struct Paging: Sendable {
    /// How many rows a page has.
    public let limit: Int
    private let place: [UInt8]?
    private let seal: CursorSeal
    private let list: String

    /// The names of the parameters.
    public static let parameters = ["limit", "cursor"]
    /// Rows of a page when neither the client nor the list says.
    public static let defaultLimit = 20
    /// The most rows of a page when the list does not say.
    public static let maximumLimit = 50

    /// Reads the parameters.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: Its context.
    ///   - usual: How many rows a page has when the client does not say.
    ///   - maximum: The most rows of a page.
    /// - Throws: 400 `invalid_parameter`.
    public init(
        _ request: Request,
        _ context: AppRequestContext,
        usual: Int = Paging.defaultLimit,
        maximum: Int = Paging.maximumLimit
    ) throws(APIError) {
        guard let seal = context.cursors else { throw .unexpected }
        self.seal = seal
        self.list = "\(context.endpointPath ?? "") \(context.identity?.userID.description ?? "")"
        self.limit = try request.limit(usual: usual, maximum: maximum)
        guard let text = request.uri.queryParameters.get("cursor") else {
            self.place = nil
            return
        }
        guard let place = seal.place(in: text, of: self.list) else { throw Self.badCursor }
        self.place = place
    }

    private static let badCursor = APIError.invalid(
        parameter: "cursor",
        detail: "Use the next_cursor of the page before."
    )

    /// The cursor as a place in a list that is ordered by position; the end of time without one.
    ///
    /// - Throws: 400 for a cursor of a list that is ordered otherwise.
    public func position() throws(APIError) -> Int64 {
        guard let position = try self.numbers(1)?.first else { return .max }
        guard position >= 0 else { throw Self.badCursor }
        return position
    }

    /// The cursor as a place in a list that is ordered by id; the last one without one.
    ///
    /// - Throws: 400 for a cursor of a list that is ordered otherwise.
    public func id() throws(APIError) -> UUID {
        guard let place else {
            return UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255))
        }
        guard let id = UUID(bytes: place) else { throw Self.badCursor }
        return id
    }

    /// Whether the client asks for a page that is not the first.
    public var isContinued: Bool { self.place != nil }

    /// The cursor as so many numbers: a place, and what the pages before were read with; nil without one.
    ///
    /// - Throws: 400 for a cursor of a list that keeps something else in it.
    public func numbers(_ count: Int) throws(APIError) -> [Int64]? {
        guard let place else { return nil }
        guard place.count == 8 * count else { throw Self.badCursor }
        return (0..<count).map { index in
            Int64(bitPattern: place[8 * index..<8 * index + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        }
    }

    /// The cursor after a row.
    public func cursor(after position: Int64) -> String { self.cursor(keeping: [position]) }

    /// The cursor that keeps numbers, at most four of them.
    public func cursor(keeping numbers: [Int64]) -> String {
        let place = numbers.flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        }
        return self.seal.text(of: place, in: self.list)
    }

    /// The cursor after a row.
    public func cursor(after id: UUID) -> String { self.seal.text(of: id.bytes, in: self.list) }
}

extension Request {
    /// The parameter `limit`: how many rows an answer has at the most.
    ///
    /// - Throws: 400 `invalid_parameter`.
    public func limit(usual: Int, maximum: Int) throws(APIError) -> Int {
        try self.number("limit", in: 1...maximum) ?? usual
    }

    /// A query parameter that is a number in digits; nil without it.
    ///
    /// - Throws: 400 `invalid_parameter`.
    public func number(_ parameter: String, in range: ClosedRange<Int>) throws(APIError) -> Int? {
        guard let text = self.uri.queryParameters.get(parameter) else { return nil }
        // Digits alone: `Int` would take `+5` too.
        let isDigits = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isDigits, let number = Int(text), range.contains(number) else {
            throw .invalid(parameter: parameter, detail: "A number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}
