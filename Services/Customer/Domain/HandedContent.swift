import AnchorClient
import ImageFiles
import Primitives

/// What somebody hands in as a document: its kind is what its bytes are, whatever the sender says.
struct HandedContent: Sendable, Hashable {
    /// The kinds that are taken.
    enum Kind: String, Sendable {
        case pdf = "application/pdf"
        case jpeg = "image/jpeg"
        case png = "image/png"
        case text = "text/plain"

        /// A name that says nothing about the person.
        var fileName: String {
            switch self {
            case .pdf: "document.pdf"
            case .jpeg: "document.jpg"
            case .png: "document.png"
            case .text: "document.txt"
            }
        }
    }

    let kind: Kind
    /// Of pictures without metadata.
    let bytes: [UInt8]

    /// The most bytes of a file.
    static let maximumBytes = 5 * 1024 * 1024
    private static let maximumCharacters = 200
    /// How far from its end a PDF may say that it ends.
    private static let endOfPDF = 1024

    /// Takes what was stored.
    init(kind: Kind, bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }

    /// Checks what was handed in.
    ///
    /// - Throws: `DocumentProblem`; `ImageProblem` for a picture that breaks a rule.
    init(checking bytes: [UInt8], as format: IdentityDocument.Format) throws {
        guard bytes.count <= Self.maximumBytes else { throw DocumentProblem.tooManyBytes }
        switch format {
        case .text: self = try Self.text(bytes)
        case .file: self = try Self.file(bytes)
        }
    }

    private static func text(_ bytes: [UInt8]) throws(DocumentProblem) -> HandedContent {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .textInvalid }
        do throws(PersonText.Problem) {
            return HandedContent(
                kind: .text,
                bytes: Array(try PersonText.checked(text, 1...Self.maximumCharacters).utf8)
            )
        } catch {
            throw .textInvalid
        }
    }

    private static func file(_ bytes: [UInt8]) throws -> HandedContent {
        if bytes.starts(with: "%PDF-".utf8) {
            let end = bytes.suffix(Self.endOfPDF)
            let marker = Array("%%EOF".utf8)
            guard end.indices.contains(where: { end[$0...].starts(with: marker) }) else {
                throw DocumentProblem.malformed
            }
            return HandedContent(kind: .pdf, bytes: bytes)
        }
        let picture: CleanImage
        do throws(ImageProblem) {
            picture = try CleanImage(cleaning: bytes, within: ImageLimits(bytes: Self.maximumBytes))
        } catch .unknownKind {
            throw DocumentProblem.unsupportedType
        }
        guard let kind = Kind(rawValue: picture.kind.contentType) else { throw DocumentProblem.unsupportedType }
        return HandedContent(kind: kind, bytes: picture.bytes)
    }

    /// As the provider takes it.
    var form: DocumentContent {
        self.kind == .text
            ? .text(String(decoding: self.bytes, as: UTF8.self))
            : .file(self.bytes, name: self.kind.fileName, contentType: self.kind.rawValue)
    }
}

/// Why what was handed in is not taken.
enum DocumentProblem: Error, Hashable, Sendable {
    /// Neither PDF nor JPEG nor PNG.
    case unsupportedType
    /// It does not end as its kind does.
    case malformed
    case tooManyBytes
    /// No line of text of a bearable length.
    case textInvalid
}
