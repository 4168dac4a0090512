import AnchorClient
import Foundation
import NIOHTTP1
import OutgoingHTTP
import Primitives
import Testing

@testable import SandboxService

@Suite("AnchorClient says what may have happened", .timeLimit(.minutes(2)))
struct AnchorClientFaultTests {
    /// A sandbox with a funded account, and an order from it.
    private func withOrder(
        _ body: @Sendable @escaping (SandboxHandle, TransferOrder) async throws -> Void
    ) async throws {
        try await withSandbox { sandbox in
            let account = try await sandbox.personWithAccount(kobo: 500_000)
            let bank = try await sandbox.counterparty()
            let order = Samples.order("fault-1", kobo: 1000, from: account.id, to: .counterparty(id: bank))
            try await body(sandbox, order)
        }
    }

    private static func failing(
        _ sandbox: SandboxHandle,
        _ order: TransferOrder,
        deadline: Duration? = nil
    ) async -> AnchorError? {
        do throws(AnchorError) {
            _ = try await sandbox.client.createTransfer(order, deadline: deadline)
            return nil
        } catch {
            return error
        }
    }

    @Test("a connection lost after the transfer was taken may have been sent, and is found by reference")
    func dropAfter() async throws {
        try await self.withOrder { sandbox, order in
            let rule: JSON = ["fault": "drop-after", "method": "POST", "path": "/api/v1/transfers"]
            try await sandbox.control(.post, "faults", rule)
            let error = await Self.failing(sandbox, order)
            #expect(error == .connectionLost(sent: true))
            #expect(error?.mayHaveBeenSent == true)
            #expect(try await sandbox.client.transfer(reference: "fault-1") != nil)
            // The same order again, with its key, is the same transfer.
            _ = try await sandbox.client.createTransfer(order)
            #expect(try await sandbox.control(.get, "references/fault-1")["accepted"] == 1)
        }
    }

    @Test("a deadline passed while the provider works may have been sent, and is found by reference")
    func timeout() async throws {
        try await self.withOrder { sandbox, order in
            try await sandbox.control(.post, "faults", ["fault": "delay=600", "body_contains": "fault-1"])
            let error = await Self.failing(sandbox, order, deadline: .milliseconds(150))
            #expect(error == .timedOut(sent: true))
            _ = try await sandbox.settled("fault-1")
        }
    }

    @Test("a transfer that is absent at first can still be taken later")
    func lateCommit() async throws {
        try await self.withOrder { sandbox, order in
            try await sandbox.control(.post, "faults", ["fault": "late-commit=2000", "body_contains": "fault-1"])
            let error = await Self.failing(sandbox, order)
            #expect(error?.mayHaveBeenSent == true)
            #expect(try await sandbox.client.transfer(reference: "fault-1") == nil)
            _ = try await sandbox.settled("fault-1")
            #expect(try await sandbox.control(.get, "references/fault-1")["accepted"] == 1)
        }
    }

    @Test("a request that was not handled leaves nothing")
    func dropBefore() async throws {
        try await self.withOrder { sandbox, order in
            try await sandbox.control(.post, "faults", ["fault": "drop-before", "body_contains": "fault-1"])
            #expect(await Self.failing(sandbox, order) == .connectionLost(sent: true))
            #expect(try await sandbox.client.transfer(reference: "fault-1") == nil)
            #expect(try await sandbox.client.createTransfer(order).status == .pending)
        }
    }

    @Test("a 5xx may have been sent, a 429 was not")
    func statuses() async throws {
        try await self.withOrder { sandbox, order in
            try await sandbox.control(.post, "faults", ["fault": "status-after=503", "body_contains": "fault-1"])
            let unavailable = await Self.failing(sandbox, order)
            #expect(unavailable == .unavailable(status: 503))
            #expect(unavailable?.mayHaveBeenSent == true)
            #expect(try await sandbox.client.transfer(reference: "fault-1") != nil)
            try await sandbox.control(.post, "faults", ["fault": "status=429", "body_contains": "fault-1"])
            let limited = await Self.failing(sandbox, order)
            #expect(limited == .rateLimited(retryAfter: nil))
            #expect(limited?.mayHaveBeenSent == false)
        }
    }

    @Test("a request can ask for its own fault in its metadata")
    func faultByMetadata() async throws {
        try await self.withOrder { sandbox, order in
            var order = order
            order.metadata = ["sandbox_fault": "status=500"]
            let wrong = order
            #expect(await Self.failing(sandbox, wrong) == .unavailable(status: 500))
            order.metadata = ["sandbox_outcome": "failed"]
            _ = try await sandbox.client.createTransfer(order)
            #expect(try await sandbox.settled("fault-1").status == .failed(reason: "DO_NOT_HONOR"))
        }
    }

    @Test(
        "a refusal proves that an order was not taken by its status and code, whatever else it says",
        arguments: [
            ("409:Transfer already exists", nil), ("409:Idempotency key already used", nil),
            ("400:Transfer already processed", nil), ("422:Duplicate transaction", nil), ("425:Too early", nil),
            ("400:An identical request is in progress", nil), ("418:No", nil), ("429:Slow down", nil),
            ("403:Forbidden", nil), ("500:Insufficient balance", nil), ("422:No", .likely), ("404:No", .likely),
            ("400:Insufficient balance", .certain), ("422:Insufficient balance", .certain), ("400:No", .certain),
        ] as [(String, AnchorRefusalProof?)]
    )
    func refusalsInAnyWords(_ words: String, _ proof: AnchorRefusalProof?) async throws {
        try await self.withOrder { sandbox, order in
            let rule: JSON = ["fault": .string("status-after=\(words)"), "path": "/api/v1/transfers"]
            try await sandbox.control(.post, "faults", rule)
            let error = await Self.failing(sandbox, order)
            #expect(error != nil && error?.refusalProof == proof)
            // Taken all the same: only asking shows it.
            #expect(try await sandbox.client.transfer(reference: "fault-1") != nil)
        }
    }

    @Test("nothing was sent when nobody listens")
    func refusedConnection() async throws {
        try await withSandbox { sandbox in
            let client = AnchorClient(baseURL: "http://127.0.0.1:1", apiKey: "k", http: sandbox.http)
            do throws(AnchorError) {
                _ = try await client.banks()
                Issue.record("nobody should answer")
            } catch {
                #expect(error == .connectionLost(sent: false))
                #expect(!error.mayHaveBeenSent)
            }
        }
    }

    @Test("the circuit opens after failures in a row and closes again by a probe")
    func circuit() async throws {
        try await withSandbox { sandbox in
            let clock = AdjustableClock()
            let circuit = AnchorCircuit(.init(failures: 2, openFor: .seconds(60)), time: clock)
            let client = sandbox.client(circuit: circuit)
            try await sandbox.control(.post, "faults", ["fault": "status=503", "count": 2])
            for _ in 0..<2 {
                await #expect(throws: AnchorError.unavailable(status: 503)) { try await client.banks() }
            }
            await #expect(throws: AnchorError.circuitOpen) { try await client.banks() }
            clock.advance(by: .seconds(61))
            #expect(try await !client.banks().isEmpty)
            #expect(circuit.state == .closed(failures: 0))
        }
    }
}
