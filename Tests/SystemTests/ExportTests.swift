import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

extension Journeys {
    /// A person asks for all that is held about them.
    @Suite struct ExportTests {
        private static let path = "/users/me/export"

        private struct File: Decodable {
            struct Table: Decodable {
                let rows: [[String: Cell]]
            }

            /// What the test looks at is text.
            struct Cell: Decodable {
                let text: String?

                init(from decoder: any Decoder) throws {
                    self.text = try? decoder.singleValueContainer().decode(String.self)
                }
            }

            let services: [String: [String: Table]]

            func texts(_ service: String, _ table: String, _ column: String) -> [String] {
                (self.services[service]?[table]?.rows ?? []).compactMap { $0[column]?.text }
            }
        }

        @Test("the person finds own payments, accounts, devices and messages in both forms, and nobody else's secrets")
        func whole() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("exports", funding: 50_000)
            let bola = try await suite.person("other", funding: 20_000)
            for person in [ada, bola] { try await suite.addBankAccount(of: person) }
            let paid = try await suite.pay(from: ada, to: bola, 7000)
            let got = try await suite.pay(from: bola, to: ada, 300)
            for transfer in [paid, got] { try await suite.await(transfer, "completed", within: .seconds(40)) }
            let none = try await suite.call("GET", .customer, Self.path, as: ada.subject)
            #expect(none.status == 404)

            let ready = try await suite.collectExport(of: ada)
            #expect(ready.size ?? 0 > 1000 && ready.expiresAt != nil && ready.readyAt != nil)
            let json = try await suite.call("GET", .customer, Self.path + "/file", as: ada.subject)
            #expect(json.status == 200 && json.header("Cache-Control") == "no-store")
            #expect(json.header("Content-Disposition")?.contains("transfa-data.json") == true)
            let file = try json.decode(File.self)
            #expect(file.services.keys.sorted() == SuiteEnvironment.names.sorted())
            #expect(file.texts("auth", "users", "username") == [ada.username])
            #expect(file.texts("auth", "devices", "id").contains(ada.device.lowercased))
            #expect(file.texts("account", "accounts", "account_number") == [ada.accountNumber])
            #expect(file.texts("transaction", "transfers_sent", "id") == [paid.lowercased])
            #expect(file.texts("transaction", "transfers_sent", "description") == ["Lunch"])
            #expect(file.texts("transaction", "transfers_received", "sender_username").contains(bola.username))
            #expect(file.texts("customer", "beneficiaries", "account_number").count == 1)
            #expect(!file.texts("notification", "notifications", "title").isEmpty)
            #expect(json.text.contains("Testperson"))
            for secret in [bola.id.lowercased, bola.accountNumber, bola.device.lowercased, "s1.", "scrypt"] {
                #expect(!json.text.contains(secret), "\(secret)")
            }

            let csv = try await suite.call("GET", .customer, Self.path + "/file?format=csv", as: ada.subject)
            #expect(csv.status == 200 && csv.header("Content-Type") == "text/csv; charset=utf-8")
            #expect(csv.text.hasPrefix("service,table,row,field,value\r\n"))
            #expect(csv.text.contains("transaction,transfers_sent,1,id,\(paid.lowercased)\r\n"))
            let told = "SELECT count(*) FROM notifications WHERE user_id = '\(ada.id)' AND kind = 'user.export_ready'"
            try await eventually("the message", within: .seconds(30)) {
                try await suite.number(told, of: "notification") == 1
            }
            let plain = "SELECT count(*) FROM export_parts WHERE content LIKE '%\(ada.username)%'"
            #expect(try await suite.number(plain, of: "customer") == 0)
        }

        @Test("it is asked for once a day, by who has just signed in, and nobody else sees it")
        func limits() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("exporter")
            let bola = try await suite.person("curious")
            let stale = try await suite.token(of: ada.subject, more: #","claims":{"fva":[11,-1]}"#)
            let url = suite.environment.publicURL("customer") + Self.path
            let header = ["Authorization": "Bearer \(stale)"]
            let refused = try await suite.send("POST", url, headers: header)
            #expect(refused.status == 403 && refused.error?.code == "reverification_required")

            let first = try await suite.collectExport(of: ada)
            let again = try await suite.call("POST", .customer, Self.path, as: ada.subject)
            #expect(again.status == 429 && again.error?.code == "too_many_requests")
            let wait = try #require(again.header("Retry-After").flatMap { Int($0) })
            #expect((1...86_400).contains(wait) && wait > 80_000)
            let same = try await suite.call("GET", .customer, Self.path, as: ada.subject).decode(ExportResource.self)
            #expect(same.id == first.id)
            #expect(try await suite.send("GET", url, headers: header).status == 200)
            let late = try await suite.send("GET", url + "/file", headers: header)
            #expect(late.status == 403 && late.error?.code == "reverification_required")
            for path in [Self.path, Self.path + "/file"] {
                #expect(try await suite.call("GET", .customer, path, as: bola.subject).status == 404)
            }
        }

        @Test("who is closed gets it too, and after an erasure it is gone at once")
        func ends() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("leaves")
            let close = "/internal/users/\(ada.id.lowercased)/restriction"
            let order = #"{"restriction":"closed","reason":"asked_for"}"#
            #expect(try await suite.operate("PUT", "customer", close, order).status < 300)
            try await suite.collectExport(of: ada)
            let file = try await suite.call("GET", .customer, Self.path + "/file", as: ada.subject)
            #expect(file.status == 200 && file.text.contains(ada.username))

            let erase = "/internal/users/\(ada.id.lowercased)/erase"
            for name in ["ada", "linus"] {
                _ = try await suite.operate("POST", "auth", erase, #"{"reason":"asked for it"}"#, by: name)
            }
            let left = "SELECT count(*) FROM exports WHERE user_id = '\(ada.id)'"
            try await eventually("the file to be gone", within: .seconds(30), every: .milliseconds(100)) {
                try await suite.number(left, of: "customer") == 0
            }
            let gone = try await suite.call("GET", .customer, Self.path + "/file", as: ada.subject)
            #expect(gone.status == 404 || gone.status == 410)
        }
    }
}
