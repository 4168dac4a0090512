import Contracts
import Foundation
import TestSupport
import Testing

extension Probes {
    @Suite struct BadInputTests {
        /// A body and the field that the answer must point at.
        struct Case: Sendable {
            let body: String
            let pointer: String

            init(_ body: String, _ pointer: String) {
                self.body = body
                self.pointer = pointer
            }
        }

        private static let amounts = [
            "-1", "0", "1.5", "1e3", "9223372036854775808", "-9223372036854775809", "true", "null", #""100""#, "[1]",
            "{}",
        ]
        private static let names = [
            #""""#, #""ab""#, #""abcdefghijklmnopqrstu""#, #""аdaада""#, #""ada\u200bada""#, #""ada😀""#, #""ａｄａ""#,
            #""ada ada""#, #""ada\u0000a""#, #""İstan""#, #""../../etc""#, #""ada'--""#, "5", "null", "[]",
            #""\#(String(repeating: "x", count: 5000))""#,
        ]

        private static func payments(to payee: String) -> [Case] {
            let long = String(repeating: "é", count: 141)
            return self.amounts.map { Case(#"{"recipient_username":"\#(payee)","amount":\#($0)}"#, "/amount") }
                + self.names.map { Case(#"{"recipient_username":\#($0),"amount":100}"#, "/recipient_username") } + [
                    Case(#"{"recipient_username":"\#(payee)"}"#, "/amount"),
                    Case(#"{"amount":100}"#, "/recipient_username"),
                    Case(#"{"recipient_username":"\#(payee)","amount":100,"description":"\#(long)"}"#, "/description"),
                    Case(#"{"recipient_username":"\#(payee)","amount":100,"description":"a\u0007b"}"#, "/description"),
                    Case(#"{"recipient_username":"\#(payee)","amount":100,"description":5}"#, "/description"),
                    Case(#"{"recipient_username":"\#(payee)","amount":100,"amount":200}"#, "/amount"),
                    Case("{", ""), Case("[]", ""), Case("5", ""), Case(#"{"amount":100}}"#, ""),
                    Case(#"{"amount":01}"#, "/amount"),
                ]
        }

        @Test("a payment with a bad body is answered 400 with a pointer, and leaves no trace")
        func payments() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("badinput", funding: 10_000)
            let before = try await suite.paymentRows()
            for bad in Self.payments(to: "somebody") {
                let answer = try await suite.pay(PaymentOrder(from: payer, body: Array(bad.body.utf8)))
                Self.check(answer, bad)
            }
            let noUTF8 = try await suite.pay(PaymentOrder(from: payer, body: [0x7b, 0x22, 0xff, 0x22, 0x7d]))
            #expect(noUTF8.status == 400)
            #expect(try await suite.paymentRows() == before)
            #expect(try await suite.wallet(payer).available == 10_000)
        }

        @Test("a sign-up with a bad body is answered 400 with a pointer, and leaves no trace")
        func signUps() async throws {
            let suite = try RunningSuite.current
            let before = try await suite.signUpRows()
            for bad in try Self.signUps() {
                let subject = "user_system_bad_\(UUID().uuidString)"
                let answer = try await suite.call(
                    "POST",
                    .auth,
                    "/onboarding",
                    as: subject,
                    body: Array(bad.body.utf8)
                )
                Self.check(answer, bad)
            }
            #expect(try await suite.signUpRows() == before)
        }

        private static func signUps() throws -> [Case] {
            let good = RunningSuite.signUp(username: "goodname", run: "1234567")
            let text = String(decoding: try RunningSuite.json(good), as: UTF8.self)
            func changed(_ from: String, _ to: String, _ pointer: String) -> Case {
                Case(text.replacingOccurrences(of: from, with: to), pointer)
            }
            return self.names.map { changed(#""username":"goodname""#, #""username":\#($0)"#, "/username") } + [
                changed(#""username":"goodname""#, #""user":"goodname""#, "/username"),
                changed(#""account_type":"personal""#, #""account_type":"robot""#, "/account_type"),
                changed(#""account_type":"personal""#, #""account_type":7"#, "/account_type"),
                changed("22112345677", "2211234567", "/kyc_details/bvn"),
                changed("22112345677", "2211234567a", "/kyc_details/bvn"),
                changed("1990-01-01", "1990-02-30", "/kyc_details/date_of_birth"),
                changed("1990-01-01", "2990-01-01", "/kyc_details/date_of_birth"),
                changed("1990-01-01", "2020-01-01", "/kyc_details/date_of_birth"),
                changed("00012345671", "123", "/contact_details/phone"),
                changed("goodname@example.com", "goodname", "/contact_details/email"),
                Case("{", ""), Case("[]", ""), Case(#""text""#, ""), Case("{}", "/username"),
            ]
        }

        private static func check(_ answer: Reply, _ bad: Case, sourceLocation: SourceLocation = #_sourceLocation) {
            let what = Comment(rawValue: "\(bad.body.prefix(120)) -> \(answer.status) \(answer.text.prefix(300))")
            #expect(answer.status == 400, what, sourceLocation: sourceLocation)
            #expect(answer.contentType == "application/vnd.api+json", what, sourceLocation: sourceLocation)
            #expect(answer.error?.status == "400", what, sourceLocation: sourceLocation)
            // What cannot be read at all has no place to point at; where the reader stopped is as good.
            if !bad.pointer.isEmpty {
                #expect(answer.error?.source?.pointer == bad.pointer, what, sourceLocation: sourceLocation)
            }
        }
    }
}

extension RunningSuite {
    /// How much a payment would leave behind.
    fileprivate func paymentRows() async throws -> [Int] {
        var counts: [Int] = []
        for table in ["transfers", "transfer_steps", "holds", "idempotency_keys", "approval_nonces"] {
            counts.append(try await self.number("SELECT count(*) FROM \(table)"))
        }
        return counts
    }

    /// How much a sign-up would leave behind.
    fileprivate func signUpRows() async throws -> [Int] {
        var counts: [Int] = []
        for table in ["users", "data_keys", "idempotency_keys"] {
            counts.append(try await self.number("SELECT count(*) FROM \(table)", of: "auth"))
        }
        return counts
    }
}
