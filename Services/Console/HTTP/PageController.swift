import Foundation
import Hummingbird
import ServiceKit

/// The operators' page.
struct PageController: Sendable {
    private let files: StaticFiles
    private let first: StaticFiles.File

    /// Reads the folder.
    init(folder: URL) throws {
        let first = "index.html"
        self.files = try StaticFiles(folder: folder, needing: [first])
        self.first = try self.files.file(first)
    }

    /// Adds the routes under `/console`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("") { request, _ in self.first.answer(request) }
        self.files.add(to: group, below: "/assets")
    }
}
