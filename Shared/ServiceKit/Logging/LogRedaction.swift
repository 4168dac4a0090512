import Logging

/// Decides what of a log line may be written.
enum LogRedaction {
    /// Keys whose values are never about a person.
    static let allowedKeys: Set<String> = [
        "request_id", "trace_id", "correlation_id", "causation_id", "route", "method", "status", "duration_ms",
        "service",
        "event_type", "event_id", "queue", "exchange", "routing_key", "kind", "job_kind", "attempt", "attempts",
        "count",
        "batch", "sequence", "partition", "outcome", "reason_code", "code", "sql_state", "constraint", "host", "port",
        "address", "signal", "loop", "version", "delay_ms", "lag_ms", "state", "name", "setting", "profile",
        "sl-service", "sl-services", "sl-signal", "sl-gracefulShutdownSignals", "hb.request.id", "error.type",
        // Errors of ours describe themselves without parameters; what slips through is scrubbed.
        "error",
    ]

    static let mark = "[redacted]"

    static func value(_ value: Logger.MetadataValue, key: String) -> String {
        if case .stringConvertible(let convertible) = value, let safe = convertible as? SafeLogValue {
            return safe.description
        }
        return Self.allowedKeys.contains(key) ? Self.scrub(value.description) : Self.mark
    }

    /// Covers what looks like an account number, a phone number, a BVN or a token.
    ///
    /// A second line of defence: texts
    /// are written without such things in the first place.
    static func scrub(_ text: String) -> String {
        guard Self.isSuspicious(text) else { return text }
        return text.split(separator: " ", omittingEmptySubsequences: false).map(Self.word).joined(separator: " ")
    }

    private static func word(_ word: Substring) -> String {
        if word.contains("eyJ") || word.hasPrefix("sk_") || word.contains("whsec_") {
            return Self.mark
        }
        if word.contains("@"), word.contains(".") || word.contains("://") {
            return Self.mark
        }
        var text = ""
        var digits = ""
        for character in word {
            if character.isASCII, character.isNumber {
                digits.append(character)
                continue
            }
            text += digits.count >= Self.longNumber ? Self.mark : digits
            digits = ""
            text.append(character)
        }
        return text + (digits.count >= Self.longNumber ? Self.mark : digits)
    }

    private static let longNumber = 10

    private static func isSuspicious(_ text: String) -> Bool {
        var run = 0
        for byte in text.utf8 {
            run = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? run + 1 : 0
            if run >= Self.longNumber || byte == UInt8(ascii: "@") {
                return true
            }
        }
        return text.contains("eyJ") || text.contains("sk_") || text.contains("whsec_")
    }
}
