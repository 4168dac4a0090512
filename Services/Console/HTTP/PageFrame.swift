import Foundation

/// What all pages to read have around them: head, navigation, end.
///
/// A page's file has its lines of the head, an empty line, and what is between the navigation and the end.
struct PageFrame: Sendable {
    private let text: String

    /// A page has no empty line, or the frame no place for what it has.
    struct Malformed: Error {}

    private static let (head, body) = ("<!-- head -->", "<!-- body -->")

    /// Takes the frame.
    ///
    /// - Throws: `Malformed`.
    init(_ file: StaticFiles.File) throws(Malformed) {
        self.text = String(decoding: file.bytes, as: UTF8.self)
        guard self.text.contains(Self.head), self.text.contains(Self.body) else { throw Malformed() }
    }

    /// The whole page at a path, which the navigation marks as the one that is shown.
    ///
    /// - Parameters:
    ///   - page: The page's file.
    ///   - path: Where it is.
    ///   - withoutParts: The parts that are left out, by name: what lies between `<!-- name -->` and `<!-- /name -->`.
    /// - Returns: What is sent.
    /// - Throws: `Malformed`.
    func around(
        _ page: StaticFiles.File,
        at path: String,
        withoutParts: [String] = []
    ) throws(Malformed) -> StaticFiles.File {
        let file = String(decoding: page.bytes, as: UTF8.self)
        guard let gap = file.range(of: "\n\n") else { throw Malformed() }
        let body = file[gap.upperBound...].trimmingCharacters(in: .whitespacesAndNewlines)
        var whole = self.text
            .replacingOccurrences(of: "href=\"\(path)\"", with: "href=\"\(path)\" aria-current=\"page\"")
            .replacingOccurrences(of: Self.head, with: file[..<gap.lowerBound])
            .replacingOccurrences(of: Self.body, with: body)
        for part in withoutParts {
            while let start = whole.range(of: "<!-- \(part) -->"),
                let end = whole.range(of: "<!-- /\(part) -->", range: start.upperBound..<whole.endIndex)
            {
                whole.removeSubrange(start.lowerBound..<end.upperBound)
            }
        }
        return StaticFiles.File(Array(whole.utf8), type: page.type)
    }
}
