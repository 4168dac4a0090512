import ContractGate
import EventLoops
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import ConsoleService
@testable import ServiceKit

@Suite("What everybody may read")
struct PublicPageTests {
    private static let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("../..")
    private static let folder = Self.root.appendingPathComponent("Services/Console/Documents")
    private static let html = "text/html; charset=utf-8"

    /// An answer, with its body.
    private struct Answer {
        let status: HTTPResponse.Status
        let headers: HTTPFields
        let body: String

        var policy: String { HTTPField.Name("Content-Security-Policy").flatMap { self.headers[$0] } ?? "" }
    }

    private struct Collector: ResponseBodyWriter {
        let bytes = Locked<[UInt8]>([])

        func write(_ buffer: ByteBuffer) { self.bytes.withLock { $0 += buffer.readableBytesView } }

        func finish(_: HTTPFields?) {}
    }

    /// A folder such as `reference.sh` makes, and is gone afterwards.
    private func withViewer<R>(_ body: (String) async throws -> R) async throws -> R {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(Scratch.shortName())
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["swagger-ui-bundle.js", "swagger-ui.css", "license.txt"] {
            try Data("of \(name)".utf8).write(to: folder.appendingPathComponent(name))
        }
        return try await body(folder.path)
    }

    private func get(
        _ path: String,
        viewer: String? = nil,
        trying: DocumentController.Trying = .requestsAsSomebody,
        headers: HTTPFields = [:]
    ) async throws -> Answer {
        let router = Router(context: AppRequestContext.self)
        try DocumentController(
            folder: Self.folder,
            viewer: try viewer.map { try DocumentController.viewer(in: $0) },
            events: Array("{}".utf8),
            trying: trying
        )
        .add(to: router.group())
        let source = ApplicationRequestContextSource(channel: NIOAsyncTestingChannel(), logger: quiet)
        let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: path, headerFields: headers)
        let response = try await router.buildResponder()
            .respond(to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), context: .init(source: source))
        let collector = Collector()
        try await response.body.write(collector)
        let text = String(decoding: collector.bytes.withLock { $0 }, as: UTF8.self)
        return Answer(status: response.status, headers: response.headers, body: text)
    }

    @Test("each path answers with its kind, is asked for anew each time, and comes once")
    func paths() async throws {
        try await self.withViewer { viewer in
            let kinds = [
                "/": Self.html, "/docs": Self.html, "/docs/": Self.html, "/docs/first-payment": Self.html,
                "/docs/assets/site.css": "text/css; charset=utf-8", "/docs/assets/icon.svg": "image/svg+xml",
                "/docs/reference/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
                "/docs/reference/license.txt": "text/plain; charset=utf-8", "/asyncapi.json": "application/json",
            ]
            for (path, kind) in kinds {
                let answer = try await self.get(path, viewer: viewer)
                #expect(answer.status == .ok && !answer.body.isEmpty, "\(path)")
                #expect(answer.headers[.contentType] == kind && answer.headers[.cacheControl] == "no-cache", "\(path)")
                let tag = try #require(answer.headers[.eTag])
                let again = try await self.get(path, viewer: viewer, headers: [.ifNoneMatch: tag])
                #expect(again.status == .notModified && again.body.isEmpty && again.headers[.eTag] == tag, "\(path)")
            }
        }
    }

    @Test("what is no file of the folders is not found")
    func strangers() async throws {
        let paths = [
            "/docs/assets/index.html", "/docs/assets/nothing.css", "/docs/assets/..%2Fpages", "/docs/other",
            "/docs/reference/swagger-ui.css",
        ]
        for path in paths { #expect(try await self.get(path).status == .notFound, "\(path)") }
    }

    @Test(
        "no page loads anything from elsewhere or has inline scripts and styles, and only the reference runs any"
    )
    func policies() async throws {
        try await self.withViewer { viewer in
            for path in ["/", "/docs/", "/docs/first-payment"] {
                let answer = try await self.get(path, viewer: viewer)
                let rules = answer.policy.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
                #expect(rules.contains("default-src 'none'") && rules.contains("frame-ancestors 'none'"))
                #expect(rules.contains("style-src 'self'") && !answer.policy.contains("unsafe"))
                #expect(rules.contains("script-src 'self'") == (path == "/docs/"))
                #expect(!answer.body.contains("style=") && !answer.body.contains("<style"))
                #expect(!answer.body.contains("<script>") && !answer.body.contains("://"))
                #expect(answer.headers[HTTPField.Name("X-Frame-Options") ?? .accept] == "DENY")
            }
        }
    }

    @Test("the first page leads to all others, and links lead somewhere")
    func links() async throws {
        let start = try await self.get("/").body
        for place in ["/docs/", "/docs/first-payment", "/console", "/openapi.yaml", "/asyncapi.json"] {
            #expect(start.contains("href=\"\(place)\""), "\(place)")
        }
        // Of other routes, and of the gateway.
        let others: Set = ["/console", "/openapi.yaml"]
        try await self.withViewer { viewer in
            for path in ["/", "/docs/", "/docs/first-payment"] {
                let page = try await self.get(path, viewer: viewer).body
                let places = Set(page.matches(of: /(?:href|src)="(\/[^"#]*)"/).map { String($0.output.1) })
                #expect(!places.isEmpty)
                for place in places.subtracting(others) {
                    #expect(try await self.get(place, viewer: viewer).status == .ok, "\(path) leads to \(place)")
                }
            }
        }
    }

    @Test("each page has the frame once, and its own place marked")
    func frame() async throws {
        try await self.withViewer { viewer in
            for path in ["/", "/docs/", "/docs/first-payment"] {
                let page = try await self.get(path, viewer: viewer).body
                #expect(page.matches(of: /<(!doctype|header|nav|title)[ >]/).count == 4, "\(path)")
                #expect(page.matches(of: /aria-current/).count == 1 && !page.contains("<!-- body -->"))
                #expect(page.contains("href=\"\(path)\" aria-current=\"page\""))
            }
        }
    }

    @Test("without the viewer the reference says where the description is, and runs nothing")
    func missingViewer() async throws {
        let answer = try await self.get("/docs/")
        #expect(answer.status == .ok && answer.body.contains("href=\"/openapi.yaml\""))
        #expect(answer.body.contains("REFERENCE_FOLDER") && !answer.body.contains("<script"))
        #expect(throws: (any Error).self) { try DocumentController.viewer(in: "/nowhere") }
        try await self.withViewer { folder in
            try FileManager.default.removeItem(atPath: folder + "/swagger-ui.css")
            #expect(throws: StaticFiles.Incomplete.self) { try DocumentController.viewer(in: folder) }
        }
    }

    @Test("in production nothing can be sent from the reference, and only where there is a sandbox people are invented")
    func production() async throws {
        try await self.withViewer { viewer in
            for (trying, sends, invents) in [
                (DocumentController.Trying.nothing, false, false), (.requests, true, false),
                (.requestsAsSomebody, true, true),
            ] {
                let answer = try await self.get("/docs/", viewer: viewer, trying: trying)
                #expect(answer.body.contains("id=\"reference\" data-try") == sends, "\(trying)")
                #expect(answer.body.contains("id=\"reference\">") == !sends, "\(trying)")
                #expect(answer.body.contains("id=\"invent\"") == invents, "\(trying)")
            }
            let script = try await self.get("/docs/assets/docs.js").body
            #expect(script.contains(#""try" in place.dataset ? ["get", "put", "post", "delete"] : []"#))
        }
    }

    @Test("the document of events is the one of the repository")
    func events() throws {
        let file = Self.root.appendingPathComponent("deploy/events/asyncapi.json")
        #expect(try EventDocument.ofThisBuild().asyncAPI.document() == Data(contentsOf: file))
    }

    @Test("the first payment has commands to copy, each of a program that there is")
    func commands() async throws {
        let page = try await self.get("/docs/first-payment").body
        let blocks = page.matches(of: /<pre class="commands" tabindex="0"><code>([^<]*)<\/code><\/pre>/)
        let lines = blocks.flatMap { $0.output.1.split(separator: "\n") }
        #expect(blocks.count == page.matches(of: /<pre/).count && lines.first == "scripts/run")
        for start in ["transfactl sandbox person ", "transfactl sandbox fund ", "transfactl pay "] {
            #expect(lines.contains { $0.hasPrefix(start) }, "\(start)")
        }
    }
}
