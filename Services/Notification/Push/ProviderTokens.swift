import Cryptography
import EventLoops
import Foundation
import Primitives

/// The token that proves to Apple who we are (ES256).
///
/// Apple refuses one that is older than an hour, and a new one more often than every 20 minutes.
final class ProviderTokens: Sendable {
    private struct Header: Encodable {
        let alg = "ES256"
        let kid: String
    }

    private struct Claims: Encodable {
        let iss: String
        let iat: Int64
    }

    private struct Token: Sendable {
        let text: String
        let since: Date
    }

    /// When a token is made anew.
    static let lifetime: TimeInterval = 40 * 60
    /// A token that Apple calls expired is not made anew before.
    static let shortestLifetime: TimeInterval = 20 * 60

    private let configuration: APNsConfiguration
    private let time: any TimeSource
    private let token = Locked<Token?>(nil)
    /// When a token was made anew because Apple asked for it.
    private let renewed = Locked<Date?>(nil)

    init(_ configuration: APNsConfiguration, time: any TimeSource) {
        self.configuration = configuration
        self.time = time
    }

    /// The token in use.
    func current() throws -> String {
        let now = self.time.now
        return try self.token.withLock { token in
            if let token, now.timeIntervalSince(token.since) < Self.lifetime, now >= token.since { return token.text }
            let made = try self.make(at: now)
            token = made
            return made.text
        }
    }

    /// A token in place of one that Apple calls expired, made at most every 20 minutes; nil when it is too soon.
    ///
    /// Whoever comes second gets the one that the first made.
    func renew(_ expired: String) throws -> String? {
        let now = self.time.now
        return try self.token.withLock { token in
            if let token, token.text != expired { return token.text }
            let isTooSoon = self.renewed.withLock { renewed in
                if let renewed, abs(now.timeIntervalSince(renewed)) < Self.shortestLifetime { return true }
                renewed = now
                return false
            }
            if isTooSoon { return nil }
            let made = try self.make(at: now)
            token = made
            return made.text
        }
    }

    private func make(at now: Date) throws -> Token {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let header = Base64URL.encode(try encoder.encode(Header(kid: self.configuration.keyID)))
        let claims = Claims(iss: self.configuration.teamID, iat: Int64(now.timeIntervalSince1970))
        let signed = "\(header).\(Base64URL.encode(try encoder.encode(claims)))"
        let signature = try self.configuration.key.signature(for: Array(signed.utf8))
        return Token(text: "\(signed).\(Base64URL.encode(signature.rawRepresentation))", since: now)
    }
}
