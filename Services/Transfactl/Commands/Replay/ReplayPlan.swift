import ArgumentParser

/// `transfactl replay plan`: what a replay would be about.
struct ReplayPlan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Says how many events a replay would be about, by kind."
    )

    @OptionGroup var choice: ReplayChoice
    @OptionGroup var output: EventOutput

    private struct Plan: Decodable {
        struct Kind: Decodable {
            let type: String
            let events: Int
            let isHeard: Bool

            private enum CodingKeys: String, CodingKey {
                case type, events
                case isHeard = "is_heard"
            }
        }

        let events: Int
        let isComplete: Bool
        let first: String?
        let last: String?
        let types: [Kind]

        private enum CodingKeys: String, CodingKey {
            case events, first, last, types
            case isComplete = "is_complete"
        }
    }

    func validate() throws { try self.choice.requireBounds() }

    func run() async throws {
        try await ReplayCommand.with { client throws(Failure) in
            let order = ReplayPlanOrder(service: self.choice.service, selection: self.choice.selection)
            let answer = try await client.plan(order)
            let plan = try answer.decode(Plan.self)
            if self.output.isJSON {
                EventsCommand.write(String(decoding: answer.body, as: UTF8.self))
            } else {
                for kind in plan.types {
                    let mark = kind.isHeard ? "" : "  (\(self.choice.service) does not hear it)"
                    EventsCommand.write("\(kind.events)  \(kind.type)\(mark)")
                }
                let span = plan.first.map { ", from \($0) to \(plan.last ?? $0)" } ?? ""
                EventsCommand.write("\(plan.events)\(plan.isComplete ? "" : " or more") events\(span)")
            }
            return plan.events == 0 ? ReplayCommand.nothing : .success
        }
    }
}
