import Cryptography
import Foundation

/// Why a value of each class is too weak; none of them repeats the value.
extension ProductionGate {
    private static let passwordCharacters = 16

    /// Nil when it will do.
    func objection(to text: String, of key: SettingKey) -> String? {
        switch key.settingClass {
        case .key: return Self.first(text) { RandomBytes.weakness(of: $0) }
        case .token(let characters, _): return Self.first(text) { SecretStrength(characters).weakness(of: $0) }
        case .given(let characters): return SecretStrength(characters, isOurs: false).weakness(of: text)
        case .digests: return Self.first(text) { Self.weakDigest($0) }
        case .server: return self.server(text)
        case .peer: return self.peer(text)
        case .address: return self.outside(text)
        case .parties:
            let parties = Self.entries(text)
            return parties.isEmpty ? "not set" : parties.lazy.compactMap { self.outside($0) }.first
        case .store: return self.store(text)
        case .sandbox: return "is for the sandbox alone"
        case .plain: return SecretStrength.isExample(text) ? "is an example" : nil
        case nil: return key.needsClass ? "is of no class" : nil
        }
    }

    /// What is wrong with the first entry that is weak, and which it is.
    private static func first(_ text: String, _ weakness: (String) -> String?) -> String? {
        let entries = Self.entries(text)
        for (index, entry) in entries.enumerated() {
            guard let reason = weakness(entry) else { continue }
            return entries.count == 1 ? reason : "number \(index + 1) \(reason)"
        }
        return nil
    }

    private static func weakDigest(_ entry: String) -> String? {
        let digest = entry.split(separator: ":").last.map(String.init) ?? ""
        return SecretStrength(64, isOurs: false).weakness(of: digest)
    }

    // MARK: Wires

    private func server(_ text: String) -> String? {
        guard let address = ServerAddress(text) else { return "cannot be read as an address" }
        if let reason = Self.weakPassword(address) { return reason }
        guard !address.isThisMachine else { return nil }
        guard address.password != nil else { return "has no password" }
        switch address.scheme {
        case "postgres", "postgresql":
            return address.parameters["sslmode"] == "verify-full" ? nil : "must have sslmode=verify-full"
        case "amqps", "rediss", "rediss+sentinel": return nil
        case "amqp", "redis", "redis+sentinel":
            let (name, tail) = (address.scheme.prefix { $0 != "+" }, address.scheme.drop { $0 != "+" })
            return "must be \(name)s\(tail)://, for it is not this machine"
        default: return "is of no known scheme"
        }
    }

    private func peer(_ text: String) -> String? {
        guard let address = ServerAddress(text) else { return "cannot be read as an address" }
        if let reason = Self.weakPassword(address) { return reason }
        if self.forbidsSandboxes, address.namesSandbox { return "names a sandbox" }
        return address.scheme == "https" || address.isOurNetwork ? nil : "must be https:// outside our own network"
    }

    private func outside(_ text: String) -> String? {
        guard let address = ServerAddress(text) else { return "cannot be read as an address" }
        guard address.scheme == "https" else { return "must be https://" }
        if address.isInvented { return "names nobody who is there" }
        return self.forbidsSandboxes && address.namesSandbox ? "names a sandbox" : nil
    }

    private func store(_ text: String) -> String? {
        guard !text.lowercased().hasPrefix("file://") else { return nil }
        let endpoint = ServerAddress(text)?.parameters["endpoint"]
        return endpoint.flatMap { self.peer($0) }
    }

    private var forbidsSandboxes: Bool { self.profile == .production }

    private static func weakPassword(_ address: ServerAddress) -> String? {
        guard let password = address.password else { return nil }
        return SecretStrength(Self.passwordCharacters).weakness(of: password).map { "has a password that \($0)" }
    }
}
