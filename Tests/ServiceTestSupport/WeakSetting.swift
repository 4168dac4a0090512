import Foundation
import ServiceKit

/// Values of settings that production refuses, by what the setting is.
enum WeakSetting {
    static func values(of setting: SettingKey) -> [String] {
        switch setting.settingClass {
        case .key:
            let zeros = [UInt8](repeating: 0, count: 32)
            let weak: [[UInt8]] = [
                zeros, zeros.dropLast() + [1], Array(0...31), Array("a text of thirty-two characters!".utf8),
            ]
            return weak.map { Data($0).base64EncodedString() } + ["whsec_\(Data(zeros).base64EncodedString())"]
        case .token(let characters, _): return Self.tokens(of: setting, characters)
        case .given(let characters): return characters > 1 ? ["change-me", "changeme12345678", "abc"] : ["a=change-me"]
        case .digests: return ["ada:\(String(repeating: "0", count: 64))", "ada:\(String(repeating: "ab", count: 32))"]
        case .server: return Self.servers(setting)
        case .peer:
            return [
                "http://inside.transfa.app:9080", "http://8.8.8.8:9080", "http://sandbox:8080",
                "http://policies:password@inside:15672",
            ]
        case .address:
            return [
                "http://api.transfa.app", "https://localhost", "https://127.0.0.1", "https://inside",
                "https://api.sandbox.transfa.app", "https://some.clerk.accounts.dev", "https://api.example.com",
                "https://api.transfa.test",
            ]
        case .parties: return ["http://app.transfa.app", "https://app.example.com", "https://app.transfa.app,app"]
        case .store: return ["s3://pictures?endpoint=http://pictures.transfa.app"]
        case .sandbox: return ["https://sandbox.transfa.app"]
        case .plain: return ["change-me"]
        case nil: return []
        }
    }

    private static func tokens(of setting: SettingKey, _ characters: Int) -> [String] {
        func filled(_ text: String) -> String {
            String(String(repeating: text, count: characters).prefix(max(characters, text.count)))
        }
        return [
            filled("a"), filled("0"), filled("change-me-to-random"), filled("0123456789"), filled("abcdefghijkl"),
            filled("xK4"), "password" + StrongSetting.text(setting.name, 40), filled("9f86d08184"),
            String(StrongSetting.text(setting.name, characters).dropLast()),
        ]
    }

    /// Without TLS, with less TLS, without a password, with one that can be guessed.
    private static func servers(_ setting: SettingKey) -> [String] {
        let strong = StrongSetting.value(of: setting)
        let password = StrongSetting.text(setting.name, 24)
        let plain =
            strong.hasPrefix("postgres")
            ? ["", "?sslmode=disable", "?sslmode=prefer", "?sslmode=require", "?sslmode=verify-ca"]
                .map { strong.replacing("?sslmode=verify-full", with: $0) }
            : [strong.replacing("s://", with: "://")]
        let sentinels =
            strong.hasPrefix("rediss")
            ? [strong.replacing("rediss://", with: "redis+sentinel://"), "redis://10.1.2.3:6379/0"] : []
        return plain + sentinels
            + ["", ":", ":guest", ":password", ":aaaaaaaaaaaaaaaa"].map {
                strong.replacing(":\(password)@", with: "\($0)@")
            }
    }
}
