import Foundation
import OutgoingHTTP

/// A document that the provider wants to see of a customer, or has seen.
public struct CustomerDocument: Sendable, Hashable {
    /// The provider's id, ending in `-anc_doc`.
    public var id: String
    /// The provider's word for it, such as `CERTIFICATE_OF_INCORPORATION`.
    public var type: String
    /// Whether it is handed in as a line of text and not as a file.
    public var isText: Bool
    /// Whether it was handed in, and not refused since.
    public var isSubmitted: Bool
    /// Whether the provider has accepted it.
    public var isVerified: Bool

    /// Creates a document.
    public init(id: String, type: String, isText: Bool, isSubmitted: Bool = false, isVerified: Bool = false) {
        self.id = id
        self.type = type
        self.isText = isText
        self.isSubmitted = isSubmitted
        self.isVerified = isVerified
    }
}

/// What is handed in.
///
/// Personal data.
public enum DocumentContent: Sendable, Hashable {
    /// A file; `name` and `contentType` are ours and say nothing about the person.
    case file([UInt8], name: String, contentType: String)
    /// A line of text, such as a number.
    case text(String)
}

extension AnchorClient {
    /// The documents of a customer: those that are wanted and those that were handed in.
    public func documents(
        customerID: String,
        deadline: Duration? = nil
    ) async throws(AnchorError) -> [CustomerDocument] {
        struct Attributes: Decodable {
            var documentType: String?
            var format: String?
            var submitted: Bool?
            var verified: Bool?
        }
        let answer: ListEnvelope<Attributes> = try await self.call(
            .get("/documents/\(escaped(customerID))"),
            "documents",
            deadline: deadline
        )
        return answer.data.map { document in
            CustomerDocument(
                id: document.id,
                type: document.attributes.documentType ?? "OTHER",
                isText: document.attributes.format?.uppercased() == "TEXT",
                isSubmitted: document.attributes.submitted ?? false,
                isVerified: document.attributes.verified ?? false
            )
        }
    }

    /// Hands a document in; once more replaces what was handed in before.
    public func uploadDocument(
        customerID: String,
        documentID: String,
        _ content: DocumentContent,
        deadline: Duration? = nil
    ) async throws(AnchorError) {
        // Random, so that no file can hold it.
        let boundary = "transfa-\(UUID().uuidString)"
        let request = AnchorRequest(
            method: .post,
            path: "/documents/upload-document/\(escaped(customerID))/\(escaped(documentID))",
            body: content.multipart(boundary: boundary),
            contentType: "multipart/form-data; boundary=\(boundary)"
        )
        try await self.call(request, deadline: deadline)
    }
}

extension DocumentContent {
    /// The body of a form with one field (RFC 7578).
    func multipart(boundary: String) -> Data {
        var body = Data("--\(boundary)\r\nContent-Disposition: form-data; ".utf8)
        switch self {
        case .file(let bytes, let name, let type):
            body.append(contentsOf: "name=\"fileData\"; filename=\"\(name)\"\r\nContent-Type: \(type)\r\n\r\n".utf8)
            body.append(contentsOf: bytes)
        case .text(let text):
            body.append(contentsOf: "name=\"textData\"\r\n\r\n\(text)".utf8)
        }
        body.append(contentsOf: "\r\n--\(boundary)--\r\n".utf8)
        return body
    }
}
