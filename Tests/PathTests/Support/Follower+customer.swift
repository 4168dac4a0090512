import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport

@testable import CustomerService

/// Customer, as far as it follows the ledger.
struct CustomerFollower: Follower {
    let service: ServiceDatabase

    var handlers: EventHandlers { Self.handlers }
    static var handlers: EventHandlers {
        CustomerHandlers.make(
            users: CustomerUserStore(),
            images: ImageStore(),
            transfers: TransferStore(),
            documents: DocumentStore(),
            exports: ExportStore()
        )
    }

    static func with(_ body: (CustomerFollower) async throws -> Void) async throws {
        try await withServiceDatabase(.customer, schema: try CustomerSchema.sets(), handlers: Self.handlers) {
            try await body(CustomerFollower(service: $0))
        }
    }

    /// What a profile shows the reader of payments between two people.
    func states(between reader: UserID, and other: UserID) async throws -> [String] {
        let newest = UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255))
        return try await TransferStore().page(
            between: reader,
            and: other,
            before: newest,
            limit: 100,
            on: self.requests
        ).map { $0.shownState(to: reader) }
    }
}
