import Foundation

/// A text file of the repository.
struct SourceFile: Sendable {
    /// The path below the root.
    let path: String
    /// Its whole text.
    let text: String
    /// Whether it may be executed.
    let isExecutable: Bool
    /// Swift with the contents of comments and string literals replaced by spaces, line by line the same.
    let code: String

    init(path: String, text: String, isExecutable: Bool = false) {
        self.path = path
        self.text = text
        self.isExecutable = isExecutable
        self.code = path.hasSuffix(".swift") ? SwiftText.withoutCommentsAndStrings(text) : ""
    }

    var isSwift: Bool { self.path.hasSuffix(".swift") }
    var name: String { String(self.path.split(separator: "/").last ?? "") }
    var folders: [String] { self.path.split(separator: "/").dropLast().map(String.init) }
    var lineCount: Int { self.text.split(separator: "\n", omittingEmptySubsequences: false).count - 1 }

    /// Whether it lies below one of these folders.
    func isBelow(_ folders: String...) -> Bool {
        folders.contains { self.path.hasPrefix($0 + "/") }
    }

    func violation(_ line: Int, _ message: String) -> Violation {
        Violation(path: self.path, line: line, message: message)
    }
}

/// The files that the rules look at: those of the repository, or a sample.
struct SourceTree: Sendable {
    let files: [SourceFile]

    var swiftFiles: [SourceFile] { self.files.filter(\.isSwift) }
    /// The Swift that ships: services and shared modules.
    var productFiles: [SourceFile] { self.swiftFiles.filter { $0.isBelow("Services", "Shared") } }

    func file(_ path: String) -> SourceFile? {
        self.files.first { $0.path == path }
    }

    /// The repository that this file belongs to.
    static let repository: SourceTree = {
        let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return SourceTree(files: read(below: root.path, ""))
    }()

    /// A made-up tree: path and text.
    static func sample(_ files: [String: String]) -> SourceTree {
        SourceTree(files: files.sorted { $0.key < $1.key }.map { SourceFile(path: $0.key, text: $0.value) })
    }

    private static let skipped: Set<String> = [".git", ".swiftpm", ".run", ".test", ".bench", "node_modules"]
    private static let kinds: Set<String> = [
        "swift", "md", "sh", "sql", "yaml", "yml", "json", "py", "h", "modulemap", "conf", "example", "",
    ]

    private static func read(below root: String, _ folder: String) -> [SourceFile] {
        let manager = FileManager.default
        let names = (try? manager.contentsOfDirectory(atPath: "\(root)/\(folder)")) ?? []
        return names.sorted().flatMap { name -> [SourceFile] in
            let path = folder.isEmpty ? name : "\(folder)/\(name)"
            var isFolder: ObjCBool = false
            guard manager.fileExists(atPath: "\(root)/\(path)", isDirectory: &isFolder) else { return [] }
            if isFolder.boolValue {
                return skipped.contains(name) || name.hasPrefix(".build") ? [] : read(below: root, path)
            }
            guard kinds.contains((name as NSString).pathExtension),
                let data = manager.contents(atPath: "\(root)/\(path)"), data.count < 2_000_000
            else { return [] }
            let text = String(decoding: data, as: UTF8.self)
            return [
                SourceFile(path: path, text: text, isExecutable: manager.isExecutableFile(atPath: "\(root)/\(path)"))
            ]
        }
    }
}
