import Foundation
import Hummingbird
import ServiceKit

/// What everybody may read: what there is, the reference of the API, the way to a first payment, and all events.
struct DocumentController: Sendable {
    /// The paths; what is below them belongs to them.
    static let paths = ["/", "/docs", "/asyncapi.json"]

    /// What can be tried from the reference.
    enum Trying {
        /// Nothing: whoever comes there has real money.
        case nothing
        /// Requests, by whoever has a session token.
        case requests
        /// Requests, also as somebody invented.
        case requestsAsSomebody

        /// The parts of the page that are left out.
        fileprivate var missingParts: [String] {
            switch self {
            case .nothing: ["try", "somebody"]
            case .requests: ["read", "somebody"]
            case .requestsAsSomebody: ["read"]
            }
        }
    }

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
    ///   - trying: What can be tried from the reference.
    /// - Throws: What reading throws; `APIError` when a page is missing.
    init(folder: URL, viewer: StaticFiles?, events: [UInt8], trying: Trying) throws {
        let pages = try StaticFiles(folder: folder.appendingPathComponent("pages"), needing: [])
        self.assets = try StaticFiles(folder: folder.appendingPathComponent("assets"), needing: [])
        let frame = try PageFrame(try pages.file("frame.html"))
        self.start = try frame.around(try pages.file("index.html"), at: "/")
        self.firstPayment = try frame.around(try pages.file("first-payment.html"), at: "/docs/first-payment")
        self.reference = try frame.around(
            try pages.file(viewer == nil ? "no-reference.html" : "reference.html"),
            at: "/docs/",
            withoutParts: trying.missingParts
        )
        self.viewer = viewer
        self.events = StaticFiles.File(events, type: "application/json")
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
