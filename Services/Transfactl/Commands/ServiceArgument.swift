import ArgumentParser
import Contracts

/// A service on the command line, as it is called; completions and errors list them.
struct ServiceArgument: ExpressibleByArgument {
    let name: ServiceName

    static let allValueStrings = ServiceName.allCases.map(\.rawValue)

    init?(argument: String) {
        guard let name = ServiceName(rawValue: argument) else { return nil }
        self.name = name
    }
}

extension [ServiceArgument] {
    /// The named ones; all services when none is named.
    var orAll: [ServiceName] { self.isEmpty ? ServiceName.allCases : self.map(\.name) }
}
