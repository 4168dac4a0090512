import ArgumentParser

/// Who acts and why, as every command wants to know that changes something.
struct OperatorOptions: ParsableArguments {
    @Option(name: .customLong("operator"), help: "Who acts: 1 to 64 visible characters. It stands in the audit.")
    var name: String

    @Option(help: "Why, in one line. It stands in the audit.")
    var reason: String

    /// The body of an act that needs no more.
    var order: ReasonOrder { ReasonOrder(reason: self.reason) }
}

/// A body with nothing but the reason.
struct ReasonOrder: Encodable {
    let reason: String
}

extension Call {
    /// The call in an operator's name.
    func inName(of operatorName: String) -> Call { self.adding("Transfa-Operator", operatorName) }
}
