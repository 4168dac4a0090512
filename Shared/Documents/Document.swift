/// What a PDF shows: a title, fields, and a table that may go over many pages.
public struct Document: Sendable, Hashable {
    /// A label and what it says.
    public struct Field: Sendable, Hashable {
        /// What it is.
        public var label: String
        /// What it says; too long a text goes on in further lines.
        public var value: String

        /// Puts a field together.
        public init(_ label: String, _ value: String) {
            self.label = label
            self.value = value
        }
    }

    /// A column of the table.
    public struct Column: Sendable, Hashable {
        /// On which side its texts stand.
        public enum Alignment: Sendable {
            /// Texts.
            case leading
            /// Amounts.
            case trailing
        }

        /// Its head.
        public var title: String
        /// Its part of the width, in relation to those of the others.
        public var share: Double
        /// On which side its texts stand.
        public var alignment: Alignment

        /// Describes a column.
        public init(_ title: String, share: Double, _ alignment: Alignment = .leading) {
            self.title = title
            self.share = share
            self.alignment = alignment
        }
    }

    /// Stands above everything, and among the properties of the file.
    public var title: String
    /// Below the title.
    public var fields: [Field]
    /// The columns; none, no table.
    public var columns: [Column]
    /// The rows, each with a text per column.
    ///
    /// What is too wide goes on in further lines, four at the most; amounts become smaller instead.
    public var rows: [[String]]
    /// At the foot of each page, beside its number.
    public var note: String

    /// Puts a document together.
    public init(title: String, fields: [Field], columns: [Column] = [], rows: [[String]] = [], note: String = "") {
        self.title = title
        self.fields = fields
        self.columns = columns
        self.rows = rows
        self.note = note
    }
}
