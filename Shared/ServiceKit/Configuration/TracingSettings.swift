import Foundation

/// Where spans go; the names of the variables are OpenTelemetry's.
public struct TracingSettings: Sendable {
    /// The address that takes traces.
    public let url: String
    /// What goes along; may be secret.
    let headers: [(name: String, value: String)]

    /// Reads `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_EXPORTER_OTLP_PROTOCOL`.
    ///
    /// Nil when there is no endpoint.
    init?(_ reader: SettingsReader) throws(ConfigurationProblem) {
        guard let endpoint = try reader.optionalText(.tracingEndpoint) else { return nil }
        _ = try reader.text(.tracingProtocol)
        self.url = (endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint) + "/v1/traces"
        var headers: [(name: String, value: String)] = []
        for pair in try reader.list(.tracingHeaders) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, Self.isToken(parts[0]), let value = String(parts[1]).removingPercentEncoding,
                value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
            else { throw SettingsReader.problem(.tracingHeaders, "must be name=value, separated by commas") }
            headers.append((String(parts[0]), value))
        }
        self.headers = headers
    }

    /// Whether a text can be the name of a header (RFC 9110, 5.6.2).
    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
