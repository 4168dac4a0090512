import AnchorClient
import Contracts
import Foundation
import ImageFiles
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import CustomerService

@Suite("Documents", .serialized)
struct DocumentTests {
    private static let png =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
    private static let pdf = Array("%PDF-1.7\ninvented\n%%EOF\n".utf8)

    // MARK: What may be handed in

    @Test("a file is what its bytes are, and a picture loses everything but the picture")
    func kinds() throws {
        let picture = Array(try #require(Data(base64Encoded: Self.png)))
        #expect(try HandedContent(checking: Self.pdf, as: .file) == HandedContent(kind: .pdf, bytes: Self.pdf))
        #expect(try HandedContent(checking: picture, as: .file).kind == .png)
        let line = try HandedContent(checking: Array("  RC 123456 \n".utf8), as: .text)
        #expect(line.form == .text("RC 123456"))
        #expect(
            HandedContent(kind: .pdf, bytes: Self.pdf).form
                == .file(Self.pdf, name: "document.pdf", contentType: "application/pdf")
        )
    }

    @Test("what is no document is refused: another kind, cut off, too long, no line of text")
    func refused() throws {
        let picture = Array(try #require(Data(base64Encoded: Self.png)))
        let bad: [(bytes: [UInt8], format: IdentityDocument.Format, problem: DocumentProblem)] = [
            ([], .file, .unsupportedType), (Array("{}".utf8), .file, .unsupportedType),
            (Array(Self.pdf.dropLast(7)), .file, .malformed),
            (Self.pdf + Array(repeating: 0, count: 2000), .file, .malformed),
            (Self.pdf + Array(repeating: 0, count: HandedContent.maximumBytes), .file, .tooManyBytes),
            ([], .text, .textInvalid), (Array(" \n ".utf8), .text, .textInvalid),
            (Array("two\nlines".utf8), .text, .textInvalid), ([0xff, 0xfe], .text, .textInvalid),
            (Array(String(repeating: "a", count: 201).utf8), .text, .textInvalid),
            (Array(("a" + String(repeating: "\u{301}", count: 200)).utf8), .text, .textInvalid),
            (picture, .text, .textInvalid),
        ]
        for (bytes, format, problem) in bad {
            #expect(throws: problem, "\(bytes.prefix(20))") { try HandedContent(checking: bytes, as: format) }
        }
        #expect(throws: ImageProblem.self) { try HandedContent(checking: Array(picture.dropLast(20)), as: .file) }
    }

    @Test(
        "a document follows what the provider lists; what it no longer has it has refused, unless it was asked before"
    )
    func following() {
        let now = Date()
        func state(
            _ before: IdentityDocument.State,
            isSubmitted: Bool,
            isVerified: Bool = false,
            handedAt: TimeInterval = -10
        ) -> IdentityDocument {
            var document = IdentityDocument(
                id: UUID(),
                user: UserID(clerkSubject: "user_ada"),
                providerID: "1-anc_doc",
                type: "OLD",
                format: .file,
                state: before,
                handedAt: now.addingTimeInterval(handedAt)
            )
            let listed = CustomerDocument(
                id: "1-anc_doc",
                type: "NEW",
                isText: true,
                isSubmitted: isSubmitted,
                isVerified: isVerified
            )
            document.follow(listed, askedAt: now)
            return document
        }
        #expect(state(.wanted, isSubmitted: false).state == .wanted)
        #expect(state(.wanted, isSubmitted: true).state == .sent)
        #expect(state(.sending, isSubmitted: false).state == .sending)
        #expect(state(.sending, isSubmitted: true).state == .sending)
        #expect(state(.sent, isSubmitted: true).state == .sent)
        let refused = state(.sent, isSubmitted: false)
        #expect(refused.state == .refused && refused.reason == .refusedByProvider)
        #expect(refused.type == "NEW" && refused.format == .text)
        #expect(state(.sent, isSubmitted: false, handedAt: 10).state == .sent)
        #expect(state(.refused, isSubmitted: true).reason == nil)
        for before in [IdentityDocument.State.wanted, .sending, .sent, .refused] {
            #expect(state(before, isSubmitted: true, isVerified: true).state == .approved)
        }
    }

    // MARK: On their way

    /// Ada's shop is a customer of whom two documents are wanted.
    private func withShop(_ body: (CustomerWorld) async throws -> Void) async throws {
        try await withCustomer { world in
            try await world.adaOpensShop()
            let user = world.ada.description
            #expect(
                try await world.run(CustomerJob.createCustomer, user) { try await world.createCustomer($0) } == .done
            )
            world.provider.setDocuments([
                CustomerDocument(id: "1-anc_doc", type: "RC_NUMBER", isText: true),
                CustomerDocument(id: "2-anc_doc", type: "PROOF_OF_ADDRESS", isText: false),
            ])
            try await self.verdict(.awaitingDocument, sequence: 1, in: world)
            try await self.lists(in: world)
            try await body(world)
        }
    }

    private func verdict(_ status: Contracts.VerificationStatus, sequence: Int64, in world: CustomerWorld) async throws
    {
        let event = CustomerRejected(userID: world.ada.uuid, anchorCustomerID: "1", status: Open(status))
        try await world.hear(event, sequence: sequence)
    }

    private func lists(in world: CustomerWorld) async throws {
        let job = world.listDocuments
        #expect(try await world.run(CustomerJob.listDocuments, world.ada.description) { try await job($0) } == .done)
    }

    private func document(_ type: String, in world: CustomerWorld) async throws -> IdentityDocument {
        let all = try await world.documents.all(of: world.ada, on: world.requests)
        return try #require(all.first { $0.type == type })
    }

    private func hands(_ bytes: [UInt8], as type: String, in world: CustomerWorld) async throws -> UUID {
        let wanted = try await self.document(type, in: world)
        let content = try HandedContent(checking: bytes, as: wanted.format)
        let handIn = HandInDocument(users: world.users, documents: world.documents)
        _ = try await world.asAda { transaction in
            try await handIn(content, as: wanted.id, of: world.ada, key: world.adaKey, in: transaction)
        }
        return wanted.id
    }

    private func delivers(_ id: UUID, in world: CustomerWorld) async throws -> JobOutcome {
        let job = world.deliverDocument
        let waiting =
            "SELECT key FROM jobs WHERE kind = 'deliver_document' AND key LIKE '\(id.lowercased)%' AND state = 'queued'"
        let key = try #require(try await world.database.psql(waiting).first)
        return try await world.run(CustomerJob.deliverDocument, key) { try await job($0) }
    }

    @Test("what is wanted is listed, handed in sealed, given to the provider as it is, and forgotten")
    func delivered() async throws {
        try await self.withShop { world in
            let all = try await world.documents.all(of: world.ada, on: world.requests)
            #expect(all.map(\.type) == ["PROOF_OF_ADDRESS", "RC_NUMBER"] && all.allSatisfy { $0.state == .wanted })
            let file = try await self.hands(Self.pdf, as: "PROOF_OF_ADDRESS", in: world)
            #expect(try await self.document("PROOF_OF_ADDRESS", in: world).state == .sending)
            let stored = "SELECT count(*) FROM documents WHERE content LIKE 's1.%' AND content NOT LIKE '%invented%'"
            #expect(try await world.database.psql(stored) == ["1"])
            await #expect(throws: CustomerError.documentHandedIn) {
                _ = try await self.hands(Self.pdf, as: "PROOF_OF_ADDRESS", in: world)
            }
            #expect(try await self.delivers(file, in: world) == .done)
            let text = try await self.hands(Array("RC123456".utf8), as: "RC_NUMBER", in: world)
            // Whether the answer arrives or not, the provider has it in the end.
            world.provider.loseNextAnswer()
            guard case .again = try await self.delivers(text, in: world) else { throw TestFailure("it did not wait") }
            #expect(try await self.delivers(text, in: world) == .done)
            let form = DocumentContent.file(Self.pdf, name: "document.pdf", contentType: "application/pdf")
            #expect(world.provider.uploads == [form, .text("RC123456"), .text("RC123456")])
            let left = "SELECT count(*) FROM documents WHERE content IS NOT NULL OR state <> 'sent'"
            #expect(try await world.database.psql(left) == ["0"])
        }
    }

    @Test(
        "what the provider refuses, at once or later, is handed in again; when it waits for nothing, nothing is taken"
    )
    func refusals() async throws {
        try await self.withShop { world in
            let file = try await self.hands(Self.pdf, as: "PROOF_OF_ADDRESS", in: world)
            world.provider.refuseNext(.refused(status: 400, title: "Bad Request", code: .other))
            #expect(try await self.delivers(file, in: world) == .done)
            #expect(try await self.document("PROOF_OF_ADDRESS", in: world).reason == .refusedByProvider)
            _ = try await self.hands(Self.pdf, as: "PROOF_OF_ADDRESS", in: world)
            #expect(try await self.delivers(file, in: world) == .done)
            #expect(try await self.document("PROOF_OF_ADDRESS", in: world).state == .sent)

            world.clock.advance(by: .seconds(60))
            world.provider.setDocuments([
                CustomerDocument(id: "2-anc_doc", type: "PROOF_OF_ADDRESS", isText: false),
                CustomerDocument(id: "1-anc_doc", type: "RC_NUMBER", isText: true, isSubmitted: true, isVerified: true),
            ])
            try await self.verdict(.awaitingDocument, sequence: 2, in: world)
            try await self.lists(in: world)
            #expect(try await self.document("PROOF_OF_ADDRESS", in: world).state == .refused)
            #expect(try await self.document("RC_NUMBER", in: world).state == .approved)
            await #expect(throws: CustomerError.documentHandedIn) {
                _ = try await self.hands(Array("RC1".utf8), as: "RC_NUMBER", in: world)
            }
            try await self.verdict(.manualReview, sequence: 3, in: world)
            await #expect(throws: CustomerError.documentsNotWanted) {
                _ = try await self.hands(Self.pdf, as: "PROOF_OF_ADDRESS", in: world)
            }
        }
    }

    @Test("nothing is kept for longer than a day, and nothing of an erased person")
    func forgotten() async throws {
        try await self.withShop { world in
            let file = try await self.hands(Self.pdf, as: "PROOF_OF_ADDRESS", in: world)
            world.provider.refuseNext(.unavailable(status: 503))
            guard case .again = try await self.delivers(file, in: world) else { throw TestFailure("it did not wait") }
            world.clock.advance(by: .seconds(25 * 3600))
            #expect(try await self.delivers(file, in: world) == .done)
            #expect(try await self.document("PROOF_OF_ADDRESS", in: world).reason == .notDelivered)
            #expect(try await world.database.psql("SELECT count(*) FROM documents WHERE content IS NOT NULL") == ["0"])

            let text = try await self.hands(Array("RC1".utf8), as: "RC_NUMBER", in: world)
            try await world.hear(UserErased(userID: world.ada.uuid), sequence: 5)
            #expect(try await world.database.psql("SELECT count(*) FROM documents") == ["0"])
            #expect(try await self.delivers(text, in: world) == .cancelled(reason: "nothing_to_send"))
        }
    }

    @Test("nobody sees or hands in somebody else's document")
    func foreign() async throws {
        try await self.withShop { world in
            let wanted = try await self.document("RC_NUMBER", in: world)
            let bola = try await world.joins("bola")
            #expect(try await world.documents.find(wanted.id, of: bola, on: world.requests) == nil)
            let handIn = HandInDocument(users: world.users, documents: world.documents)
            let content = try HandedContent(checking: Array("RC1".utf8), as: .text)
            await #expect(throws: CustomerError.documentNotFound) {
                _ = try await world.asUser(bola) { transaction in
                    try await handIn(content, as: wanted.id, of: bola, key: world.adaKey, in: transaction)
                }
            }
            #expect(try await self.document("RC_NUMBER", in: world).state == .wanted)
        }
    }
}
