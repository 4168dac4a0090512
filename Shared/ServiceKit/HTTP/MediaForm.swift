public import Hummingbird

/// The forms in which something is given, by the word that `?format=` has for each.
public protocol MediaForm: CaseIterable, RawRepresentable<String>, Sendable {
    /// The media type.
    var contentType: String { get }
}

extension MediaForm {
    /// The form that a request wants: what `?format=` says, else what `Accept` says, and the first where that is equal.
    ///
    /// - Throws: 400 for a format that is none, 406 when no form is acceptable.
    public static func wanted(by request: Request) throws(APIError) -> Self {
        if let text = request.uri.queryParameters.get("format") {
            guard let form = Self(rawValue: text) else {
                throw .invalid(
                    parameter: "format",
                    detail: "One of \(Self.allCases.map(\.rawValue).joined(separator: ", "))."
                )
            }
            return form
        }
        let accept = request.headers[values: .accept].joined(separator: ",")
        let ranges =
            accept.allSatisfy({ $0 == " " }) ? [] : accept.lowercased().split(separator: ",").map { AcceptRange($0) }
        var best: (form: Self, quality: Double)?
        for form in Self.allCases {
            let quality = ranges.isEmpty ? 1 : AcceptRange.quality(of: form.contentType, in: ranges)
            if quality > (best?.quality ?? 0) { best = (form, quality) }
        }
        guard let best else {
            throw APIError(
                .notAcceptable,
                code: "not_acceptable",
                detail: "Accept \(Self.allCases.map(\.contentType).joined(separator: " or ")).",
                source: .header("Accept")
            )
        }
        return best.form
    }
}
