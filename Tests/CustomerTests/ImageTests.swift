import Contracts
import Foundation
import ImageFiles
import Messaging
import ObjectStorage
import Postgres
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import CustomerService

@Suite("Images", .serialized)
struct ImageTests {
    /// A picture of one pixel.
    private static let png =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

    /// Customer with a folder for images.
    private struct Gallery {
        let world: CustomerWorld
        let store: FolderStore
        let desk: ImageDesk

        var change: ChangeImage { ChangeImage(users: self.world.users, images: self.world.images) }

        /// The steps of an upload; without the last one when it breaks off.
        func upload(breaksOff: Bool = false) async throws -> ImageRecord {
            let picture = try CleanImage(cleaning: Array(try #require(Data(base64Encoded: ImageTests.png))))
            let record = ImageRecord(key: .random(), owner: self.world.ada, contentType: picture.kind.contentType)
            try await self.world.asAda { try await self.change.announce(record, in: $0) }
            try await self.desk.keep(picture, as: record)
            if !breaksOff { try await self.show(record.key) }
            return record
        }

        func show(_ key: ImageKey?) async throws {
            try await self.world.asAda { try await self.change.show(key, of: self.world.ada, in: $0) }
        }

        func discard(_ record: ImageRecord, isReplaced: Bool = false) async throws -> JobOutcome {
            let job = DiscardImage(
                database: self.world.work,
                users: self.world.users,
                images: self.world.images,
                desk: self.desk
            )
            let key = isReplaced ? DiscardImage.replacedKey(record.key) : record.key.text
            return try await self.world.run(CustomerJob.discardImage, key) { try await job($0) }
        }

        func isKept(_ record: ImageRecord) async throws -> Bool {
            let isKnown = try await self.world.images.find(record.key, on: self.world.work) != nil
            let bytes = try await self.store.get(try record.place(in: "customer"), limit: 1000)
            #expect(isKnown == (bytes != nil))
            return isKnown
        }
    }

    private func withGallery(_ body: (Gallery) async throws -> Void) async throws {
        let folder = "\(Scratch.directory)/images-\(Scratch.shortName())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try FolderStore(path: folder)
        try await withCustomer { world in
            try await world.adaSignsUp()
            try await body(
                Gallery(world: world, store: store, desk: ImageDesk(store: store, service: "customer"))
            )
        }
    }

    @Test("the image that is replaced is deleted by its job, and the one that is shown is left alone")
    func replaced() async throws {
        try await self.withGallery { gallery in
            let first = try await gallery.upload()
            #expect(try await gallery.discard(first) == .done)
            #expect(try await gallery.isKept(first))
            let second = try await gallery.upload()
            #expect(try await gallery.world.profiles.find(try #require(Username("ada")))?.image == second.key)
            #expect(try await gallery.discard(first, isReplaced: true) == .done)
            #expect(try await !gallery.isKept(first))
            #expect(try await gallery.isKept(second))
            try await gallery.show(nil)
            #expect(try await gallery.discard(second, isReplaced: true) == .done)
            #expect(try await !gallery.isKept(second))
            #expect(try await gallery.world.profiles.find(try #require(Username("ada")))?.image == nil)
        }
    }

    @Test("an upload that broke off is cleared up, once it can no longer come to an end")
    func brokeOff() async throws {
        try await self.withGallery { gallery in
            let record = try await gallery.upload(breaksOff: true)
            guard case .again = try await gallery.discard(record) else { throw TestFailure("it did not wait") }
            #expect(try await gallery.isKept(record))
            gallery.world.clock.advance(by: .seconds(1000))
            #expect(try await gallery.discard(record) == .done)
            #expect(try await !gallery.isKept(record))
        }
    }

    @Test("an erased person's image is deleted, and no other is taken from them")
    func erased() async throws {
        try await self.withGallery { gallery in
            let record = try await gallery.upload()
            try await gallery.world.hear(UserErased(userID: gallery.world.ada.uuid), sequence: 2)
            #expect(try await gallery.discard(record) == .done)
            #expect(try await !gallery.isKept(record))
            await #expect(throws: CustomerError.notOnboarded) { _ = try await gallery.upload() }
        }
    }

    @Test("nobody's request writes an image in somebody else's name")
    func foreign() async throws {
        try await self.withGallery { gallery in
            let bola = try await gallery.world.joins("bola")
            let record = ImageRecord(key: .random(), owner: bola, contentType: "image/png")
            await #expect(throws: PostgresError.self) {
                try await gallery.world.asAda { try await gallery.world.images.insert(record, in: $0) }
            }
            let place = try record.place(in: "customer")
            #expect(place.segments == ["customer", "users", bola.description, record.key.text])
        }
    }

    @Test("names of images are random, have 256 bits and are read strictly")
    func names() {
        let keys = (0..<100).map { _ in ImageKey.random() }
        #expect(Set(keys).count == 100 && keys.allSatisfy { $0.text.utf8.count == 43 })
        #expect(keys.allSatisfy { ImageKey(reading: $0.text) == $0 })
        for text in ["", "a", String(repeating: "a", count: 42), String(repeating: "a", count: 43) + "=", "../../x"] {
            #expect(ImageKey(reading: text) == nil)
        }
    }
}
