import Foundation

/// The parts of a URL that say how exposed a wire is; several hosts are allowed.
struct ServerAddress: Sendable {
    let scheme: String
    let user: String?
    let password: String?
    /// Without ports, in lower case.
    let hosts: [String]
    let parameters: [String: String]

    /// Nil when it has no host.
    init?(_ url: String) {
        guard let mark = url.range(of: "://") else { return nil }
        self.scheme = url[..<mark.lowerBound].lowercased()
        let rest = url[mark.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let query = rest.dropFirst(authority.count).drop { $0 != "?" }.dropFirst().prefix { $0 != "#" }
        var parameters: [String: String] = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            parameters[parts[0]] = parts.count == 2 ? parts[1].removingPercentEncoding : ""
        }
        self.parameters = parameters
        let at = authority.lastIndex(of: "@")
        let credentials = at.map { authority[..<$0] } ?? ""
        let parts = credentials.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map { String($0).removingPercentEncoding ?? String($0) }
        self.user = parts.first.flatMap { $0.isEmpty ? nil : $0 }
        self.password = parts.count == 2 && !parts[1].isEmpty ? parts[1] : nil
        let places = at.map { authority[authority.index(after: $0)...] } ?? authority
        self.hosts = places.split(separator: ",").map { Self.host(of: $0) }
        guard !self.hosts.isEmpty, !self.hosts.contains("") else { return nil }
    }

    private static func host(of place: Substring) -> String {
        if place.hasPrefix("["), let end = place.firstIndex(of: "]") {
            return place[place.index(after: place.startIndex)..<end].lowercased()
        }
        return place.prefix { $0 != ":" }.lowercased()
    }

    /// Whether nothing leaves this machine, and so no wire is listened to.
    var isThisMachine: Bool { self.hosts.allSatisfy(Self.isLoopback) }

    /// Whether it can only be inside: this machine, a name without a domain, names that are inside by convention, and
    /// private addresses.
    var isOurNetwork: Bool { self.hosts.allSatisfy { Self.isLoopback($0) || Self.isInside($0) } }

    /// Whether it leads to something that only plays the world.
    var namesSandbox: Bool {
        self.hosts.contains { host in
            host.split(separator: ".").contains { $0 == "sandbox" } || host.hasSuffix(".clerk.accounts.dev")
        }
    }

    /// Whether nobody outside can be there: names that are kept for documents and tests (RFC 2606), this machine, and names
    /// without a domain.
    var isInvented: Bool {
        self.hosts.contains { host in
            let labels = host.split(separator: ".")
            return Self.isLoopback(host) || labels.count < 2 && !host.contains(":")
                || ["test", "example", "invalid", "localhost"].contains(labels.last ?? "")
                || labels.count >= 2 && labels[labels.count - 2] == "example"
        }
    }

    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && Self.octets(host) != nil)
    }

    private static func isInside(_ host: String) -> Bool {
        if let octets = Self.octets(host) {
            return octets[0] == 10 || octets[0] == 192 && octets[1] == 168
                || octets[0] == 172 && (16...31).contains(octets[1])
        }
        if host.contains(":") { return host.hasPrefix("fc") || host.hasPrefix("fd") }
        return !host.contains(".") || [".svc", ".cluster.local", ".internal"].contains { host.hasSuffix($0) }
    }

    private static func octets(_ host: String) -> [UInt8]? {
        let octets = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return octets.count == 4 && !octets.contains(nil) ? octets.compactMap { $0 } : nil
    }
}
