/// What a service is not started with where money is real: it names every setting that is too weak, and no value.
///
/// What is demanded of a setting follows from its class. With the profile `staging` the providers' sandboxes are let
/// through, and nothing else is; with `sandbox` nobody asks.
public struct ProductionGate: Sendable {
    private let keys: [SettingKey]
    let profile: ServiceSettings.Profile

    /// A gate for settings.
    public init(_ keys: [SettingKey], profile: ServiceSettings.Profile) {
        self.keys = keys
        self.profile = profile
    }

    /// A gate for all settings of a service but the owner's password, which only a migration has.
    public init(_ definition: ServiceDefinition, profile: ServiceSettings.Profile) {
        self.init(definition.settings.filter { $0 != .migrationDatabaseURL }, profile: profile)
    }

    /// Refuses what is too weak.
    ///
    /// - Throws: `ConfigurationProblems` with all of them, each by name.
    public func check(_ reader: SettingsReader) throws(ConfigurationProblems) {
        if let problems = ConfigurationProblems(self.problems(reader)) { throw problems }
    }

    /// Every setting that is too weak, malformed or missing, in the order of the documentation.
    func problems(_ reader: SettingsReader) -> [ConfigurationProblem] {
        guard self.profile != .sandbox else { return [] }
        return self.keys.compactMap { self.problem($0, reader) } + self.shared(reader)
    }

    private func problem(_ key: SettingKey, _ reader: SettingsReader) -> ConfigurationProblem? {
        do throws(ConfigurationProblem) {
            guard let text = try reader.optionalText(key), !text.isEmpty else {
                return self.isMissed(key) ? SettingsReader.problem(key, "not set") : nil
            }
            return self.objection(to: text, of: key).map { SettingsReader.problem(key, $0) }
        } catch {
            return error
        }
    }

    /// What a service without a strict need may leave out elsewhere, such as the pepper of PINs, it must have here.
    private func isMissed(_ key: SettingKey) -> Bool {
        key.settingClass == .parties || (key.settingClass != .sandbox && key.fallback == nil && !key.isOptional)
    }

    /// Secrets that are used for two things: whoever finds the one has the other.
    private func shared(_ reader: SettingsReader) -> [ConfigurationProblem] {
        var owners: [String: (key: SettingKey, user: String?)] = [:]
        var found: [ConfigurationProblem] = []
        for key in self.keys {
            guard let text = try? reader.optionalText(key) else { continue }
            for secret in Self.secrets(in: text, of: key) {
                guard let owner = owners[secret.text] else {
                    owners[secret.text] = (key, secret.user)
                    continue
                }
                let isOne = secret.user != nil && secret.user == owner.user
                guard owner.key != key, !isOne, !Self.mayEqual(owner.key, key) else { continue }
                found.append(SettingsReader.problem(key, "has the same secret as \(owner.key.name)"))
            }
        }
        return found
    }

    private static func mayEqual(_ one: SettingKey, _ other: SettingKey) -> Bool {
        [(one, other), (other, one)].contains { first, second in
            if case .token(_, mayEqual: second.name) = first.settingClass { return true }
            return false
        }
    }

    private struct Secret: Hashable {
        let text: String
        /// Who signs in with it: one user may stand in two settings, two users have two passwords.
        var user: String?
    }

    private static func secrets(in text: String, of key: SettingKey) -> Set<Secret> {
        switch key.settingClass {
        case .key: return Set(Self.entries(text).map { Secret(text: RandomBytes.encoded(in: $0)) })
        case .token, .given: return Set(Self.entries(text).map { Secret(text: $0) })
        case .server, .peer:
            guard let address = ServerAddress(text), let password = address.password else { return [] }
            return [Secret(text: password, user: address.user ?? "")]
        case .address, .parties, .store, .digests, .sandbox, .plain, nil: return []
        }
    }

    /// Texts separated by commas.
    static func entries(_ text: String) -> [String] {
        text.split(separator: ",").map { entry in
            String(entry.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        .filter { !$0.isEmpty }
    }
}
