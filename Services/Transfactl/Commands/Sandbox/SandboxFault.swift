import ArgumentParser
import ContractGate

/// `transfactl sandbox fault <fault>`.
struct SandboxFault: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault",
        abstract: "Lets the next calls of the provider go wrong, or everything go right again.",
        discussion: """
            Faults: delay=MS, status=CODE (not handled), status-after=CODE (handled), drop-before, drop-after (handled, then \
            the connection is closed), late-commit=MS. `transfactl sandbox fault none` takes all of them back.
            """
    )

    private static let none = "none"
    private static let path = "/sandbox/faults"

    @OptionGroup var show: ShowOptions

    @Argument(help: "What goes wrong, such as status=503; none: nothing any more.")
    var fault: String

    @Option(help: "Only calls of this method.")
    var method: String?

    @Option(help: "Only calls whose path begins so, such as /api/v1/transfers.")
    var path: String?

    @Option(help: "How many calls.")
    var count = 1

    private struct Order: Encodable {
        let fault: String
        let method: String?
        let path: String?
        let count: Int
    }

    func validate() throws {
        guard (1...1_000_000).contains(self.count) else { throw ValidationError("--count is from 1 to 1000000") }
        let known = /^(none|(delay|late-commit)=\d{1,7}|status(-after)?=\d{3}|drop-before|drop-after)$/
        guard self.fault.contains(known) else {
            throw ValidationError(
                "a fault is delay=MS, status=CODE, status-after=CODE, drop-before, drop-after, "
                    + "late-commit=MS, or none"
            )
        }
    }

    func run() async throws {
        try await self.show.calling { caller, output throws(Failure) in
            let isNone = self.fault == Self.none
            let order = Order(fault: self.fault, method: self.method, path: self.path, count: self.count)
            let call =
                isNone
                ? Call(destination: .sandbox, method: "DELETE", path: Self.path)
                : try Call.post(.sandbox, Self.path, order)
            _ = try await caller.send(call).expecting(isNone ? 200 : 201)
            let calls = self.count == 1 ? "the next call" : "the next \(self.count) calls"
            let text = isNone ? "nothing goes wrong any more" : "\(calls): \(self.fault)"
            output.item(["kind": "done", "text": .text(text)], text: text)
            return .success
        }
    }
}
