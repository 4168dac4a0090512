import ArgumentParser
import ContractGate
import DevSuite
import Foundation
import Messaging

/// `transfactl topology users`.
struct TopologyUsers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Makes the users that services log in to the broker as, each with the rights that it needs.",
        discussion: """
            Needs RABBITMQ_MANAGEMENT_URL of an administrator, RABBITMQ_URL, whose virtual host is meant, and a password per \
            user: AUTH_BROKER_PASSWORD and so on for each service, TOPOLOGY_BROKER_PASSWORD, POLICIES_BROKER_PASSWORD, \
            OBSERVER_BROKER_PASSWORD. Repeatable; run it before a version that publishes, hears or declares something \
            new: the rights follow the catalogue of this one.
            """
    )

    @OptionGroup var show: ShowOptions

    @Option(help: "What the names of the users begin with.")
    var prefix = "transfa-"

    @Flag(help: "Only shows the rights.")
    var look = false

    func run() async throws {
        try await self.show.run { output throws(Failure) in
            for user in BrokerUser.all where self.look { output.item(self.node(of: user), text: self.text(of: user)) }
            guard !self.look else { return .success }
            let passwords = try Self.passwords()
            try await Broker.with { broker throws(Failure) in
                let known = try await broker.userNames()
                for (user, password) in passwords {
                    try await broker.make(user, called: self.prefix + user.name, password: password, known: known)
                    output.item(self.node(of: user), text: "\(self.prefix)\(user.name) is there")
                }
            }
            return .success
        }
    }

    private static func passwords() throws(Failure) -> [(BrokerUser, String)] {
        var found: [(BrokerUser, String)] = []
        for user in BrokerUser.all {
            let name = "\(user.name.uppercased())_BROKER_PASSWORD"
            guard let password = ProcessInfo.processInfo.environment[name], !password.isEmpty else {
                throw Failure("\(name) is missing.")
            }
            found.append((user, password))
        }
        return found
    }

    private func node(of user: BrokerUser) -> JSONNode {
        let rights = user.rights
        return [
            "kind": "user", "name": .text(self.prefix + user.name), "tags": .text(user.tags),
            "configure": .text(rights.configure), "write": .text(rights.write), "read": .text(rights.read),
            "keys": .text(rights.keys),
        ]
    }

    private func text(of user: BrokerUser) -> String {
        let rights = user.rights
        return """
            \(self.prefix)\(user.name) \(user.tags)
              configure \(rights.configure)
              write     \(rights.write)
              read      \(rights.read)
              keys      \(rights.keys)
            """
    }
}

extension SuiteDriver {
    /// Makes the users that a prepared suite logs in to the broker as: a broker that was emptied has none of them.
    func makeBrokerUsers() async throws(Failure) {
        let (administrator, addresses) = try await self.acting { try $0.brokerAddresses() }
        var passwords: [String: String] = [:]
        for address in addresses {
            guard let parts = URLComponents(string: address), let name = parts.user else { continue }
            passwords[name] = parts.password
        }
        let found = passwords
        try await Broker.with(administrator) { broker throws(Failure) in
            let known = try await broker.userNames()
            for user in BrokerUser.all {
                let name = SuiteDriver.brokerUsers + user.name
                guard let password = found[name] else { continue }
                try await broker.make(user, called: name, password: password, known: known)
            }
        }
    }
}
