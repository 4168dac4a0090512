import Foundation
import Hummingbird
import ServiceKit

/// What everybody may read: what there is, the reference of the API, the way to a first payment, and all events.
struct DocumentController: Sendable {
    /// The paths; what is below them belongs to them.
    static let paths = ["/", "/docs", "/asyncapi.json"]

    private let start: StaticFiles.File
    private let firstPayment: StaticFiles.File
    private let reference: StaticFiles.File
    private let events: StaticFiles.File
    private let assets: StaticFiles
    private let viewer: StaticFiles?

    /// Reads the folders.
    ///
    /// - Parameters:
    ///   - folder: Our pages, and the files that they share.
    ///   - viewer: What shows the description of the API; without it there is a page that says where that is.
    ///   - events: The document of all events.
    ///   - mayTry: Whether requests can be sent from the reference.
    /// - Throws: What reading throws; `APIError` when a page is missing.
    init(folder: URL, viewer: StaticFiles?, events: [UInt8], mayTry: Bool) throws {
        let pages = try StaticFiles(folder: folder.appendingPathComponent("pages"), needing: [])
        self.assets = try StaticFiles(folder: folder.appendingPathComponent("assets"), needing: [])
        self.start = try pages.file("index.html")
        self.firstPayment = try pages.file("first-payment.html")
        let reference = try pages.file(viewer == nil ? "no-reference.html" : "reference.html")
        self.reference = mayTry ? reference : Self.readOnly(reference)
        self.viewer = viewer
        self.events = StaticFiles.File(events, type: "application/json")
    }

    /// The page without the word that lets its script offer to send requests.
    private static func readOnly(_ page: StaticFiles.File) -> StaticFiles.File {
        let text = String(decoding: page.bytes, as: UTF8.self).replacingOccurrences(of: " data-try", with: "")
        return StaticFiles.File(Array(text.utf8), type: page.type)
    }

    /// Reads what shows the description of the API, Swagger UI.
    static func viewer(in folder: String) throws -> StaticFiles {
        try StaticFiles(
            folder: URL(fileURLWithPath: folder, isDirectory: true),
            needing: ["swagger-ui-bundle.js", "swagger-ui.css"]
        )
    }

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        let texts = group.group().add(middleware: PageHeaders.text)
        texts.get("/") { request, _ in self.start.answer(request) }
        texts.get("/docs/first-payment") { request, _ in self.firstPayment.answer(request) }
        texts.get("/asyncapi.json") { request, _ in self.events.answer(request) }
        self.assets.add(to: texts, below: "/docs/assets")
        let reference = group.group().add(middleware: PageHeaders.reference)
        reference.get("/docs") { request, _ in self.reference.answer(request) }
        self.viewer?.add(to: reference, below: "/docs/reference")
    }
}
