import Foundation
import ObjectStorage
import OutgoingHTTP
import TestSupport
import Testing

/// What every store promises, on each of them.
@Suite("Stores")
struct StoreTests {
    /// The stores there are.
    enum Kind: String, CaseIterable, Sendable {
        case folder
        case bucket
    }

    private func withStore(_ kind: Kind, _ body: (any ObjectStore) async throws -> Void) async throws {
        switch kind {
        case .folder: try await withFolder { try await body(try FolderStore(path: $0)) }
        case .bucket: try await withBucket { try await body($0.store()) }
        }
    }

    private func key(_ segments: String...) throws -> ObjectKey { try #require(ObjectKey(segments)) }

    @Test(
        "what was put is read again, byte by byte, replaced as a whole, and gone once it is deleted",
        arguments: Kind.allCases
    )
    func life(kind: Kind) async throws {
        try await self.withStore(kind) { store in
            let key = try self.key("customer", "users", "01932f5e-0000-7000-8000-000000000001", "a_B-9")
            #expect(try await store.get(key, limit: 10) == nil)
            try await store.delete(key)
            let first = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try await store.put(first, contentType: "image/png", at: key)
            #expect(try await store.get(key, limit: 1 << 20) == first)
            for bytes in [[1, 2, 3], []] as [[UInt8]] {
                try await store.put(bytes, contentType: "image/webp", at: key)
                #expect(try await store.get(key, limit: 10) == bytes)
            }
            for _ in 0..<2 { try await store.delete(key) }
            #expect(try await store.get(key, limit: 10) == nil)
        }
    }

    @Test("keys do not meet, and an object is not a folder of others", arguments: Kind.allCases)
    func apart(kind: Kind) async throws {
        try await self.withStore(kind) { store in
            let (one, other) = (try self.key("a", "b", "c"), try self.key("a", "b", "C"))
            try await store.put([1], contentType: "image/png", at: one)
            try await store.put([2], contentType: "image/png", at: other)
            #expect(try await store.get(one, limit: 1) == [1])
            try await store.delete(other)
            #expect(try await store.get(one, limit: 1) == [1])
            #expect(try await store.get(try self.key("a", "b", "c", "d"), limit: 1) == nil)
        }
    }

    @Test("an object of more than the bound is an error, one of just the bound is not", arguments: Kind.allCases)
    func bound(kind: Kind) async throws {
        try await self.withStore(kind) { store in
            let key = try self.key("long")
            try await store.put(Array(repeating: 7, count: 1000), contentType: "image/png", at: key)
            await #expect(throws: ObjectStorageError.tooLong) { try await store.get(key, limit: 999) }
            #expect(try await store.get(key, limit: 1000)?.count == 1000)
        }
    }

    @Test("of many who put at once one wins, and what is read is whole", arguments: Kind.allCases)
    func together(kind: Kind) async throws {
        try await self.withStore(kind) { store in
            let key = try self.key("shared")
            let length = 50_000
            try await store.put(Array(repeating: 0, count: length), contentType: "image/png", at: key)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for value in UInt8(1)...8 {
                    group.addTask {
                        try await store.put(Array(repeating: value, count: length), contentType: "image/png", at: key)
                    }
                    group.addTask {
                        let read = try #require(try await store.get(key, limit: length))
                        #expect(read.count == length && Set(read).count == 1)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("a key is made of plain segments only")
    func keys() {
        let bad = [
            [], [""], [".."], ["a", ".."], ["a/b"], ["a", "", "b"], ["a b"], ["é"], ["a\u{0}"], [".a"], ["a%2e"],
            [String(repeating: "a", count: 65)], Array(repeating: "a", count: 7),
        ]
        for segments in bad { #expect(ObjectKey(segments) == nil, "\(segments)") }
        #expect(ObjectKey(["a", "B_9-"])?.text == "a/B_9-")
    }
}

@Suite("Folders")
struct FolderStoreTests {
    @Test("a file appears whole: nothing is left aside, and only its owner may read it")
    func files() async throws {
        try await withFolder { folder in
            let store = try FolderStore(path: folder)
            let key = try #require(ObjectKey(["a", "b"]))
            try await store.put([1, 2], contentType: "image/png", at: key)
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/a") == ["b"])
            let rights = try FileManager.default.attributesOfItem(atPath: "\(folder)/a/b")[.posixPermissions] as? Int
            #expect(rights == 0o600)
        }
    }

    @Test("a link is not followed out of the folder")
    func links() async throws {
        try await withFolder { folder in
            let store = try FolderStore(path: folder)
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/a", withDestinationPath: "/etc/hostname")
            let key = try #require(ObjectKey(["a"]))
            await #expect(throws: ObjectStorageError.file(ELOOP)) { try await store.get(key, limit: 1000) }
        }
    }

    @Test("a place that can be no folder is refused at the start")
    func noFolder() throws {
        #expect(throws: ObjectStorageError.file(ENOTDIR)) { try FolderStore(path: "/dev/null/images") }
    }
}
