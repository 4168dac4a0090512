import AnchorClient
import Cryptography
import Foundation
import NIOHTTP1
import OutgoingHTTP
import Primitives
import Testing

@testable import SandboxService

@Suite("Documents of customers", .timeLimit(.minutes(2)))
struct DocumentTests {
    /// A business of which documents are wanted.
    private func wanted(of sandbox: SandboxHandle) async throws -> (customer: String, documents: [CustomerDocument]) {
        try await sandbox.control(.patch, "switches", ["businessDocuments": true])
        let customer = try await sandbox.client.createBusinessCustomer(Samples.business(email: "shop@transfa.test"))
        try await sandbox.client.startBusinessVerification(customerID: customer.id)
        let documents = try await sandbox.eventually("the documents") {
            let found = try await sandbox.client.documents(customerID: customer.id)
            return found.isEmpty ? nil : found
        }
        return (customer.id, documents)
    }

    private func verification(_ customer: String, of sandbox: SandboxHandle) async throws -> VerificationStatus {
        try await sandbox.client.customer(id: customer).verification
    }

    @Test(
        "what is wanted is handed in byte by byte; when all has come it is looked at, and what is rejected comes again"
    )
    func handedIn() async throws {
        try await withSandbox { sandbox in
            let (customer, documents) = try await self.wanted(of: sandbox)
            #expect(
                documents.map(\.type) == ["RC_NUMBER", "PROOF_OF_ADDRESS"] && documents.map(\.isText) == [true, false]
            )
            // Line ends and what looks like the end of a part are nothing special inside of it.
            let file = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) } + Array("\r\n--transfa-\r\n\r\n--".utf8)
            let content = DocumentContent.file(file, name: "document.pdf", contentType: "application/pdf")
            try await sandbox.client.uploadDocument(
                customerID: customer,
                documentID: documents[0].id,
                .text("RC 123456")
            )
            #expect(try await self.verification(customer, of: sandbox) == .pending)
            try await sandbox.client.uploadDocument(customerID: customer, documentID: documents[1].id, content)
            let report = try await sandbox.control(.get, "customers/\(customer)/documents")
            let hashes = report["data"]?.items?.compactMap { $0["sha256"]?.text }
            let expected = [Array("RC 123456".utf8), file].map { Hex.encode(Array(SHA256.hash(data: $0))) }
            #expect(hashes == expected)
            _ = try await sandbox.eventually("the review") {
                try await self.verification(customer, of: sandbox) == .manualReview ? true : nil
            }
            let path = "customers/\(customer)/documents/\(documents[1].id)"
            try await sandbox.control(.post, path, ["outcome": "rejected"])
            #expect(try await sandbox.client.documents(customerID: customer).map(\.isSubmitted) == [true, false])
            #expect(try await self.verification(customer, of: sandbox) == .pending)
            try await sandbox.client.uploadDocument(customerID: customer, documentID: documents[1].id, content)
            _ = try await sandbox.eventually("the second review") {
                try await self.verification(customer, of: sandbox) == .manualReview ? true : nil
            }
            try await sandbox.control(.post, "customers/\(customer)/verification", ["outcome": "approved"])
            #expect(try await sandbox.client.documents(customerID: customer).allSatisfy(\.isVerified))
        }
    }

    @Test("a file where a text is wanted, a body that is no form and a document of somebody else are refused")
    func refused() async throws {
        try await withSandbox { sandbox in
            let (customer, documents) = try await self.wanted(of: sandbox)
            let refusal = AnchorError.refused(status: 400, title: "Bad Request", code: .other)
            await #expect(throws: refusal) {
                let file = DocumentContent.file([1], name: "a.pdf", contentType: "application/pdf")
                try await sandbox.client.uploadDocument(customerID: customer, documentID: documents[0].id, file)
            }
            await #expect(throws: refusal) {
                try await sandbox.client.uploadDocument(customerID: customer, documentID: documents[1].id, .text("a"))
            }
            let path = "/api/v1/documents/upload-document/\(customer)/\(documents[0].id)"
            let (status, json) = try await sandbox.send(.post, path, ["textData": "RC1"])
            #expect(status == 400)
            let detail = json["errors"]?.items?.first?["detail"]?.text
            #expect(detail == "Content-Type 'application/json' is not supported")
            let person = try await sandbox.client.createIndividualCustomer(Samples.person(email: "a@transfa.test"))
            await #expect(throws: AnchorError.notFound) {
                try await sandbox.client.uploadDocument(customerID: person.id, documentID: documents[0].id, .text("a"))
            }
            #expect(try await sandbox.client.documents(customerID: person.id).isEmpty)
            await #expect(throws: AnchorError.notFound) {
                _ = try await sandbox.client.documents(customerID: "1-anc_bus_cst")
            }
            #expect(try await sandbox.client.documents(customerID: customer).allSatisfy { !$0.isSubmitted })
        }
    }
}
