import EventLoops
import Foundation
import ObjectStorage
import Primitives
import TestSupport
import Testing

@testable import ServiceKit

@Suite("Uploads", .timeLimit(.minutes(1)))
struct ImageDeskTests {
    private static let png =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

    private struct Unused: ObjectStore {
        func put(_ bytes: [UInt8], contentType: String, at key: ObjectKey) async throws(ObjectStorageError) {}
        func get(_ key: ObjectKey, limit: Int) async throws(ObjectStorageError) -> [UInt8]? { nil }
        func delete(_ key: ObjectKey) async throws(ObjectStorageError) {}
    }

    private func until(_ isSo: () -> Bool) async {
        while !isSo() { await Task.yield() }
    }

    @Test("stalled uploads of four people keep out nobody else, and each of them has two on their way")
    func stalled() async throws {
        let desk = ImageDesk(store: Unused(), service: "customer")
        let begun = Locked(0)
        let bytes = Array(try #require(Data(base64Encoded: Self.png)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for person in 0..<4 {
                for _ in 0..<2 {
                    group.addTask {
                        _ = try await desk.receive(for: "person \(person)") {
                            begun.withLock { $0 += 1 }
                            try await Task.sleep(for: .seconds(600))
                            return []
                        }
                    }
                }
            }
            await self.until { begun.withLock { $0 } == 2 * 4 }
            // All places were taken once; now somebody else is received, and what is here is cleaned.
            #expect(try await desk.receive(for: "ada") { bytes } == bytes)
            _ = try await desk.picture(of: bytes, for: UserID(UUID()))
            // A third of one person waits without being read; with its four waiting, the next one is refused.
            for _ in 0..<4 {
                group.addTask {
                    _ = try await desk.receive(for: "person 0") {
                        begun.withLock { $0 += 1 }
                        return []
                    }
                }
            }
            await self.until { desk.waiting == 4 }
            let problem = await #expect(throws: APIError.self) { try await desk.receive(for: "person 0") { bytes } }
            #expect(problem?.status == .serviceUnavailable)
            #expect(begun.withLock { $0 } == 2 * 4)
            group.cancelAll()
            while let end = await group.nextResult() {
                #expect(throws: CancellationError.self) { try end.get() }
            }
        }
    }
}
