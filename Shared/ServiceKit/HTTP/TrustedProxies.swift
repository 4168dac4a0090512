import HTTPTypes

/// Whose `X-Forwarded-For`, `X-Request-Id` and `traceparent` are believed.
///
/// The first is read from its end, for each proxy adds the address that it saw: the first one that is not a proxy of
/// ours is the client. Whatever stands before it was written by the client and means nothing. Without trusted proxies
/// the header is not looked at.
public struct TrustedProxies: Sendable {
    private struct Network: Sendable {
        let address: ClientAddress
        /// Of 128 bits.
        let prefix: Int

        func contains(_ other: ClientAddress) -> Bool {
            let high = Self.mask(min(self.prefix, 64))
            let low = Self.mask(max(self.prefix - 64, 0))
            return self.address.high & high == other.high & high && self.address.low & low == other.low & low
        }

        private static func mask(_ bits: Int) -> UInt64 { bits == 0 ? 0 : ~0 << (64 - UInt64(bits)) }
    }

    /// More proxies in a row than anybody has.
    private static let maximumHops = 16

    private let networks: [Network]

    /// Believes nobody.
    public static let none = TrustedProxies(networks: [])

    private init(networks: [Network]) {
        self.networks = networks
    }

    /// Reads `TRUSTED_PROXIES`.
    public init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        var networks: [Network] = []
        for text in try reader.list(.trustedProxies) {
            guard let network = Self.network(text) else {
                throw SettingsReader.problem(.trustedProxies, "must be addresses or networks such as 10.0.0.0/8")
            }
            networks.append(network)
        }
        self.networks = networks
    }

    private static func network(_ text: String) -> Network? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, let address = ClientAddress(text: first), parts.count <= 2 else { return nil }
        let width = address.isIPv4 ? 32 : 128
        guard parts.count == 2 else { return Network(address: address, prefix: 128) }
        guard let length = Int(parts[1]), (0...width).contains(length) else { return nil }
        return Network(address: address, prefix: 128 - width + length)
    }

    func contains(_ address: ClientAddress) -> Bool { self.networks.contains { $0.contains(address) } }

    /// Whether a connection is one of our own proxies'.
    func trusts(_ peer: ClientAddress?) -> Bool { peer.map { self.contains($0) } ?? false }

    /// Who sends a request that came from `peer`.
    func client(peer: ClientAddress?, headers: HTTPFields) -> ClientAddress? {
        guard !self.networks.isEmpty, let peer, self.contains(peer) else { return peer }
        var client = peer
        let hops = headers[values: .xForwardedFor].flatMap { $0.split(separator: ",") }.reversed()
        for hop in hops.prefix(Self.maximumHops) {
            // What is no address was not written by a proxy of ours: the last one that was is as near as we get.
            guard let address = ClientAddress(text: hop) else { return client }
            client = address
            guard self.contains(address) else { return client }
        }
        return client
    }
}

extension HTTPField.Name {
    static let xForwardedFor = HTTPField.Name("X-Forwarded-For").unsafelyNamed
}
