import AnchorClient
import Foundation
import Primitives

/// The names of banks by NIP code, asked for at most once an hour.
actor BankDirectory {
    private static let lifetime: TimeInterval = 3600

    private let provider: any CustomerProvider
    private let clock: any TimeSource
    private var names: [String: String] = [:]
    private var freshUntil = Date.distantPast

    init(provider: any CustomerProvider, clock: any TimeSource) {
        self.provider = provider
        self.clock = clock
    }

    /// The name of a bank; nil when NIP does not reach one with that code.
    func name(of code: String) async throws(AnchorError) -> String? {
        if self.clock.now >= self.freshUntil {
            let banks = try await self.provider.banks(deadline: nil)
            self.names = Dictionary(banks.map { (BankListing.sixDigits($0.nipCode), $0.name) }) { first, _ in first }
            self.freshUntil = self.clock.now.addingTimeInterval(Self.lifetime)
        }
        return self.names[code]
    }
}
