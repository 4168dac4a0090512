import HTTPTypes
public import Hummingbird

/// The forms in which drawn pictures, such as QR codes, are sent.
public enum PictureForm: String, Sendable, CaseIterable {
    /// Pixels.
    case png
    /// Shapes.
    case svg

    /// The names of the query's parameters.
    public static let parameters = ["format"]

    /// The media type.
    public var contentType: String {
        switch self {
        case .png: "image/png"
        case .svg: "image/svg+xml"
        }
    }

    /// What an `Accept` header asks for; PNG when it does not matter, nil when neither will do.
    init?(accept header: String?) {
        guard let header, !header.allSatisfy({ $0 == " " }) else {
            self = .png
            return
        }
        let ranges = header.lowercased().split(separator: ",").map { AcceptRange($0) }
        let wishes = Self.allCases.map { form in (form, AcceptRange.quality(of: form.contentType, in: ranges)) }
        guard let best = wishes.max(by: { $0.1 < $1.1 }), best.1 > 0 else { return nil }
        // At equal quality the first wins; `max` would give the last.
        self = wishes.first { $0.1 == best.1 }?.0 ?? best.0
    }
}

/// One media range of an `Accept` header.
struct AcceptRange {
    let type: Substring
    let quality: Double

    init(_ text: Substring) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map { part in
            Substring(part.filter { $0 != " " && $0 != "\t" })
        }
        self.type = parts.first ?? ""
        let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 }
        self.quality = min(max(quality ?? 1, 0), 1)
    }

    /// The most specific range that fits decides.
    static func quality(of type: String, in ranges: [AcceptRange]) -> Double {
        for candidate in [type[...], "\(type.prefix { $0 != "/" })/*", "*/*"] {
            if let found = ranges.first(where: { $0.type == candidate }) { return found.quality }
        }
        return 0
    }
}

extension Request {
    /// The form that the request wants: what `?format=` says, else what `Accept` says.
    ///
    /// - Throws: 400 for a format that is none, 406 when no form is acceptable.
    public func pictureForm() throws(APIError) -> PictureForm {
        if let text = self.uri.queryParameters.get("format") {
            guard let form = PictureForm(rawValue: text) else {
                throw .invalid(parameter: "format", detail: "png or svg.")
            }
            return form
        }
        let accept = self.headers[values: .accept]
        guard let form = PictureForm(accept: accept.isEmpty ? nil : accept.joined(separator: ",")) else {
            throw APIError(
                .notAcceptable,
                code: "not_acceptable",
                detail: "Accept image/png or image/svg+xml.",
                source: .header("Accept")
            )
        }
        return form
    }
}

extension APIResponse {
    /// A picture that stays the same and is for its reader alone; 304 when the reader has it already.
    ///
    /// Asked for each time: the path does not say whose it is, and a phone may have several people. The tag is over the
    /// bytes, so it is nobody else's. `Vary` names no `Authorization`: tokens live for a minute, and what is kept would be
    /// good for no longer.
    public static func picture(_ bytes: [UInt8], _ form: PictureForm, for request: Request) -> APIResponse {
        let tag = EntityTag(of: bytes)
        var headers = tag.privateHeaders
        headers[.vary] = "Accept"
        guard !tag.isKnown(to: request.headers) else { return APIResponse(.notModified, headers: headers) }
        headers[.contentType] = form.contentType
        return APIResponse(.ok, body: bytes, headers: headers)
    }
}
