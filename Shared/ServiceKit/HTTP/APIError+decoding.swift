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
            .invalid("", code: "invalid_body", detail: "The body does not have the form that is needed here.")
        }
    }

    static func from(_ error: StrictJSONError) -> APIError {
        .invalid(error.pointer, code: error.reason.rawValue, detail: Self.sentence(for: error.reason))
    }

    private static func sentence(for reason: StrictJSONError.Reason) -> String {
        switch reason {
        case .malformed: "The body is not JSON from here on."
        case .notUTF8: "The body is not UTF-8."
        case .duplicateName: "This member is there twice."
        case .unknownName: "There is no such member here; look for a slip in its name."
        case .nullCharacter: "The character U+0000 is not allowed in a text."
        case .tooDeep: "Arrays and objects are nested too deeply."
        }
    }

    private static func decoding(
        _ code: String,
        _ context: DecodingError.Context,
        appending key: (any CodingKey)? = nil
    ) -> APIError {
        let path = context.codingPath + (key.map { [$0] } ?? [])
        let pointer = JSONPointer.text(of: path)
        // Texts of our own decoder describe what was expected; a type's own text might quote the value.
        let isOurs = context.underlyingError is StrictJSONNote
        let sentence = isOurs ? context.debugDescription : "The value does not have the form that is needed here."
        return .invalid(pointer, code: code, detail: sentence)
    }
}
