import ArgumentParser
import ContractGate
import Foundation
import Messaging

/// `transfactl topology`: exchanges, queues, bindings and policies of the broker.
struct TopologyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topology",
        abstract: "What the broker has of exchanges, queues, bindings and policies, and what it should have.",
        discussion: """
            Services declare all of it when they start and watch it while they run; this is for before the first start, \
            and for looking. Needs RABBITMQ_MANAGEMENT_URL and RABBITMQ_URL, whose virtual host is meant.
            """,
        subcommands: [TopologyPlanCommand.self, TopologyDiff.self, TopologyApply.self, TopologyUsers.self]
    )

    /// Longer than two looks of any relay: each must notice that a queue is gone before it is there again.
    static let quarantine = Duration.seconds(4)

    /// Shows what cannot be done by steps.
    static func showRest(of plan: TopologyPlan, _ output: Output) {
        for text in plan.conflicts {
            output.item(["kind": "conflict", "text": .text(text)], text: "! \(text)")
        }
        for text in plan.strangers {
            output.item(["kind": "stranger", "text": .text(text)], text: "? \(text), and stays")
        }
    }
}

/// `transfactl topology plan`.
struct TopologyPlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "What apply would do, in order. Changes nothing."
    )

    @OptionGroup var show: ShowOptions

    func run() async throws {
        try await self.show.run { output throws(Failure) in
            let plan = TopologyPlan(of: try await Broker.with { broker throws(Failure) in try await broker.objects() })
            for (number, step) in plan.steps.enumerated() {
                let node: JSONNode = [
                    "kind": "step", "number": .number(Int64(number + 1)), "text": .text(step.text),
                ]
                output.item(node, text: "\(number + 1). \(step.text)")
            }
            TopologyCommand.showRest(of: plan, output)
            let text = plan.steps.isEmpty ? "nothing to do" : "\(plan.steps.count) steps"
            output.item(["kind": "result", "steps": .number(Int64(plan.steps.count))], text: text)
            return .success
        }
    }
}

/// `transfactl topology diff`.
struct TopologyDiff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "What is missing (+), too much (-), different (~) or in the way (!); fails when anything is.",
        discussion:
            "Bindings that this version does not know are shown with ? and are no difference: another may need them."
    )

    @OptionGroup var show: ShowOptions

    func run() async throws {
        try await self.show.run { output throws(Failure) in
            let plan = TopologyPlan(of: try await Broker.with { broker throws(Failure) in try await broker.objects() })
            for step in plan.steps {
                let (kind, sign, what) = Self.difference(step)
                output.item(["kind": .text(kind), "text": .text(what)], text: "\(sign) \(what)")
            }
            TopologyCommand.showRest(of: plan, output)
            return plan.isWhole ? .success : Exit.wrong
        }
    }

    private static func difference(_ step: TopologyPlan.Step) -> (kind: String, sign: String, what: String) {
        switch step {
        case .declareExchange(let name, _): ("missing", "+", "exchange \(name)")
        case .declareQueue(let name, _, _): ("missing", "+", "queue \(name)")
        case .bind(let binding):
            ("missing", "+", "binding of \(binding.queue) to \(binding.exchange) by \(binding.key)")
        case .unbind(let binding):
            ("surplus", "-", "binding of \(binding.queue) to \(binding.exchange) by \(binding.key)")
        case .setPolicy(let policy): ("different", "~", "policy \(policy.name)")
        }
    }
}

/// `transfactl topology apply`.
struct TopologyApply: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Declares what is missing and takes away what was given up; what is in the way stays.",
        discussion: """
            No queue is deleted or made anew. After a queue was lost, services publish again what was in it lately; for more \
            see transfactl outbox resend. Exit code 1 when something is in the way.
            """
    )

    @OptionGroup var show: ShowOptions

    func run() async throws {
        try await self.show.run { output throws(Failure) in
            let plan = try await Broker.with { broker throws(Failure) in
                var plan = TopologyPlan(of: try await broker.objects())
                if plan.lacksKnownQueue {
                    try? await Task.sleep(for: TopologyCommand.quarantine)
                    // The services may have made it meanwhile.
                    plan = TopologyPlan(of: try await broker.objects())
                }
                for step in plan.steps {
                    try await broker.perform(step)
                    output.item(["kind": "done", "text": .text(step.text)], text: step.text)
                }
                return TopologyPlan(of: try await broker.objects())
            }
            TopologyCommand.showRest(of: plan, output)
            for step in plan.steps { Output.complain("Still to do: \(step.text).") }
            output.item(
                ["kind": "result", "whole": .boolean(plan.isWhole)],
                text: plan.isWhole ? "all is there" : "not whole"
            )
            return plan.isWhole ? .success : Exit.wrong
        }
    }
}
