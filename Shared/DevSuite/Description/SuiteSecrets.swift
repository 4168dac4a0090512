import Cryptography
import Foundation
import Primitives

/// What the parts of a suite keep secret, made once.
public struct SuiteSecrets: Sendable {
    /// A secret, by the name of the file in which a folder keeps it.
    public enum Name: String, Sendable, CaseIterable {
        /// Opens the internal ports.
        case internalToken = "internal-token"
        /// Opens metrics.
        case metricsToken = "metrics-token"
        /// Opens people's data keys.
        case dataKeysToken = "data-keys-token"
        /// Opens what is held about people.
        case exportsToken = "exports-token"
        /// The passwords of the broker's users are made of it.
        case brokerSeed = "broker-seed"
        /// Wraps the users' data keys.
        case masterKey = "master-key"
        /// Signs approval tokens.
        case approvalSigningKey = "approval-signing-key"
        /// Goes into every hash of a PIN.
        case pinPepper = "pin-pepper"
        /// Finds what is sealed.
        case blindIndexKey = "blind-index-key"
        /// Signs Clerk's webhooks.
        case clerkWebhookSecret = "clerk-webhook-secret"
        /// Signs pushes.
        case pushKey = "apns-key"
        /// Lets us in at the provider.
        case anchorAPIKey = "anchor-api-key"
        /// Signs the provider's webhooks.
        case anchorWebhookToken = "anchor-webhook-token"
        /// Signs an operator in.
        case operatorAda = "operator-ada"
        /// Signs the second operator in: some decisions need two.
        case operatorBola = "operator-bola"

        /// Random bytes as this secret wants them: a token that needs no quoting anywhere, or a key in base64.
        public func make() -> String {
            switch self {
            case .internalToken, .metricsToken, .dataKeysToken, .exportsToken, .brokerSeed, .anchorAPIKey,
                .operatorAda, .operatorBola:
                return Self.token()
            case .anchorWebhookToken:
                return Self.webhookToken()
            case .masterKey, .approvalSigningKey, .pinPepper, .blindIndexKey, .clerkWebhookSecret, .pushKey:
                return Data(Self.random(32)).base64EncodedString()
            }
        }

        /// 16 random bytes as hexadecimal text.
        static func token() -> String { Hex.encode(Self.random(16)) }

        /// The provider takes ten characters at most, so each is one of 62.
        private static func webhookToken() -> String {
            let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
            var source = SystemRandomNumberGenerator()
            return String((0..<10).map { _ in alphabet[Int.random(in: alphabet.indices, using: &source)] })
        }

        private static func random(_ count: Int) -> [UInt8] {
            var source = SystemRandomNumberGenerator()
            return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &source) }
        }
    }

    private let values: [Name: String]

    /// The secrets that `give` knows.
    public init(_ give: (Name) throws -> String) rethrows {
        var values: [Name: String] = [:]
        for name in Name.allCases { values[name] = try give(name) }
        self.values = values
    }

    /// New ones.
    public static func made() -> SuiteSecrets { SuiteSecrets { $0.make() } }

    /// A secret as it is kept.
    public subscript(_ name: Name) -> String { self.values[name] ?? "" }

    /// The provider takes ten characters at most; folders of before keep more.
    public var webhookToken: String { String(self[.anchorWebhookToken].prefix(10)) }

    /// The password of a user of the broker.
    public func brokerPassword(of user: String) -> String {
        Hex.encode(Array(SHA256.hash(data: Array("\(self[.brokerSeed]):\(user)".utf8))))
    }

    /// As Clerk writes it.
    public var clerkWebhookSecret: String { "whsec_\(self[.clerkWebhookSecret])" }

    /// The tokens with which operators sign in to the page, by name.
    public var operatorTokens: [String: String] { ["ada": self[.operatorAda], "bola": self[.operatorBola]] }
}
