import HTTPTypes
import Hummingbird

/// One part of a form (RFC 7578).
struct FormPart: Sendable, Hashable {
    var name: String
    var hasFileName: Bool
    var bytes: [UInt8]

    /// The parts of a body; nil when it is no form.
    static func all(in body: [UInt8], contentType: String) -> [FormPart]? {
        guard contentType.lowercased().hasPrefix("multipart/form-data"),
            let boundary = contentType.split(separator: "boundary=").dropFirst().first?.split(separator: ";").first
        else { return nil }
        let mark = Array("--\(boundary.filter { $0 != "\"" })".utf8)
        guard body.starts(with: mark) else { return nil }
        let lineEnd = Array("\r\n".utf8)
        var parts: [FormPart] = []
        var rest = body.dropFirst(mark.count)
        while !rest.starts(with: "--".utf8) {
            guard rest.starts(with: lineEnd), let end = rest.dropFirst(2).firstRange(of: lineEnd + mark),
                let part = FormPart(rest[(rest.startIndex + 2)..<end.lowerBound])
            else { return nil }
            parts.append(part)
            rest = rest[end.upperBound...]
        }
        return parts
    }

    private init?(_ bytes: ArraySlice<UInt8>) {
        guard let blank = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<blank.lowerBound], as: UTF8.self)
        guard let name = head.split(separator: "name=\"").dropFirst().first?.split(separator: "\"").first else {
            return nil
        }
        self.name = String(name)
        self.hasFileName = head.contains("filename=\"")
        self.bytes = Array(bytes[blank.upperBound...])
    }
}

extension Request {
    /// The body as a form; what is none is refused as the provider refuses it.
    func form() async throws -> [FormPart] {
        let type = self.headers[.contentType] ?? ""
        guard let parts = FormPart.all(in: try await self.bytes(), contentType: type) else {
            throw Refusal.badRequest("Content-Type '\(type.prefix(100))' is not supported")
        }
        return parts
    }
}
