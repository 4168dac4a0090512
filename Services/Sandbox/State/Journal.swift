import Foundation

/// An append-only file of changes, one JSON line each.
///
/// A line is with the operating system before the request that made it is answered; it is not forced to the disk,
/// because the stand-in must survive a kill, not a power cut.
struct Journal: Sendable {
    private let handle: FileHandle
    private let encoder = JSONEncoder()

    /// Opens the journal of a folder and reads what it holds.
    ///
    /// A last line that was cut off is dropped.
    static func open(directory: String) throws -> (journal: Journal, changes: [Change]) {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let path = directory + "/sandbox.jsonl"
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        let data = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
        let whole = data.lastIndex(of: UInt8(ascii: "\n")).map { data.index(after: $0) } ?? data.startIndex
        let decoder = JSONDecoder()
        let changes = try data[..<whole].split(separator: UInt8(ascii: "\n")).map {
            try decoder.decode(Change.self, from: Data($0))
        }
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.truncate(atOffset: UInt64(whole - data.startIndex))
        return (Journal(handle: handle), changes)
    }

    private init(handle: FileHandle) { self.handle = handle }

    /// Writes all changes of one operation at once.
    func append(_ changes: [Change]) throws {
        var lines = Data()
        for change in changes {
            lines.append(try self.encoder.encode(change))
            lines.append(UInt8(ascii: "\n"))
        }
        try self.handle.write(contentsOf: lines)
    }

    /// Forgets everything.
    func empty() throws { try self.handle.truncate(atOffset: 0) }
}
