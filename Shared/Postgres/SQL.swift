/// A statement and its bound values.
///
/// `"SELECT * FROM account WHERE id = \(id)"` sends the value apart from the text. Only `\(unsafe:)` puts text into the
/// statement: never use it for anything that came from outside.
public struct SQL: Sendable, ExpressibleByStringInterpolation {
    struct Bind: Sendable {
        let type: PostgresType
        let isText: Bool
        /// Nil for null.
        let range: Range<Int>?
        /// Where `$n` stands in the text, in UTF-8 bytes.
        let place: Range<Int>
    }

    /// What is built while a literal is read.
    public struct StringInterpolation: StringInterpolationProtocol {
        var text = ""
        var binds: [Bind] = []
        var buffer = PostgresBuffer()

        /// Starts a statement.
        public init(literalCapacity: Int, interpolationCount: Int) {
            self.text.reserveCapacity(literalCapacity + 3 * interpolationCount)
            self.binds.reserveCapacity(interpolationCount)
        }

        /// Appends text of the program.
        public mutating func appendLiteral(_ literal: String) { self.text += literal }

        /// Binds a value.
        public mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value) {
            self.bind(value)
        }

        private mutating func bind<Value: PostgresEncodable>(_ value: Value) {
            let start = self.buffer.bytes.count
            self.buffer.isNull = false
            self.buffer.isText = false
            value.encodePostgres(into: &self.buffer)
            let end = self.buffer.bytes.count
            // libpq reads text up to a NUL, and nothing may be empty: a missing pointer would mean null.
            self.buffer.bytes.append(0)
            let place = self.text.utf8.count
            self.text += "$\(self.binds.count + 1)"
            self.binds.append(
                Bind(
                    type: Value.postgresType,
                    isText: self.buffer.isText,
                    range: self.buffer.isNull ? nil : start..<end,
                    place: place..<self.text.utf8.count
                )
            )
        }

        /// Binds a value or null.
        public mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value?) {
            self.bind(value)
        }

        /// Puts text into the statement as it is.
        ///
        /// - Important: Only for identifiers and keywords that the program itself chose.
        public mutating func appendInterpolation(unsafe text: String) { self.text += text }

        /// Puts another statement with its bound values into this one.
        public mutating func appendInterpolation(_ fragment: SQL) {
            let base = self.buffer.bytes.count
            self.buffer.bytes += fragment.bytes
            if let problem = fragment.problem { self.buffer.fail(problem) }
            let source = Array(fragment.text.utf8)
            var done = 0
            for bind in fragment.binds {
                self.text += String(decoding: source[done..<bind.place.lowerBound], as: UTF8.self)
                done = bind.place.upperBound
                let place = self.text.utf8.count
                self.text += "$\(self.binds.count + 1)"
                self.binds.append(
                    Bind(
                        type: bind.type,
                        isText: bind.isText,
                        range: bind.range.map { $0.lowerBound + base..<$0.upperBound + base },
                        place: place..<self.text.utf8.count
                    )
                )
            }
            self.text += String(decoding: source[done...], as: UTF8.self)
        }
    }

    /// The text with `$1`, `$2` and so on.
    public let text: String
    let binds: [Bind]
    let bytes: [UInt8]
    let problem: String?

    /// A statement without bound values.
    public init(stringLiteral value: String) {
        self.text = value
        self.binds = []
        self.bytes = []
        self.problem = nil
    }

    /// A statement with bound values.
    public init(stringInterpolation: StringInterpolation) {
        self.text = stringInterpolation.text
        self.binds = stringInterpolation.binds
        self.bytes = stringInterpolation.buffer.bytes
        self.problem = stringInterpolation.buffer.problem
    }

    /// A statement whose text was put together at run time, without bound values.
    ///
    /// - Important: Only for text that the program itself chose.
    public init(unsafe text: String) { self.init(stringLiteral: text) }

    /// One statement after the other, with the bound values of both.
    public static func + (left: SQL, right: SQL) -> SQL { "\(left)\(right)" }

    /// The statements with a separator between them.
    public static func join(_ parts: [SQL], separator: SQL) -> SQL {
        var whole: SQL = ""
        for (index, part) in parts.enumerated() { whole = index == 0 ? part : whole + separator + part }
        return whole
    }
}
