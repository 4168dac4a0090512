/// JSON that is not decoded here, and yet is read as strictly as every body.
public enum StrictJSONText {
    /// Whether these bytes are one JSON value in UTF-8, without a name twice, a null character or too deep a nest.
    public static func isOne(_ bytes: [UInt8]) -> Bool { (try? StrictJSONParser.parse(bytes)) != nil }
}
