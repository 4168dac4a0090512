import Contracts
import Foundation
import NIOHTTP1
import Primitives
import TestSupport
import Testing

/// Traces as operators see them: whatever a story left in any service's tables is in its trace, under what caused it.
extension Journeys {
    @Suite struct TraceTests {
        private static let payment = "request POST /transactions/p2p"

        @Test("Full Onboarding: everything from the sign-up to the open account is in the trace of the person")
        func onboarding() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("tracedjoin")
            let trace = try await suite.wholeTrace(
                ada.id.lowercased,
                through: [
                    [
                        "request POST /onboarding", "event user.created", "handler user.created@customer",
                        "job create_customer", "event customer.created",
                    ],
                    ["request POST /webhooks/anchor", "event customer.verified", "handler customer.verified@account"],
                    ["request POST /devices", "event device.registered", "handler device.registered@transaction"],
                ]
            )
            #expect(trace.steps.contains { $0.kind == "provider_call" })
        }

        @Test(
            "P2P Transfer, external and rerouted: the trace of each payment shows its whole chain, whatever it is asked by"
        )
        func payments() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("traced", funding: 100_000)
            let bola = try await suite.person("traces")
            try await suite.addBankAccount(of: bola)
            try await suite.useFreeSlots(of: bola, from: ada)
            let rerouted = try await suite.pay(from: ada, to: bola, 4000)
            try await suite.await(rerouted, "completed", within: .seconds(40))
            _ = try await suite.wholeTrace(
                rerouted.lowercased,
                through: [
                    [Self.payment, "event transfer.rerouted.internal"],
                    [Self.payment, "job submit_transfer", "provider_call create_transfer"],
                ]
            )
            try await suite.subscribe(bola)
            let order = try PaymentOrder(from: ada, to: bola.username, 7000)
            let reply = try await suite.pay(order)
            let paid = try reply.decode(P2PResponse.self).transactionID
            try await suite.await(paid, "completed", within: .seconds(40))
            let trace = try await suite.wholeTrace(
                paid.lowercased,
                through: [
                    [Self.payment, "event transaction.created"],
                    [Self.payment, "job submit_transfer", "provider_call create_transfer"],
                    ["event transaction.completed", "handler transaction.completed@analytics", "job read_words"],
                    ["event transaction.completed", "handler transaction.completed@notification"],
                    ["request POST /webhooks/anchor", "event provider.transfer_updated"],
                ]
            )
            let created = "SELECT id FROM outbox WHERE type = 'transaction.created' AND subject = '\(paid.lowercased)'"
            let event = try #require(try await suite.rows("transaction", created).first)
            let sql = "SELECT id FROM jobs WHERE kind = 'submit_transfer' AND key = '\(paid.lowercased)'"
            let job = try #require(try await suite.rows("transaction", sql).first)
            let request = try #require(reply.header("X-Request-Id"))
            for key in [request, "trf-\(paid.lowercased)", event, job] {
                #expect(try await suite.trace(key)?.ids == trace.ids, "\(key)")
            }
            // One trace across HTTP, outbox, broker and jobs.
            #expect(try await suite.traceIDs(of: request).count == 1)
            #expect(trace.data.first { $0.correlationID == request }?.traceID != nil)
        }

        @Test("Money Drop Full Cycle and Payment Request Flow: the traces show every claim, and who paid the request")
        func products() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("tracesdrop", funding: 100_000)
            let bola = try await suite.person("claims")
            let order = MoneyDropRequest(
                amountPerClaim: 10_000,
                slots: 2,
                expiresAt: Timestamp.text(Date().addingTimeInterval(3600))
            )
            let drop = try await suite.drop(by: ada, order).moneyDropID.lowercased
            let path = "/money-drops/\(drop)"
            let body = try RunningSuite.json(ClaimRequest())
            let claim = try await suite.change(path + "/claim", as: bola, body).decode(ClaimResponse.self).transactionID
            #expect(try await suite.change(path + "/end", as: ada).status == 204)
            _ = try await suite.wholeTrace(
                drop,
                through: [
                    ["request POST /money-drops", "event transaction.created"],
                    ["event money_drop.opened", "handler money_drop.opened@notification"],
                    ["request POST /money-drops/{id}/claim", "job submit_transfer", "provider_call create_transfer"],
                    ["event money_drop.claimed", "handler money_drop.claimed@analytics"],
                    ["request POST /money-drops/{id}/end", "event money_drop.ended"], ["event money_drop.refunded"],
                ]
            )
            // A claim is a transfer of its own.
            _ = try await suite.wholeTrace(
                claim.lowercased,
                through: [
                    ["request POST /money-drops/{id}/claim", "job submit_transfer", "provider_call create_transfer"],
                    ["event money_drop.claimed", "handler money_drop.claimed@analytics"],
                ]
            )

            let asked = try await suite.ask(as: bola, PaymentRequestRequest(amount: 700, description: "Dinner"))
            let paid = try await suite.order(
                "/payment-requests/\(asked.id.lowercased)/pay",
                as: ada,
                PayRequestRequest()
            )
            #expect(paid.status == 202)
            _ = try await suite.wholeTrace(
                asked.id.lowercased,
                through: [
                    ["request POST /payment-requests", "event payment_request.created"],
                    [
                        "request POST /payment-requests/{id}/pay", "job submit_transfer",
                        "provider_call create_transfer",
                    ],
                    ["event payment_request.fulfilled", "handler payment_request.fulfilled@notification"],
                ]
            )
        }

        @Test(
            "Merchant Send Block and Biometric Approval Flow: a refused request is a trace of one step, an approved one goes on"
        )
        func refused() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("tracesrefused", funding: 20_000)
            let shop = try await suite.merchant("tracedshop")
            try await suite.receiveOnly(shop)
            let blocked = try await suite.pay(PaymentOrder(from: shop, to: ada.username, 1000))
            #expect(blocked.status == 403)
            var cancelled = try PaymentOrder(from: ada, to: shop.username, 1500)
            let approval = cancelled.approval
            cancelled.approval = nil
            let unapproved = try await suite.pay(cancelled)
            #expect(unapproved.status == 403)
            for reply in [blocked, unapproved] {
                let id = try #require(reply.header("X-Request-Id"))
                let trace = try await suite.wholeTrace(id, through: [[Self.payment]])
                #expect(trace.steps.map(\.state) == ["403"])
            }
            cancelled.approval = approval
            let id = try await suite.pay(cancelled).decode(P2PResponse.self).transactionID
            try await suite.await(id, "completed", within: .seconds(40))
            let trace = try await suite.wholeTrace(
                id.lowercased,
                through: [
                    [Self.payment, "event transaction.created"],
                    [Self.payment, "job submit_transfer", "provider_call create_transfer"],
                ]
            )
            #expect(trace.steps.first { $0.text == Self.payment }?.state == "202")
            let tool = try Repository.product("transfactl")
            let arguments = ["events", "trace", id.lowercased]
            let text = try await Command.run(tool, arguments, environment: suite.environment.tool)
            for part in ["POST /transactions/p2p  transaction  202", "job submit_transfer", "handled by analytics"] {
                #expect(text.contains(part), "\(part)")
            }
        }
    }
}
