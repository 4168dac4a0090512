import Contracts

/// Who can be called.
enum Destination: Hashable, Sendable {
    /// What clients see.
    case service(ServiceName)
    /// What peers and operators see.
    case internalPort(ServiceName)
    /// The stand-in for the outside world.
    case sandbox

    /// The variables of all that can be called.
    static let variables = Set(
        (ServiceName.allCases.flatMap { [Destination.service($0), .internalPort($0)] } + [.sandbox]).map(\.variable)
    )

    /// The environment variable with its address.
    var variable: String {
        switch self {
        case .service(let service): "\(service.rawValue.uppercased())_URL"
        case .internalPort(let service): "\(service.rawValue.uppercased())_INTERNAL_URL"
        case .sandbox: "SANDBOX_URL"
        }
    }

    /// Whether the gateway has it.
    var isPublic: Bool {
        if case .service = self { true } else { false }
    }

    /// What people call it.
    var name: String {
        switch self {
        case .service(let service): service.rawValue
        case .internalPort(let service): "\(service.rawValue)-internal"
        case .sandbox: "sandbox"
        }
    }
}
