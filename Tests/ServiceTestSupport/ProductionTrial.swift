import Cryptography
import Foundation
import Primitives
public import ServiceKit
import TestSupport

/// Tries every setting of a service in production: strong values, and each weak one by itself.
public struct ProductionTrial: Sendable {
    private let definition: ServiceDefinition
    /// Values that production takes, of all settings that have no default.
    public let strong: [String: String]

    /// Makes strong values for every setting; some that only the service itself understands have to be given.
    public init(_ definition: ServiceDefinition, given: [String: String] = [:]) {
        self.definition = definition
        let settings = definition.settings.filter {
            $0.fallback == nil && !$0.isOptional || $0.settingClass == .parties
        }
        let made = settings.map { ($0.name, StrongSetting.value(of: $0)) }
        let all = Dictionary(made) { $1 }.merging(given) { $1 }
        self.strong = all.merging(["TRANSFA_PROFILE": "production"]) { $1 }
    }

    /// What production says of the strong values, with some others in their place.
    public func refusals(_ others: [String: String] = [:]) -> [ConfigurationProblem] {
        self.refusals(others, .production)
    }

    /// What is wrong with how production treats the settings of the service: nothing.
    public func faults() throws -> [String] {
        var faults = self.refusals().map { "refused although strong: \($0)" }
        for setting in self.definition.settings where setting.name != "MIGRATION_DATABASE_URL" {
            if Self.needsClass(setting), setting.settingClass == nil { faults.append("\(setting.name) has no class") }
            for value in self.weakValues(of: setting) { faults += self.faults(of: setting, with: value) }
        }
        return faults + (try self.examplesLetThrough()) + self.startFaults()
    }

    private func refusals(
        _ others: [String: String],
        _ profile: ServiceSettings.Profile
    ) -> [ConfigurationProblem] {
        let variables = self.strong.merging(others) { $1 }
        do throws(ConfigurationProblems) {
            try ProductionGate(self.definition, profile: profile).check(SettingsReader(variables))
            return []
        } catch {
            return error.all
        }
    }

    /// A number, a flag, a word and a rate say by their kind what is right.
    private static func needsClass(_ setting: SettingKey) -> Bool {
        switch setting.kind {
        case .text, .url, .list: true
        case .integer, .flag, .word, .rate: false
        }
    }

    private func weakValues(of setting: SettingKey) -> [String] {
        var values = WeakSetting.values(of: setting)
        if setting.settingClass == .parties || (setting.fallback == nil && !setting.isOptional) { values.append("") }
        // One weak secret among several is one too many.
        if case .token = setting.settingClass, let weak = values.first {
            values.append("\(StrongSetting.value(of: setting)),\(weak)")
        }
        return values
    }

    private func faults(of setting: SettingKey, with value: String) -> [String] {
        let named = self.refusals([setting.name: value]).filter { $0.variable == setting.name }
        guard let problem = named.first else { return ["\(setting.name) is let through as \(value)"] }
        let repeats = value.count > 5 && problem.reason.contains(value)
        let harmless = self.refusals([setting.name: value], .sandbox)
        return (repeats ? ["\(setting.name): its value is repeated"] : [])
            + harmless.map { "refused in the sandbox too: \($0)" }
    }

    /// Secrets of `.env.example` that production would take.
    private func examplesLetThrough() throws -> [String] {
        let text = try String(contentsOfFile: Repository.path(".env.example"), encoding: .utf8)
        let rows = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line -> (String, String)? in
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }
        let examples = Dictionary(rows) { $1 }
        return self.definition.settings.compactMap { setting in
            guard let value = examples[setting.name], Self.mustBeChanged(setting) else { return nil }
            let isNamed = self.refusals([setting.name: value]).contains { $0.variable == setting.name }
            return isNamed ? nil : "\(setting.name) is let through as in .env.example"
        }
    }

    private static func mustBeChanged(_ setting: SettingKey) -> Bool {
        switch setting.settingClass {
        case .key, .token, .given, .digests, .parties, .sandbox: setting.isSecret || setting.settingClass == .parties
        case .server, .peer, .address, .store, .plain, nil: false
        }
    }

    /// Strong values also make a service that starts.
    private func startFaults() -> [String] {
        do throws(ConfigurationProblem) {
            let reader = SettingsReader(self.strong)
            _ = try ServiceSettings(service: self.definition.name, needs: self.definition.needs, reader: reader)
            return []
        } catch {
            return ["refused although strong, when it is read: \(error)"]
        }
    }
}
