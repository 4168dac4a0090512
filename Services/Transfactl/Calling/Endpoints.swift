import Foundation

/// Where everything answers, and the token for the internal ports.
struct Endpoints: Sendable {
    private static let tokenVariable = "INTERNAL_TOKEN"
    /// The address of all services.
    private static let gatewayVariable = "GATEWAY_URL"

    private let environment: [String: String]

    /// Reads `GATEWAY_URL`, or `<SERVICE>_URL` for one that has an address of its own, `<SERVICE>_INTERNAL_URL`,
    /// `SANDBOX_URL` and `INTERNAL_TOKEN`.
    ///
    /// What is missing is missed when it is needed; an address that is none is refused at once.
    init(environment: [String: String]) throws(Failure) {
        for (name, value) in environment where Self.isAddress(name) {
            guard value.isEmpty || value.hasPrefix("http://") || value.hasPrefix("https://") else {
                throw Failure(
                    "The environment variable \(name) is no address: it begins with neither http:// nor https://."
                )
            }
        }
        self.environment = environment
    }

    /// What the internal ports ask for: the first of several, as services have them while one is being replaced.
    var internalToken: String {
        get throws(Failure) {
            let first = try self.value(Self.tokenVariable).split(separator: ",").first
            return String(first ?? "").trimmingCharacters(in: .whitespaces)
        }
    }

    /// The address without a slash at its end.
    func address(of destination: Destination) throws(Failure) -> String {
        let own = destination.variable
        let address = try self.value(destination.isPublic && !self.knows(destination) ? Self.gatewayVariable : own)
        return address.hasSuffix("/") ? String(address.dropLast()) : address
    }

    /// Whether there is an address: not everybody runs a sandbox.
    func knows(_ destination: Destination) -> Bool { self.environment[destination.variable]?.isEmpty == false }

    private static func isAddress(_ name: String) -> Bool {
        name == Self.gatewayVariable || name.hasSuffix("_URL") && Destination.variables.contains(name)
    }

    private func value(_ name: String) throws(Failure) -> String {
        guard let value = self.environment[name], !value.isEmpty else {
            throw Failure("The environment variable \(name) is missing; scripts/run writes it to .run/transfactl.env.")
        }
        return value
    }
}
