/// Why there is no document.
public struct DocumentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new ones may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// Enough others are being drawn; try again in a moment.
        public static let busy = Code("busy")
        /// More rows than a document may have, or a row with more or fewer texts than there are columns.
        public static let badTable = Code("badTable")
        /// A font is not where it should be, or is none.
        public static let font = Code("font")
        /// The library refused something.
        public static let library = Code("library")
    }

    /// The kind of failure.
    public let code: Code
    /// The library's number for it.
    public let status: UInt

    init(_ code: Code, status: UInt = 0) {
        self.code = code
        self.status = status
    }

    /// The kind, and the library's number; nothing of the document.
    public var description: String { "document \(self.code) \(self.status)" }
}
