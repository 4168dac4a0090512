import Contracts
import Foundation
import Primitives
import Sealing
import TestSupport

extension RunningSuite {
    /// Sends an order to a path in a person's name, approved by their phone, under a key of its own.
    func order(
        _ path: String,
        as person: Person,
        _ body: some Encodable,
        key: String = "system-\(UUID().lowercased)",
        of service: ServiceName = .transaction
    ) async throws -> Reply {
        let bytes = try Self.json(body)
        let approval = try PaymentOrder.approve(bytes, by: person, path: path)
        let headers = ["Idempotency-Key": key, ApprovalHeader.name: approval]
        return try await self.call("POST", service, path, as: person.subject, headers: headers, body: bytes)
    }

    /// A change that needs a key and no approval.
    func change(_ path: String, as person: Person, _ body: [UInt8] = []) async throws -> Reply {
        let headers = ["Idempotency-Key": "system-\(UUID().lowercased)"]
        return try await self.call("POST", .transaction, path, as: person.subject, headers: headers, body: body)
    }

    func read<Value: Decodable>(_ path: String, as person: Person, _ type: Value.Type) async throws -> Value {
        try await self.call("GET", .transaction, path, as: person.subject).decode(type)
    }
}
