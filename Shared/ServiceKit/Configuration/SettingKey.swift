/// One documented environment variable.
public struct SettingKey: Sendable, Hashable {
    /// What its text must look like.
    public enum Kind: Sendable, Hashable {
        /// Any text that is not empty.
        case text
        /// A whole number within bounds.
        case integer(ClosedRange<Int>)
        /// `true` or `false`.
        case flag
        /// A URL with one of these schemes.
        case url([String])
        /// Texts separated by commas.
        case list
        /// One of these words.
        case word([String])
        /// `<requests>/<seconds>`, or `off`.
        case rate
    }

    /// The name of the variable.
    public let name: String
    /// What its text must look like.
    public let kind: Kind
    /// What production demands of it; nil for what its kind says all about: numbers, flags, words and rates.
    public let settingClass: SettingClass?
    /// The value when it is not set; nil if there is none.
    public let fallback: String?
    /// Whether the service goes without it.
    public let isOptional: Bool
    /// Whether its value may never be shown.
    public let isSecret: Bool
    /// What it is for.
    public let purpose: String

    /// Describes a variable.
    public init(
        _ name: String,
        _ kind: Kind,
        class settingClass: SettingClass? = nil,
        default fallback: String? = nil,
        optional isOptional: Bool = false,
        secret: Bool = false,
        _ purpose: String
    ) {
        self.name = name
        self.kind = kind
        self.settingClass = settingClass
        self.fallback = fallback
        self.isOptional = isOptional
        self.isSecret = secret
        self.purpose = purpose
    }

    /// One line for the documentation: name, type, default, whether it is secret, purpose, what production demands.
    public var documentation: String {
        let fallback = self.fallback.map { "default `\($0)`" } ?? (self.isOptional ? "optional" : "required")
        let demand = self.settingClass?.demand.map { "; in production \($0)" } ?? ""
        return
            "\(self.name) (\(self.kindText), \(fallback)\(self.isSecret ? ", secret" : "")): \(self.purpose)\(demand)"
    }

    /// Whether its kind leaves open what it is, so that it needs a class.
    var needsClass: Bool {
        switch self.kind {
        case .text, .url, .list: true
        case .integer, .flag, .word, .rate: false
        }
    }

    private var kindText: String {
        switch self.kind {
        case .text: "text"
        case .integer(let range): "integer \(range.lowerBound)...\(range.upperBound)"
        case .flag: "true or false"
        case .url(let schemes): "URL \(schemes.joined(separator: ", "))"
        case .list: "comma-separated list"
        case .word(let words): words.joined(separator: " or ")
        case .rate: "requests/seconds or off"
        }
    }
}
