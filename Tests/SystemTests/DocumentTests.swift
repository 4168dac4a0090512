import Contracts
import Foundation
import Primitives
import Sealing
import TestSupport
import Testing

extension Faults {
    @Suite struct DocumentTests {
        @Test("a merchant hands in what is wanted, is told what is refused, and is verified in the end")
        func documents() async throws {
            let suite = try RunningSuite.current
            let subject = try await suite.shopOfWhichDocumentsAreWanted()
            #expect(try await suite.status(of: subject, "awaiting_document").reason == nil)
            let wanted = try await eventually("the list", within: .seconds(30), every: .milliseconds(100)) {
                let list = try await suite.documents(of: subject)
                return list.isEmpty ? nil : list
            }
            #expect(wanted.map(\.type) == ["PROOF_OF_ADDRESS", "RC_NUMBER"])
            #expect(wanted.map(\.format) == ["file", "text"] && wanted.allSatisfy { $0.status == "wanted" })
            let customer = try await suite.customer(of: subject)

            // What is no document is refused, and changes nothing.
            let scan = Array("%PDF-1.4\n\(UUID())\n%%EOF\n".utf8)
            for (bytes, status, code) in [
                (Array("GIF89a".utf8), 415, "unsupported_document_type"),
                (Array(scan.dropLast(7)), 422, "document_malformed"),
                (scan + Array(repeating: 32, count: 5 * 1024 * 1024), 413, "body_too_large"),
            ] {
                let refused = try await suite.handIn(bytes, as: wanted[0], of: subject)
                #expect(refused.status == status && refused.error?.code == code)
            }
            let stranger = try await suite.person("strangerto")
            #expect(try await suite.handIn(scan, as: wanted[0], of: stranger.subject).status == 404)

            try await suite.sends(scan, as: wanted[0], of: subject)
            let twice = try await suite.handIn(scan, as: wanted[0], of: subject)
            #expect(twice.status == 409 && twice.error?.code == "document_handed_in")
            try await suite.sends(Array("RC0000001".utf8), as: wanted[1], of: subject)
            _ = try await suite.status(of: subject, "manual_review")
            let hashes = try await suite.documentsAtProvider(of: customer)
            let sent = ["PROOF_OF_ADDRESS": scan, "RC_NUMBER": Array("RC0000001".utf8)]
            #expect(hashes == sent.mapValues { ApprovalText.sha256($0) })
            let kept = "SELECT count(*) FROM documents WHERE content IS NOT NULL"
            #expect(try await suite.number(kept, of: "customer") == 0)

            // One is not accepted.
            try await suite.rejectDocument("PROOF_OF_ADDRESS", of: customer)
            _ = try await suite.status(of: subject, "awaiting_document")
            let again = try await eventually("the refusal", within: .seconds(30), every: .milliseconds(100)) {
                try await suite.documents(of: subject).first { $0.status == "refused" }
            }
            #expect(again.reason?.code == "document_refused" && again.id == wanted[0].id)
            try await suite.sends(scan, as: again, of: subject)
            _ = try await suite.status(of: subject, "manual_review")
            let path = "/sandbox/customers/\(customer)/verification"
            try await suite.sandbox("POST", path, #"{"outcome":"approved"}"#)
            _ = try await suite.status(of: subject, "approved")
        }
    }
}

extension RunningSuite {
    /// Signs a merchant up of whom the provider wants documents; gives the subject.
    func shopOfWhichDocumentsAreWanted() async throws -> String {
        let run = String(Int.random(in: 1_000_000...9_999_999))
        let person = RunningSuite.signUp(username: "shop\(run)", run: run)
        let order = OnboardingRequest(
            username: "shop\(run)",
            accountType: "merchant",
            kybDetails: KYBDetails(
                businessName: "Invented Shop",
                rcNumber: "RC\(run)",
                registrationType: "Private_Incorporated",
                industry: "Agriculture-AgriculturalCooperatives",
                dateOfRegistration: "2015-06-01",
                businessBvn: "222\(run)7",
                description: "Sells what nobody needs",
                director: person.kycDetails
            ),
            contactDetails: person.contactDetails
        )
        let subject = "user_system_shop\(run)"
        try await self.withSwitches(#""businessDocuments":true"#) {
            _ = try await self.call("POST", .auth, "/onboarding", as: subject, body: RunningSuite.json(order))
            _ = try await self.status(of: subject, "awaiting_document")
        }
        return subject
    }

    /// The provider's id of a user.
    fileprivate func customer(of subject: String) async throws -> String {
        let id = UserID(clerkSubject: subject).uuid
        let sql = "SELECT anchor_customer_id FROM users WHERE id = '\(id)'"
        return try #require(try await self.rows("customer", sql).first)
    }

    /// What the provider wants of a user.
    func documents(of subject: String) async throws -> [DocumentResource] {
        try await self.call("GET", .customer, "/users/me/documents", as: subject).decode(DocumentList.self).data
    }

    fileprivate func handIn(_ bytes: [UInt8], as document: DocumentResource, of subject: String) async throws -> Reply {
        try await self.call(
            "PUT",
            .customer,
            "/users/me/documents/\(document.id.lowercased)",
            as: subject,
            headers: ["Content-Type": document.format == "text" ? "text/plain" : "application/pdf"],
            body: bytes
        )
    }

    /// Hands a document in and waits until the provider has it.
    fileprivate func sends(_ bytes: [UInt8], as document: DocumentResource, of subject: String) async throws {
        let answer = try await self.handIn(bytes, as: document, of: subject)
        guard answer.status == 200 || answer.status == 202 else { throw TestFailure("answered \(answer.text)") }
        let path = "/users/me/documents/\(document.id.lowercased)"
        try await eventually("the document to arrive", within: .seconds(20), every: .milliseconds(100)) {
            let seen = try await self.call("GET", .customer, path, as: subject).decode(DocumentResource.self)
            return ["sent", "approved"].contains(seen.status)
        }
    }

    private struct Report: Decodable {
        struct Document: Decodable {
            let id: String
            let type: String
            let sha256: String?
        }

        let data: [Document]
    }

    private func report(of customer: String) async throws -> [Report.Document] {
        try await self.sandbox("GET", "/sandbox/customers/\(customer)/documents").decode(Report.self).data
    }

    /// The hashes of what the provider has of a customer, by type.
    fileprivate func documentsAtProvider(of customer: String) async throws -> [String: String] {
        let pairs = try await self.report(of: customer).compactMap { document in
            document.sha256.map { (document.type, $0) }
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    /// Lets people at the provider reject a document.
    fileprivate func rejectDocument(_ type: String, of customer: String) async throws {
        let id = try #require(try await self.report(of: customer).first { $0.type == type }?.id)
        let path = "/sandbox/customers/\(customer)/documents/\(id)"
        try await self.sandbox("POST", path, #"{"outcome":"rejected"}"#)
    }
}
