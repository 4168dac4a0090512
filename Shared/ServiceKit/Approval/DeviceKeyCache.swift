import EventLoops
import Foundation
import Primitives
import Sealing

/// Device keys that were found, for a few seconds: long enough for a burst, short enough for a revocation.
final class DeviceKeyCache: Sendable {
    private struct ID: Hashable {
        let device: UUID
        let user: UserID
    }

    private struct Entry: Sendable {
        let key: DevicePublicKey
        let until: ContinuousClock.Instant
    }

    private static let lifetime = Duration.seconds(5)
    private static let capacity = 4096

    private let entries = Locked<[ID: Entry]>([:])
    private let lookup: ApprovalVerifier.DeviceKeys

    init(lookup: @escaping ApprovalVerifier.DeviceKeys) {
        self.lookup = lookup
    }

    func key(_ device: UUID, of user: UserID) async throws -> DevicePublicKey? {
        let id = ID(device: device, user: user)
        if let entry = self.entries.withLock({ $0[id] }), entry.until > .now {
            return entry.key
        }
        guard let key = try await self.lookup(device, user) else { return nil }
        let entry = Entry(key: key, until: .now.advanced(by: Self.lifetime))
        self.entries.withLock { entries in
            if entries.count >= Self.capacity {
                entries.removeAll(keepingCapacity: true)
            }
            entries[id] = entry
        }
        return key
    }
}
