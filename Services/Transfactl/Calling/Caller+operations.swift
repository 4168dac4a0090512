import ArgumentParser
import ContractGate
import Foundation

/// How the internal ports answer operators.
extension Caller {
    /// A list.
    ///
    /// - Throws: `Failure` unless it is answered with one.
    func list(_ call: Call) async throws(Failure) -> [JSONNode] {
        let answer = try await self.send(call).expecting()
        guard let elements = try answer.decode(JSONNode.self).elements else {
            throw Failure("\(answer.line) was answered with something else than a list.")
        }
        return elements
    }

    /// What was asked for; nil when there is no such thing.
    ///
    /// - Throws: `Failure` for every other answer but 2xx.
    func find(_ call: Call) async throws(Failure) -> Answer? {
        let answer = try await self.send(call)
        if answer.isAboutNothing { return nil }
        guard (200...299).contains(answer.status) else { throw answer.refusal }
        return answer
    }

    /// Orders something, and says that it is done or that there is no such thing.
    func act(_ call: Call, _ what: String, missing: String, _ output: Output) async throws(Failure) -> ExitCode {
        guard try await self.find(call) != nil else {
            Output.complain(missing)
            return Exit.notFound
        }
        output.item(["kind": "done", "text": .text(what)], text: what)
        return .success
    }
}
