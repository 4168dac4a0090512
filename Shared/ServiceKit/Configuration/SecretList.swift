import Cryptography

/// A secret that can be replaced while it is in use: the first text is the one that is sent or signed with, all of them
/// are taken.
///
/// To replace one without a refused call, give every process `old,new`, then `new,old`, then `new`.
public struct SecretList: Sendable, Hashable {
    /// The text that is in use.
    public let current: String
    /// All texts that are taken, the one in use first.
    public let all: [String]

    /// Takes the texts; nil when there is none, or one of them is empty or stands there twice.
    public init?(_ texts: [String]) {
        guard let current = texts.first, !texts.contains(""), Set(texts).count == texts.count else { return nil }
        self.current = current
        self.all = texts
    }

    /// These and others; sent is what was sent before.
    func and(_ others: SecretList) -> SecretList {
        SecretList(self.all + others.all.filter { !self.all.contains($0) }) ?? self
    }

    /// Whether a text is one of them, in a time that does not say which.
    public func contains(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return self.all.reduce(false) { ConstantTime.equal(bytes, Array($1.utf8)) || $0 }
    }
}

extension SecretList: CustomStringConvertible, CustomReflectable {
    /// How many there are, not what they are.
    public var description: String { "SecretList(\(self.all.count), [redacted])" }
    /// No children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension SettingsReader {
    /// Secrets separated by commas, the one in use first.
    ///
    /// Strict: a comma too many would be a secret that nobody chose.
    ///
    /// - Throws: `ConfigurationProblem` when it is not set, or when one of them is shorter than `minimum` or there twice.
    public func secrets(_ key: SettingKey, minimum: Int = 1) throws(ConfigurationProblem) -> SecretList {
        guard let list = try self.optionalSecrets(key, minimum: minimum) else { throw Self.problem(key, "not set") }
        return list
    }

    /// As `secrets`, but nil when it is not set.
    public func optionalSecrets(
        _ key: SettingKey,
        minimum: Int = 1
    ) throws(ConfigurationProblem) -> SecretList? {
        guard let text = try self.optionalText(key) else { return nil }
        let texts = text.split(separator: ",", omittingEmptySubsequences: false).map(Self.trimmed)
        for (index, text) in texts.enumerated() where text.utf8.count < minimum {
            let place = texts.count > 1 ? "number \(index + 1) " : ""
            throw Self.problem(key, "\(place)must have \(minimum) character\(minimum == 1 ? "" : "s") or more")
        }
        guard let list = SecretList(texts) else { throw Self.problem(key, "has the same secret twice") }
        return list
    }

    /// Secrets that open one thing: none of them may be an `INTERNAL_TOKEN`, which opens nearly all, or open another one
    /// thing.
    ///
    /// - Throws: `ConfigurationProblem` as `secrets` does, and when one of them is such a token.
    public func narrowSecrets(_ key: SettingKey) throws(ConfigurationProblem) -> SecretList {
        guard let list = try self.optionalNarrowSecrets(key) else { throw Self.problem(key, "not set") }
        return list
    }

    /// As `narrowSecrets`, but nil when it is not set.
    func optionalNarrowSecrets(_ key: SettingKey) throws(ConfigurationProblem) -> SecretList? {
        guard let list = try self.optionalSecrets(key, minimum: 16) else { return nil }
        if let wide = try self.optionalSecrets(.internalToken), !Set(wide.all).isDisjoint(with: list.all) {
            throw Self.problem(key, "must not be an INTERNAL_TOKEN")
        }
        // Prometheus, which has the first, must not open data keys or exports.
        for other in [SettingKey.metricsToken, .dataKeysToken, .exportsToken] where other.name != key.name {
            if let texts = try self.optionalSecrets(other), !Set(texts.all).isDisjoint(with: list.all) {
                throw Self.problem(key, "must not be a \(other.name)")
            }
        }
        return list
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
