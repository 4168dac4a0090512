/// Opens links to one address after the other and remembers where it is in the round.
struct LinkOpener {
    let configuration: AMQPConfiguration
    let name: String
    let callGuard: CallGuard
    private var hosts: HostRotation

    init(_ configuration: AMQPConfiguration, role: String, _ callGuard: CallGuard) {
        self.configuration = configuration
        self.name = "\(configuration.connectionName) \(role)"
        self.callGuard = callGuard
        self.hosts = HostRotation(configuration.hosts)
    }

    /// Tries every address once.
    ///
    /// - Throws: The error of the last address.
    mutating func open() throws(AMQPError) -> Link {
        var failure = AMQPError(.invalidConfiguration, "no address of the broker")
        for _ in 0..<self.hosts.count {
            do throws(AMQPError) {
                let link = try Link.open(self.hosts.next(), self.configuration, name: self.name, self.callGuard)
                try link.openChannel()
                return link
            } catch {
                failure = error
            }
        }
        throw failure
    }
}
