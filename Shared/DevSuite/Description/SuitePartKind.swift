import Contracts

/// What the parts of a suite are.
///
/// A new kind of part is a case here: its ports, its program and its settings follow from the compiler.
enum SuitePartKind: Equatable {
    /// Plays the world outside.
    case sandbox
    /// Speaks TLS and HTTP/2 before the sandbox's push service, as Apple does.
    case apple
    case service(ServiceName)
    /// The one address for everybody, before all services.
    case gateway
    /// A console that takes events of others. Its archive is that of the other console.
    case importer

    /// In the order in which they are listed.
    static func all(_ choices: SuiteChoices) -> [SuitePartKind] {
        ServiceName.allCases.map(SuitePartKind.service) + [.sandbox, .apple]
            + (choices.hasGateway ? [.gateway] : []) + (choices.hasImporter ? [.importer] : [])
    }

    var name: String {
        switch self {
        case .sandbox: SuiteGround.sandbox
        case .apple: SuiteGround.apple
        case .gateway: SuiteGround.gateway
        case .service(let service): service.rawValue
        case .importer: "importer"
        }
    }

    /// The sandbox stands in for what services ask when they start; the importer reads what the other console writes; the
    /// gateway answers for services that are ready.
    var stage: Int {
        switch self {
        case .sandbox, .apple: 0
        case .service: 1
        case .importer, .gateway: 2
        }
    }

    /// The executable: a name in the folder of the executables, or a path.
    var program: String {
        switch self {
        case .sandbox, .service: self.name
        case .apple, .gateway: "/usr/sbin/haproxy"
        case .importer: ServiceName.console.rawValue
        }
    }

    /// What the executable is started with: what ships reads all from its settings.
    func arguments(on ground: SuiteGround) -> [String] {
        switch self {
        case .sandbox, .service, .importer: []
        case .apple: ["-db", "-f", "\(ground.deploy)/apple/haproxy.cfg"]
        case .gateway: ["-db", "-f", "\(ground.deploy)/gateway/haproxy.cfg"]
        }
    }

    /// The names of the ports that it listens at.
    var portNames: [String] {
        switch self {
        case .sandbox: [self.name, Self.pushPort]
        case .apple: [self.name]
        case .service, .importer, .gateway: [self.name, self.internalPort]
        }
    }

    /// The name of the port for peers and operators, if it has one.
    var internalPort: String { "\(self.name)-internal" }

    /// The sandbox's port for pushes, without TLS.
    static let pushPort = "apns"

    /// The service whose database it uses and whose migrations it brings.
    var ownDatabase: String? {
        switch self {
        case .service(let service): service.rawValue
        case .sandbox, .apple, .gateway, .importer: nil
        }
    }

    /// Whether it is a program of ours: no other knows the suite's addresses and secrets.
    var isOurs: Bool { self != .apple && self != .gateway }
}
