import Foundation
import TestSupport
import Testing

@testable import Documents

@Suite("PDF")
struct PDFTests {
    /// What a reader copies out of a file, a page each.
    private func pages(of bytes: [UInt8]) async throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).pdf")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes).write(to: file)
        let text = try await Command.run("pdftotext", ["-q", "-layout", "-enc", "UTF-8", file.path, "-"])
        return text.components(separatedBy: "\u{c}").filter { !$0.isEmpty }
    }

    private func table(_ rows: Int) -> Document {
        Document(
            title: "Account statement",
            fields: [Document.Field("Opening balance", "₦1,234.50"), Document.Field("Account", "@adaọ̀")],
            columns: [
                Document.Column("Description", share: 3), Document.Column("Balance", share: 1, .trailing),
            ],
            rows: (0..<rows).map { ["Line number \($0)", "₦\($0).00"] },
            note: "Made for a test"
        )
    }

    @Test("text can be read back, with the naira sign and letters of Nigeria's languages")
    func text() async throws {
        let pages = try await self.pages(of: try await PDFRenderer().render(self.table(2)))
        #expect(pages.count == 1)
        for words in [
            "Account statement", "₦1,234.50", "@adaọ̀", "Line number 1", "₦1.00", "Page 1 of 1", "Made for a test",
        ] {
            #expect(pages[0].contains(words), "\(words) is missing in \(pages[0])")
        }
    }

    @Test("every row is on one page, each page has the heads and its number", arguments: [47, 48, 49, 50, 51, 52, 400])
    func paging(rows: Int) async throws {
        let pages = try await self.pages(of: try await PDFRenderer().render(self.table(rows)))
        for (index, page) in pages.enumerated() {
            #expect(page.contains("Page \(index + 1) of \(pages.count)"))
            #expect(page.contains("Description"))
        }
        let lines = pages.joined().split(separator: "\n").filter { $0.contains("Line number") }
        #expect(lines.count == rows)
        #expect(lines.last?.contains("Line number \(rows - 1)") == true)
    }

    @Test("what is too wide is cut, and what breaks lines does not")
    func wide() async throws {
        var document = self.table(0)
        document.rows = [[String(repeating: "wide ", count: 100), "one\ntwo\u{7}"]]
        document.fields.append(Document.Field("Long", String(repeating: "word ", count: 60)))
        let page = try await self.pages(of: try await PDFRenderer().render(document))[0]
        #expect(page.contains("…") && page.contains("one two"))
        #expect(page.components(separatedBy: "word").count == 61)
    }

    @Test("a table that does not fit its columns, or is too long, is refused; so is a font that is not there")
    func refused() async throws {
        var crooked = self.table(1)
        crooked.rows.append(["only one"])
        for document in [crooked, self.table(PDFRenderer.maximumRows + 1)] {
            await #expect(throws: DocumentError(.badTable)) { try await PDFRenderer().render(document) }
        }
        let fonts = PDFRenderer.Fonts(regular: "/nowhere/font.ttf", bold: "/nowhere/font.ttf")
        let error = await #expect(throws: DocumentError.self) {
            try await PDFRenderer(fonts: fonts).render(self.table(1))
        }
        #expect(error?.code == .font)
    }

    @Test("of three at once one is refused as busy, and the next one after them is not")
    func busy() async throws {
        let renderer = PDFRenderer()
        let document = self.table(5000)
        let results = await withTaskGroup(of: DocumentError?.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    do throws(DocumentError) {
                        _ = try await renderer.render(document)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: [DocumentError?]()) { $0.append($1) }
        }
        #expect(results.compactMap { $0?.code } == [.busy])
        _ = try await renderer.render(self.table(1))
    }
}
