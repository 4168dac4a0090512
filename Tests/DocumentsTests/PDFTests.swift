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
        let pages = try await self.pages(of: try await PDFRenderer().render(self.table(2), for: "ada"))
        #expect(pages.count == 1)
        for words in [
            "Account statement", "₦1,234.50", "@adaọ̀", "Line number 1", "₦1.00", "Page 1 of 1", "Made for a test",
        ] {
            #expect(pages[0].contains(words), "\(words) is missing in \(pages[0])")
        }
    }

    @Test("every row is on one page, each page has the heads and its number", arguments: [47, 48, 49, 50, 51, 52, 400])
    func paging(rows: Int) async throws {
        let pages = try await self.pages(of: try await PDFRenderer().render(self.table(rows), for: "ada"))
        for (index, page) in pages.enumerated() {
            #expect(page.contains("Page \(index + 1) of \(pages.count)"))
            #expect(page.contains("Description"))
        }
        let lines = pages.joined().split(separator: "\n").filter { $0.contains("Line number") }
        #expect(lines.count == rows)
        #expect(lines.last?.contains("Line number \(rows - 1)") == true)
    }

    /// What a reader copies out of one column of a page, its lines put together.
    private func column(_ bytes: [UInt8], from x: Int, width: Int) async throws -> String {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).pdf")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes).write(to: file)
        let area = ["-x", "\(x)", "-y", "0", "-W", "\(width)", "-H", "842"]
        let text = try await Command.run("pdftotext", ["-q", "-enc", "UTF-8"] + area + [file.path, "-"])
        return text.split(whereSeparator: \.isWhitespace).joined()
    }

    @Test(
        "a reference is never cut: it goes on in the next line, broken before a hyphen where it has one",
        arguments: [
            "trf-01932f5e-0000-7000-8000-000000000001", "sub-01932f5e-0000-7000-8000-000000000001-20261121",
            "090405261121010705123456789012ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        ]
    )
    func reference(text: String) async throws {
        var document = self.table(0)
        document.columns = [
            Document.Column("Date", share: 395), Document.Column("Reference", share: 116),
        ]
        document.rows = [["2026-11-21", text], ["2026-11-22", "short"]]
        let bytes = try await PDFRenderer().render(document, for: "ada")
        let column = try await self.column(bytes, from: 42 + 395, width: 116)
        #expect(column.contains("Reference\(text)short"))
        let page = try await self.pages(of: bytes)[0]
        #expect(!page.contains("…"))
        if text.hasPrefix("trf") { #expect(page.contains("trf-01932f5e-0000-7000\n")) }
    }

    @Test("rows of several lines are all there, each on one page", arguments: [30, 31, 33, 90])
    func tallRows(rows: Int) async throws {
        var document = self.table(0)
        document.columns = [Document.Column("Text", share: 1), Document.Column("More", share: 9)]
        document.rows = (0..<rows).map { ["row-\($0)-of-the-table-in-lines", "Line number \($0)"] }
        let pages = try await self.pages(of: try await PDFRenderer().render(document, for: "ada"))
        let lines = pages.joined().split(separator: "\n").filter { $0.contains("Line number") }
        #expect(lines.count == rows && pages.count > 1)
        for (index, page) in pages.enumerated() { #expect(page.contains("Page \(index + 1) of \(pages.count)")) }
    }

    @Test("an amount is never cut or broken")
    func amount() async throws {
        var document = self.table(0)
        document.columns = [Document.Column("Text", share: 443), Document.Column("Balance", share: 68, .trailing)]
        document.rows = [["x", "₦92,233,720,368,547.07"]]
        let page = try await self.pages(of: try await PDFRenderer().render(document, for: "ada"))[0]
        #expect(page.contains("₦92,233,720,368,547.07"))
    }

    @Test("what is too wide is cut, and what breaks lines does not")
    func wide() async throws {
        var document = self.table(0)
        document.rows = [[String(repeating: "wide ", count: 100), "one\ntwo\u{7}"]]
        document.fields.append(Document.Field("Long", String(repeating: "word ", count: 60)))
        let page = try await self.pages(of: try await PDFRenderer().render(document, for: "ada"))[0]
        #expect(page.contains("…") && page.contains("one two"))
        #expect(page.components(separatedBy: "word").count == 61)
    }

    @Test("a table that does not fit its columns, or is too long, is refused; so is a font that is not there")
    func refused() async throws {
        var crooked = self.table(1)
        crooked.rows.append(["only one"])
        for document in [crooked, self.table(PDFRenderer.maximumRows + 1)] {
            await #expect(throws: DocumentError(.badTable)) { try await PDFRenderer().render(document, for: "ada") }
        }
        let fonts = PDFRenderer.Fonts(regular: "/nowhere/font.ttf", bold: "/nowhere/font.ttf")
        let error = await #expect(throws: DocumentError.self) {
            try await PDFRenderer(fonts: fonts).render(self.table(1), for: "ada")
        }
        #expect(error?.code == .font)
    }

    /// Has everybody's documents drawn at once: how many were, and why the others were not.
    private func together(_ owners: [String], rows: Int) async -> (drawn: Int, refused: [DocumentError]) {
        let renderer = PDFRenderer()
        let document = self.table(rows)
        return await withTaskGroup(of: DocumentError?.self) { group in
            for owner in owners {
                group.addTask {
                    do throws(DocumentError) {
                        _ = try await renderer.render(document, for: owner)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            var result: (drawn: Int, refused: [DocumentError]) = (0, [])
            for await error in group {
                if let error { result.refused.append(error) } else { result.drawn += 1 }
            }
            return result
        }
    }

    @Test("of twelve at once each is drawn, also of one person's")
    func atOnce() async {
        let one = await self.together(Array(repeating: "ada", count: 12), rows: 50)
        #expect(one.drawn == 12)
        let several = await self.together((0..<12).map { "person\($0)" }, rows: 50)
        #expect(several.drawn == 12)
    }

    @Test("what one person has waiting is bounded, and long documents count for more")
    func busy() async {
        let outcome = await self.together(Array(repeating: "ada", count: 5), rows: 5000)
        // One is drawn and one waits: two of fifty-one would be more than a share.
        #expect(outcome.drawn == 2)
        #expect(outcome.refused.map(\.code) == [.busy, .busy, .busy])
    }
}
