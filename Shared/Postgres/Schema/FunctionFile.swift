public import Foundation

/// One SQL file of functions, procedures and their rights; it is changed in place and applied again.
public struct FunctionFile: Sendable, Hashable {
    /// The file name with its extension.
    public let name: String
    /// The text of the file.
    public let sql: String

    /// Makes a file.
    public init(name: String, sql: String) {
        self.name = name
        self.sql = sql
    }

    /// Reads the `.sql` files of a folder; a folder that does not exist has none.
    ///
    /// - Returns: The files in the order of their names, but `tables.sql` first and `rights.sql` last.
    /// - Throws: What reading throws.
    public static func load(directory: URL) throws -> [FunctionFile] {
        guard FileManager.default.fileExists(atPath: directory.path) else { return [] }
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        return Self.ordered(
            try files.filter { $0.pathExtension == "sql" }.map { file in
                FunctionFile(name: file.lastPathComponent, sql: try String(contentsOf: file, encoding: .utf8))
            }
        )
    }

    static func ordered(_ files: [FunctionFile]) -> [FunctionFile] {
        files.sorted { (Self.place($0), $0.name) < (Self.place($1), $1.name) }
    }

    private static func place(_ file: FunctionFile) -> Int {
        switch file.name {
        case "tables.sql": 0
        case "rights.sql": 2
        default: 1
        }
    }
}
