import Contracts
import Foundation
import Primitives
import TestSupport

/// A sign-up that waits for documents: only somebody who is not verified yet has any to hand in.
struct Application: Sendable {
    let subject: String
    /// A file that the provider wants.
    let document: UUID

    /// A document that holds nothing.
    static let scan = Array("%PDF-1.4\nmatrix\n%%EOF\n".utf8)
}

extension RunningSuite {
    /// Signs a shop up and waits until it knows what to hand in.
    func application() async throws -> Application {
        let subject = try await self.shopOfWhichDocumentsAreWanted()
        let wanted = try await eventually("a document to be wanted", within: .seconds(30), every: .milliseconds(100)) {
            try await self.documents(of: subject).first { $0.format == "file" }
        }
        return Application(subject: subject, document: wanted.id)
    }

    /// Lets the shop choose to receive only.
    func receiveOnly(_ application: Application) async throws {
        let body = try Self.json(SettingsRequest(allowSending: false))
        let path = "/users/me/settings"
        let chosen = try await self.call("PUT", .customer, path, as: application.subject, body: body)
        guard chosen.status == 200 else { throw TestFailure("the choice was answered \(chosen.text)") }
    }

    /// Orders a restriction, as an operator does.
    func orderRestriction(_ restriction: String, of user: UUID) async throws {
        let path = "/internal/users/\(user.lowercased)/restriction"
        let order = #"{"restriction":"\#(restriction)","reason":"a_test"}"#
        let ordered = try await self.operate("PUT", "customer", path, order)
        guard ordered.status == 204 else { throw TestFailure("the restriction was answered \(ordered.text)") }
    }
}
