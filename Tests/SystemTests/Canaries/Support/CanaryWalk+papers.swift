import Contracts
import Foundation
import Primitives
import TestSupport

/// What the walker shows and hands in, reports, and what operators write about it.
extension CanaryWalk {
    // MARK: Pictures

    /// Pictures that say more than they show, after some that are none.
    func illustrate(_ path: String, of service: ServiceName) async throws {
        let words = self.canaries
        let png = ["Content-Type": "image/png"]
        for bytes in [Array(words["bad picture"].utf8), Self.picture(saying: words["bad picture"]).dropLast(20)] {
            let refused = try await self.send("PUT", service, path, Array(bytes), headers: png)
            _ = try self.must("no picture", refused, [415, 422])
        }
        let picture = Self.picture(saying: words["camera"])
        for _ in 0..<2 {
            _ = try self.must("a picture", try await self.send("PUT", service, path, picture, headers: png))
        }
    }

    /// A PNG with a text in it.
    private static func picture(saying text: String) -> [UInt8] {
        let content = Array("tEXtComment\0\(text)".utf8)
        let chunk = Self.bytes(of: UInt32(content.count - 4)) + content + Self.bytes(of: Self.checksum(content))
        // After the signature and the header.
        return Belongings.picture[..<33] + chunk + Belongings.picture[33...]
    }

    private static func bytes(of number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    /// CRC-32.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { rest, _ in (rest >> 1) ^ (rest & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
    }

    // MARK: Documents

    /// Documents of a shop, after some that are none; they do not arrive before `deliverDocuments`, and rest until then.
    func handInDocuments() async throws {
        let words = self.canaries
        let shop = try await self.suite.shopOfWhichDocumentsAreWanted()
        let wanted = try await eventually("the list", within: .seconds(30), every: .milliseconds(100)) {
            let list = try await self.suite.documents(of: shop)
            return list.isEmpty ? nil : list
        }
        let rule = #"{"fault":"status=503","path":"/api/v1/documents/upload-document","count":1000}"#
        _ = try self.must("the fault", try await self.suite.sandbox("POST", "/sandbox/faults", rule))
        for document in wanted {
            let path = "/users/me/documents/\(document.id.lowercased)"
            let isFile = document.format == "file"
            let text = words[isFile ? "document" : "line of a document"]
            let good = isFile ? "%PDF-1.4\n% \(text)\n%%EOF\n" : text
            for bad in ["GIF89a\(words["bad document"])\u{0}", "%PDF-1.4\n\(words["bad document"])\n\u{0}"] {
                let refused = try await self.send("PUT", .customer, path, Array(bad.utf8), as: shop)
                _ = try self.must("no document", refused, [400, 415, 422])
            }
            let type = ["Content-Type": isFile ? "application/pdf" : "text/plain"]
            let taken = try await self.send("PUT", .customer, path, Array(good.utf8), as: shop, headers: type)
            _ = try self.must("a document", taken, [202])
            _ = try self.must("its state", try await self.send("GET", .customer, path, as: shop))
        }
        guard try await self.suite.number(Self.resting, of: "customer") == wanted.count else {
            throw TestFailure("the documents do not rest")
        }
    }

    private static let resting = "SELECT count(*) FROM documents WHERE content IS NOT NULL"

    /// Lets the documents arrive.
    func deliverDocuments() async throws {
        try await self.suite.sandbox("DELETE", "/sandbox/faults")
        try await eventually("the documents to arrive", within: .seconds(60), every: .milliseconds(500)) {
            try await self.suite.rows(
                "customer",
                "UPDATE jobs SET due_at = transfa_now() WHERE kind = 'deliver_document' AND state = 'queued'"
            )
            return try await self.suite.number(Self.resting, of: "customer") == 0
        }
    }

    // MARK: Problems

    /// A problem with a payment, read, answered and closed.
    func reportProblem(_ payment: UUID) async throws {
        let words = self.canaries
        let path = "/transactions/\(payment.lowercased)/disputes"
        let report = DisputeRequest(reason: "not_received", text: "It is about \(words["problem"])")
        for body in try Self.spoiled(report, by: words["bad body"]) {
            try await self.send("POST", .transaction, path, body)
        }
        let body = try RunningSuite.json(report)
        let made = try await self.twice("POST", .transaction, path, body, of: DisputeResource.self)
        _ = try self.must("once more", try await self.send("POST", .transaction, path, body), [409])
        let desk = "/internal/disputes/\(made.id.lowercased)"
        let reason = words["operator's reason"]
        let answer = "Because of \(words["operator's answer"])"
        let shown = try await self.operate("transaction", desk + "/read", ["reason": reason])
        try await self.operate("transaction", desk + "/answer", ["answer": answer, "reason": reason])
        try await self.operate("transaction", desk + "/close", ["outcome": "explained", "reason": reason])
        let seen = try await self.send("GET", .transaction, path).decode(DisputeList.self).data
        guard made.text == report.text, shown.text.contains(report.text), seen.map(\.answer) == [answer] else {
            throw TestFailure("the dispute is \(made), \(shown.text), \(seen)")
        }
    }

    // MARK: Operators

    /// What an operator does with words, well and badly.
    @discardableResult
    private func operate(_ service: String, _ path: String, _ body: [String: String]) async throws -> Reply {
        for bad in try Self.spoiled(body, by: self.canaries["bad body"]) {
            _ = try self.must("bad words", try await self.act("POST", service, path, bad), [400])
        }
        return try self.must(path, try await self.act("POST", service, path, RunningSuite.json(body)))
    }

    private func act(_ method: String, _ service: String, _ path: String, _ body: [UInt8]) async throws -> Reply {
        let headers = [
            "Authorization": "Bearer \(self.suite.environment.internalToken)",
            "Transfa-Operator": RunningSuite.operatorName,
        ]
        return try await self.send(method, self.suite.environment.internalURL(service) + path, headers, body)
    }

    /// Cancels a job that is made up.
    private func cancelJob(because reason: String) async throws {
        let job = UUID().lowercased
        let enqueue = """
            INSERT INTO jobs (id, kind, key, state, due_at, created_at)
            VALUES ('\(job)', 'never_run', '\(job)', 'failed', now(), now())
            """
        try await self.suite.rows("customer", enqueue)
        try await self.operate("customer", "/internal/ops/jobs/\(job)/cancel", ["reason": reason])
    }

    /// A note on a break that is made up, and acts about a shop that have reasons.
    func operate(on shop: Person) async throws {
        let words = self.canaries
        let found = try await self.suite.rows(
            "transaction",
            """
            INSERT INTO reconciliation_breaks (account, kind, key, happened_at, first_seen, last_seen, opened_at)
            VALUES ('walk-\(words.run)', 'balance', 'balance', now(), now(), now(), now()) RETURNING id
            """
        )
        let broken = found.first ?? ""
        let notes = "/internal/reconciliations/breaks/\(broken)/notes"
        try await self.operate("transaction", notes, ["text": "They say \(words["operator's note"])"])
        let note = Array(#"{"text":"\#(words["operator's note"])"}"#.utf8)
        let unknown = try await self.act("POST", "transaction", "/internal/reconciliations/breaks/9999999/notes", note)
        _ = try self.must("a note on nothing", unknown, [404])
        try await self.cancelJob(because: words["operator's reason"])
        let user = "/internal/users/\(shop.id.lowercased)"
        for (path, order) in [("tier", #""tier":2"#), ("restriction", #""restriction":"frozen""#)] {
            // Here reasons are codes.
            for (reason, status) in [(words["operator's reason"], 400), ("a_test", 204)] {
                let json = #"{\#(order),"reason":"\#(reason)"}"#
                let answer = try await self.act("PUT", "customer", "\(user)/\(path)", Array(json.utf8))
                _ = try self.must(path, answer, [status, status == 204 ? 200 : status])
            }
        }
        try await self.suite.rows(
            "transaction",
            "UPDATE reconciliation_breaks SET resolved_at = now() WHERE id = \(broken)"
        )
    }

    /// Proposes that a payment is reversed, and withdraws it; both for a reason.
    func decide(about payment: UUID) async throws {
        struct Proposal: Decodable {
            let id: UUID
        }
        let reason = self.canaries["operator's reason"]
        let path = "/internal/transfers/\(payment.lowercased)/proposals"
        let made = try await self.operate("transaction", path, ["outcome": "reversed", "reason": reason])
        let proposal = try made.decode(Proposal.self).id.lowercased
        try await self.operate("transaction", "/internal/transfer-proposals/\(proposal)/withdraw", ["reason": reason])
    }

    /// Blocks somebody and takes it back.
    func block(_ shop: Person) async throws {
        let path = "/users/\(shop.username)/block"
        _ = try self.must("a block", try await self.send("PUT", .customer, path))
        let list = try self.must("the list", try await self.send("GET", .customer, "/users/me/blocks"))
        guard list.text.contains(shop.username) else { throw TestFailure("blocked are \(list.text)") }
        _ = try self.must("no block", try await self.send("DELETE", .customer, path))
    }
}
