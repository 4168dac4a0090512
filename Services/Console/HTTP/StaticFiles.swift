import Foundation
import HTTPTypes
import Hummingbird
import ServiceKit

/// The files of a folder, for browsers; read once.
struct StaticFiles: Sendable {
    /// What is answered for a path.
    struct File: Sendable {
        let bytes: [UInt8]
        let type: String
        private let tag: EntityTag

        init(_ bytes: [UInt8], type: String) {
            self.bytes = bytes
            self.type = type
            self.tag = EntityTag(of: bytes)
        }

        /// The file, or 304 when the browser has it.
        ///
        /// Asked for each time and sent only when it changed: page and service are always of one version.
        func answer(_ request: Request) -> APIResponse {
            let headers: HTTPFields = [.eTag: self.tag.text, .cacheControl: "no-cache", .contentType: self.type]
            if self.tag.isKnown(to: request.headers) { return APIResponse(.notModified, headers: headers) }
            return APIResponse(.ok, body: self.bytes, headers: headers)
        }
    }

    /// A file is missing, or of no known kind.
    struct Incomplete: Error {}

    private let files: [String: File]

    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml", "txt": "text/plain; charset=utf-8",
    ]

    /// Reads the folder.
    ///
    /// - Throws: `Incomplete` when one of the names is missing, or a file is of no known kind.
    init(folder: URL, needing names: [String]) throws {
        var files: [String: File] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let url = folder.appendingPathComponent(name)
            guard let type = Self.types[url.pathExtension] else { throw Incomplete() }
            files[name] = File(Array(try Data(contentsOf: url)), type: type)
        }
        guard names.allSatisfy(files.keys.contains) else { throw Incomplete() }
        self.files = files
    }

    /// The file of this name.
    func file(_ name: String) throws(APIError) -> File {
        guard let file = self.files[name] else { throw APIError.notFound(parameter: "file") }
        return file
    }

    /// Adds a route for the files below a path.
    func add(to group: RouterGroup<AppRequestContext>, below path: String) {
        group.get(RouterPath("\(path)/:file")) { request, context in
            try self.file(context.parameters.get("file") ?? "").answer(request)
        }
    }
}
