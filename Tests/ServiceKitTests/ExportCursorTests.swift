import HTTPTypes
import Hummingbird
import Messaging
import NIOCore
import Testing

@testable import ServiceKit

@Suite("Pages of one's own data")
struct ExportCursorTests {
    @Test("a cursor is read as it was written, whatever is in the key, and nothing else is one")
    func cursor() {
        for after in [[], ["a"], ["2026-11-21 01:07:05.123456+00", #"a "quoted" \ key"#, ""]] {
            let cursor = ExportCursor("transfers_sent", after: after)
            #expect(ExportCursor(text: cursor.text) == cursor)
        }
        for text in ["", "!", "e30", "W10", "WzFd"] { #expect(ExportCursor(text: text) == nil, "\(text)") }
    }

    private enum Form: String, MediaForm {
        case json, csv

        var contentType: String { self == .json ? "application/json" : "text/csv" }
    }

    private func wanted(_ path: String, accept: String?) throws -> Form {
        var head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: path)
        if let accept { head.headerFields[.accept] = accept }
        return try Form.wanted(by: Request(head: head, body: RequestBody(buffer: ByteBuffer())))
    }

    @Test("the query says the form, else Accept, and what cannot be given is refused")
    func form() throws {
        #expect(try self.wanted("/x", accept: nil) == .json)
        #expect(try self.wanted("/x", accept: "*/*") == .json)
        #expect(try self.wanted("/x", accept: "text/csv") == .csv)
        #expect(try self.wanted("/x", accept: "text/*, application/json;q=0.5") == .csv)
        #expect(try self.wanted("/x?format=csv", accept: "application/json") == .csv)
        #expect(throws: APIError.self) { try self.wanted("/x", accept: "image/png") }
        #expect(throws: APIError.self) { try self.wanted("/x?format=pdf", accept: nil) }
    }
}
