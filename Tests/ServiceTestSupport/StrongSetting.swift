import Cryptography
import Foundation
import Primitives
import ServiceKit

/// Makes values of settings that production takes, the same in every run and another one for each setting.
enum StrongSetting {
    static func value(of setting: SettingKey) -> String {
        guard let settingClass = setting.settingClass else { return Self.value(of: setting.kind) }
        let name = setting.name
        switch settingClass {
        case .key: return Self.key(name)
        case .token(let characters, _): return Self.text(name, characters)
        case .given: return Self.text(name, 40)
        case .digests: return "ada:\(Hex.encode(Self.bytes(name)))"
        case .server: return Self.server(setting)
        case .peer:
            let password = setting.isSecret ? "policies:\(Self.text(name, 24))@" : ""
            return "http://\(password)inside:9080"
        case .address: return "https://\(name.lowercased().replacing("_", with: "-")).transfa.app"
        case .parties: return "https://app.transfa.app"
        case .store: return "s3://pictures?region=eu-west-1"
        case .sandbox: return ""
        case .plain: return "2"
        }
    }

    private static func value(of kind: SettingKey.Kind) -> String {
        switch kind {
        case .integer(let range): "\(range.lowerBound)"
        case .flag: "false"
        case .word(let words): words.first ?? ""
        case .rate: "10/60"
        case .text, .url, .list: "2"
        }
    }

    private static func server(_ setting: SettingKey) -> String {
        guard case .url(let schemes) = setting.kind else { return "" }
        let who = "\(setting.name.lowercased()):\(Self.text(setting.name, 24))@server.internal"
        return switch schemes.first ?? "" {
        case "amqp": "amqps://\(who):5671/transfa"
        case "redis": "rediss://\(who):6379/0"
        default: "postgres://\(who):5432/transfa?sslmode=verify-full"
        }
    }

    /// 32 bytes in base64, as each of the keys wants them.
    private static func key(_ name: String) -> String {
        let prefix = ["CLERK_WEBHOOK_SECRET": "whsec_", "MASTER_KEYS": "2026:"][name] ?? ""
        return prefix + Data(Self.bytes(name)).base64EncodedString()
    }

    /// Letters and digits.
    static func text(_ name: String, _ characters: Int) -> String {
        let digits = Data(Self.bytes(name) + Self.bytes("\(name) again")).base64EncodedString()
        return String(digits.filter { $0.isLetter || $0.isNumber }.prefix(characters))
    }

    private static func bytes(_ name: String) -> [UInt8] { Array(SHA256.hash(data: Array("strong \(name)".utf8))) }
}
