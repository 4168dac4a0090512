import Foundation

/// Reads documented settings and says which one is wrong.
public struct SettingsReader: Sendable {
    private let variables: [String: String]

    /// Reads a dictionary as if it were the environment.
    public init(_ variables: [String: String]) { self.variables = variables }

    /// Reads the environment of the process; only executables do.
    public static func environment() -> SettingsReader { SettingsReader(ProcessInfo.processInfo.environment) }

    /// The text of a setting, checked against its kind.
    ///
    /// - Throws: `ConfigurationProblem` when it is missing without a default or malformed.
    public func text(_ key: SettingKey) throws(ConfigurationProblem) -> String {
        guard let text = try self.optionalText(key) else { throw Self.problem(key, "not set") }
        return text
    }

    /// As `text`, but nil when it is not set and has no default.
    public func optionalText(_ key: SettingKey) throws(ConfigurationProblem) -> String? {
        guard let text = self.variables[key.name].flatMap({ $0.isEmpty ? nil : $0 }) ?? key.fallback else { return nil }
        if let reason = Self.objection(to: text, as: key.kind) {
            throw Self.problem(key, reason)
        }
        return text
    }

    /// A whole number.
    public func integer(_ key: SettingKey) throws(ConfigurationProblem) -> Int {
        guard let number = Int(try self.text(key)) else { throw Self.problem(key, "not a whole number") }
        return number
    }

    /// A flag.
    public func flag(_ key: SettingKey) throws(ConfigurationProblem) -> Bool { try self.text(key) == "true" }

    /// Texts separated by commas, without spaces around and without empty ones.
    public func list(_ key: SettingKey) throws(ConfigurationProblem) -> [String] {
        try (self.optionalText(key) ?? "").split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }

    /// A number of seconds.
    public func seconds(_ key: SettingKey) throws(ConfigurationProblem) -> Duration { .seconds(try self.integer(key)) }

    /// A problem with a setting that only its user can see, such as a URL that a client refuses.
    public static func problem(_ key: SettingKey, _ reason: String) -> ConfigurationProblem {
        ConfigurationProblem(variable: key.name, reason: reason)
    }

    private static func objection(to text: String, as kind: SettingKey.Kind) -> String? {
        switch kind {
        case .text, .list: nil
        case .integer(let range):
            Int(text).map(range.contains) == true
                ? nil : "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .flag: text == "true" || text == "false" ? nil : "must be true or false"
        case .word(let words): words.contains(text) ? nil : "must be one of \(words.joined(separator: ", "))"
        case .rate:
            text == RateLimitSettings.off || RateLimit(text: text) != nil
                ? nil
                : "must be requests/seconds, 1 to \(RateLimit.requestRange.upperBound) in 1 to "
                    + "\(RateLimit.secondRange.upperBound), or off"
        case .url(let schemes):
            schemes.contains { text.lowercased().hasPrefix($0 + "://") && text.utf8.count > $0.utf8.count + 3 }
                ? nil : "must be a URL that begins with \(schemes.map { $0 + "://" }.joined(separator: " or "))"
        }
    }
}
