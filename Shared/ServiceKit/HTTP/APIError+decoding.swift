import HTTPTypes

extension APIError {
    /// What a client is told about a body that does not decode.
    ///
    /// Values are never repeated.
    static func from(_ error: DecodingError) -> APIError {
        switch error {
        case .keyNotFound(let key, let context):
            Self.decoding("missing_field", context, appending: key)
        case .valueNotFound(_, let context):
            Self.decoding("missing_field", context)
        case .typeMismatch(_, let context):
            Self.decoding("invalid_type", context)
        case .dataCorrupted(let context):
            Self.decoding("invalid_value", context)
        @unknown default:
            APIError(.badRequest, code: "invalid_body")
        }
    }

    static func from(_ error: StrictJSONError) -> APIError {
        APIError(.badRequest, code: error.reason.rawValue, source: .pointer(error.pointer))
    }

    private static func decoding(
        _ code: String,
        _ context: DecodingError.Context,
        appending key: (any CodingKey)? = nil
    ) -> APIError {
        let path = context.codingPath + (key.map { [$0] } ?? [])
        let pointer = JSONPointer.text(path.map { $0.intValue.map(String.init) ?? $0.stringValue })
        // Texts of our own decoder describe what was expected; a type's own text might quote the value.
        let isOurs = context.underlyingError is StrictJSONNote
        return .invalid(pointer, code: code, detail: isOurs ? context.debugDescription : nil)
    }
}
