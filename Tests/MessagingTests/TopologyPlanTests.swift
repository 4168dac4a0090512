import Contracts
import Testing

@testable import Messaging

@Suite("The plan for the broker's objects")
struct TopologyPlanTests {
    private let whole = BrokerObjects.wanted

    @Test("with everything there nothing is to be done")
    func nothing() {
        let plan = TopologyPlan(of: self.whole)
        #expect(plan.isWhole && plan.steps == [] && plan.strangers == [] && !plan.lacksKnownQueue)
    }

    @Test("an empty broker gets exchanges first, a queue before its bindings, and the event log last")
    func empty() throws {
        let plan = TopologyPlan(of: BrokerObjects())
        #expect(plan.conflicts == [] && !plan.lacksKnownQueue)
        #expect(
            plan.steps.prefix(2).map(\.text) == [
                "declare the fanout exchange transfa.dead", "declare the topic exchange transfa.events",
            ]
        )
        #expect(
            plan.steps.suffix(2).map(\.text) == [
                "declare the stream queue transfa.event-log", "bind transfa.event-log to transfa.events by #",
            ]
        )
        let queues = plan.steps.compactMap { step -> String? in
            guard case .declareQueue(let name, _, _) = step else { return nil }
            return name
        }
        #expect(Set(queues) == Set(self.whole.queues.keys) && queues.count == self.whole.queues.count)
        let bound = plan.steps.compactMap { step -> BrokerObjects.Binding? in
            guard case .bind(let binding) = step else { return nil }
            return binding
        }
        #expect(Set(bound) == self.whole.bindings)
    }

    @Test("a lost queue, a lost binding and a changed policy are put right, and nothing else")
    func repaired() throws {
        var objects = self.whole
        objects.queues["customer.p0"] = nil
        let other = try #require(Topology.queues(of: .account).first)
        let lost = try #require(other.bindings.sorted().first)
        objects.bindings = objects.bindings.filter {
            $0.queue != "customer.p0" && !($0.queue == other.name && $0.key == lost)
        }
        objects.policies["transfa-queues"]?["max-length"] = .number(1)
        let plan = TopologyPlan(of: objects)
        #expect(plan.lacksKnownQueue)
        #expect(plan.steps.first == .setPolicy(BrokerPolicy.all[0]))
        let ours = plan.steps.dropFirst().filter { $0.text.contains("customer.p0") }
        #expect(ours.count == 1 + Topology.queues(of: .customer)[0].bindings.count)
        let others = plan.steps.dropFirst().filter { !$0.text.contains("customer.p0") }
        #expect(others.map(\.text) == ["bind \(other.name) to \(Topology.exchange) by \(lost)"])
    }

    @Test("a binding that was given up goes, one that nobody knows is shown and stays")
    func bindings() throws {
        let queue = try #require(Topology.allQueues.first { !$0.formerBindings.isEmpty })
        var objects = self.whole
        let former = BrokerObjects.Binding(
            exchange: Topology.exchange,
            queue: queue.name,
            key: queue.formerBindings[0]
        )
        let stranger = BrokerObjects.Binding(exchange: Topology.exchange, queue: queue.name, key: "*.of.tomorrow")
        objects.bindings.formUnion([former, stranger])
        let plan = TopologyPlan(of: objects)
        #expect(plan.steps == [.unbind(former)])
        #expect(plan.strangers == ["\(queue.name) is bound to transfa.events by *.of.tomorrow"])
    }

    @Test("a queue or exchange of another kind is a conflict, which no step can mend")
    func conflicts() {
        var objects = self.whole
        objects.queues["auth.p0"]?.kind = "classic"
        objects.queues["account.p0"]?.isSingle = false
        objects.exchanges[Topology.exchange] = "direct"
        let plan = TopologyPlan(of: objects)
        #expect(plan.steps == [] && !plan.isWhole)
        #expect(
            plan.conflicts == [
                "the exchange transfa.events is direct and should be topic",
                "the queue account.p0 is quorum and should be quorum with a single active consumer",
                "the queue auth.p0 is classic with a single active consumer and should be quorum with a single active consumer",
            ]
        )
    }
}
