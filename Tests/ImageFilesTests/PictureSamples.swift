import Foundation
import TestSupport

/// What `pictures.py` makes.
enum PictureSamples {
    /// A folder with samples, gone afterwards.
    static func with(_ kind: String = "make", _ body: (String) async throws -> Void) async throws {
        let folder = "\(Scratch.directory)/pictures-\(Scratch.shortName())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await TestPython.run("pictures.py", [kind, folder])
        try await body(folder)
    }

    /// The names in a folder, in their order.
    static func files(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains(".") }.sorted()
    }

    /// What is in a file.
    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}
