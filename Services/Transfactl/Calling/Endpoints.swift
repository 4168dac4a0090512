/// Where everything answers, and the token for the internal ports.
struct Endpoints: Sendable {
    private static let tokenVariable = "INTERNAL_TOKEN"

    let internalToken: String
    private let addresses: [Destination: String]

    /// Reads `<SERVICE>_URL`, `<SERVICE>_INTERNAL_URL`, `SANDBOX_URL` and `INTERNAL_TOKEN`.
    init(environment: [String: String]) throws(Failure) {
        var addresses: [Destination: String] = [:]
        for destination in Destination.all {
            let address = try Self.value(destination.variable, environment)
            addresses[destination] = address.hasSuffix("/") ? String(address.dropLast()) : address
        }
        self.addresses = addresses
        self.internalToken = try Self.value(Self.tokenVariable, environment)
    }

    /// The address without a slash at its end.
    func address(of destination: Destination) -> String {
        guard let address = self.addresses[destination] else {
            preconditionFailure("every destination was read from the environment")
        }
        return address
    }

    private static func value(_ name: String, _ environment: [String: String]) throws(Failure) -> String {
        guard let value = environment[name], !value.isEmpty else {
            throw Failure("The environment variable \(name) is missing; scripts/run writes it to .run/transfactl.env.")
        }
        return value
    }
}
