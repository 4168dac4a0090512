/// A table with data about people, as a person gets it: which rows, which columns, and what is left out and why.
///
/// The names are the program's own. A test per service compares them with the migrated database: every column is given
/// or left out.
public struct ExportTable: Sendable {
    /// A column that is sealed with a person's data key, and given opened.
    public struct Sealed: Sendable {
        let column: String
        let field: String
        let owner: String?
        let isJSON: Bool

        /// Names the column and the field of its seal.
        ///
        /// - Parameters:
        ///   - column: The column.
        ///   - field: The field that the seal names.
        ///   - owner: The column with the person whose key it is; nil when it is the person who asks.
        ///   - isJSON: Whether what was sealed is JSON.
        public init(_ column: String, field: String, of owner: String? = nil, isJSON: Bool = false) {
            self.column = column
            self.field = field
            self.owner = owner
            self.isJSON = isJSON
        }
    }

    /// A column of the primary or another unique key, by which pages go on.
    public struct Key: Sendable {
        let column: String
        let type: String

        /// Names the column and its type.
        public init(_ column: String, _ type: String) {
            self.column = column
            self.type = type
        }

        /// The id of a row.
        public static let id = Key("id", "uuid")
        /// The person, where there is one row of each.
        public static let userID = Key("user_id", "uuid")
    }

    /// What a person is called in the conditions and expressions of a table.
    public static let person = "{person}"
    /// The condition of most tables.
    public static let byUserID = "user_id = {person}"

    /// The name in the file.
    public let title: String
    /// The table.
    public let name: String
    let condition: String
    let keys: [Key]
    /// Whether an index has the condition's columns and then the key, so that a page costs what it shows.
    let isIndexed: Bool
    let shown: [String]
    let sealed: [Sealed]
    let computed: [(name: String, expression: String)]
    /// Columns that are not given, and why; what a computed member tells in their place is said there too.
    public let leftOut: [String: String]

    /// Declares a table.
    ///
    /// - Parameters:
    ///   - name: The table.
    ///   - title: Its name in the file, when it is not the table's: a table may be given in parts.
    ///   - condition: Which rows are about the person, in SQL; `{person}` stands for the person's id.
    ///   - keys: By which pages go on; unique among the rows of a person.
    ///   - isIndexed: Whether an index has the condition's columns and then the key.
    ///   - shown: Columns that are given as they are.
    ///   - sealed: Columns that are given opened.
    ///   - computed: Members that are made of the columns of the row, which is called `mine`, in SQL: what tells the
    ///     person something where the column itself tells of somebody else.
    ///   - leftOut: Columns that are not given, and why.
    public init(
        _ name: String,
        title: String? = nil,
        where condition: String = Self.byUserID,
        keys: [Key] = [.id],
        isIndexed: Bool = false,
        shown: [String],
        sealed: [Sealed] = [],
        computed: [(name: String, expression: String)] = [],
        leftOut: [String: String] = [:]
    ) {
        self.name = name
        self.title = title ?? name
        self.condition = condition
        self.keys = keys
        self.isIndexed = isIndexed
        self.shown = shown
        self.sealed = sealed
        self.computed = computed
        self.leftOut = leftOut
    }

    /// Every column that somebody has decided about.
    public var decided: Set<String> {
        Set(self.shown).union(self.sealed.map(\.column)).union(self.leftOut.keys)
    }
}

/// Why columns are left out, where several tables have the same reason.
public enum LeftOut {
    /// Numbers that events are ordered by.
    public static let order =
        "a number by which messages between our services are ordered; it tells nothing of the person"
    /// What secrets are compared with.
    public static let secret = "protects the account: who has it could guess or use a secret"
    /// Ids of somebody else.
    public static let others = "somebody else's; the name that the person sees in the app is given instead"
    /// What is the provider's.
    public static let provider = "an id of the bank's; it opens nothing and tells nothing of the person"
    /// What belongs to the working of the service.
    public static let inner = "how a request or a payment was worked off; it tells nothing of the person"
    /// The person's own id.
    public static let person = "the person's own id, which the file names once"
}
