import Cryptography
import Foundation
import Primitives
import Synchronization

/// The API keys that the stand-in provider takes, and how often each was sent.
final class ProviderKeys: Sendable {
    private struct Counts: Sendable {
        var keys: [String]
        var calls: [String: Int64] = [:]
        var refused: Int64 = 0
    }

    private static let maximum = 5
    private let counts: Mutex<Counts>

    init(_ keys: [String]) { self.counts = Mutex(Counts(keys: keys)) }

    /// Whether a call with this key is taken; counts it.
    func takes(_ key: String?) -> Bool {
        self.counts.withLock { counts in
            guard let key, counts.keys.contains(key) else {
                counts.refused += 1
                return false
            }
            counts.calls[key, default: 0] += 1
            return true
        }
    }

    /// Takes these keys from now on, and begins to count anew.
    func replace(with keys: [String]) throws(Refusal) {
        guard (1...Self.maximum).contains(keys.count), !keys.contains("") else {
            throw .badRequest("keys must be 1 to \(Self.maximum) texts")
        }
        self.counts.withLock { $0 = Counts(keys: keys) }
    }

    /// Calls of each key in their order, and calls with none of them; the keys themselves are not shown.
    var json: JSON {
        self.counts.withLock { counts in
            let calls = counts.keys.map { key in
                JSON.object(["sha256": .string(Self.digest(key)), "calls": .integer(counts.calls[key] ?? 0)])
            }
            return ["keys": .array(calls), "refused": .integer(counts.refused)]
        }
    }

    private static func digest(_ key: String) -> String { Hex.encode(Array(SHA256.hash(data: Array(key.utf8)))) }
}
