/// The parts of a broker's URL.
///
/// Several hosts are not a URL in the sense of RFC 3986, hence a parser of our own.
struct AMQPURL {
    var isSecure = false
    var user = "guest"
    var password = "guest"
    var hosts: [AMQPConfiguration.Host] = []
    var virtualHost = "/"
    var parameters: [(name: String, value: String)] = []

    init(_ text: String) throws(AMQPError) {
        var rest = try self.takeScheme(text[...])
        if let mark = rest.firstIndex(of: "?") {
            try self.takeParameters(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let at = rest.lastIndex(of: "@") {
            try self.takeCredentials(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        if let slash = rest.firstIndex(of: "/") {
            self.virtualHost = try Self.decode(rest[rest.index(after: slash)...], what: "virtual host")
            rest = rest[..<slash]
        }
        for host in rest.split(separator: ",", omittingEmptySubsequences: false) {
            self.hosts.append(try Self.host(host, defaultPort: self.isSecure ? 5_671 : 5_672))
        }
    }

    private mutating func takeScheme(_ text: Substring) throws(AMQPError) -> Substring {
        if text.hasPrefix("amqp://") { return text.dropFirst("amqp://".count) }
        guard text.hasPrefix("amqps://") else {
            throw AMQPError(.invalidConfiguration, "the broker's URL must begin with amqp:// or amqps://")
        }
        self.isSecure = true
        return text.dropFirst("amqps://".count)
    }

    private mutating func takeCredentials(_ text: Substring) throws(AMQPError) {
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        self.user = try Self.decode(text[..<colon], what: "user")
        guard colon < text.endIndex else { return }
        self.password = try Self.decode(text[text.index(after: colon)...], what: "password")
    }

    private mutating func takeParameters(_ text: Substring) throws(AMQPError) {
        for parameter in text.split(separator: "&") {
            guard let equals = parameter.firstIndex(of: "=") else {
                throw AMQPError(.invalidConfiguration, "parameter \(parameter) of the broker's URL has no value")
            }
            let name = String(parameter[..<equals])
            let value = try Self.decode(parameter[parameter.index(after: equals)...], what: name)
            self.parameters.append((name, value))
        }
    }

    private static func host(_ text: Substring, defaultPort: UInt16) throws(AMQPError) -> AMQPConfiguration.Host {
        var name = text
        var port: UInt16? = defaultPort
        // An IPv6 address stands in brackets because it has colons of its own.
        let afterAddress = text.firstIndex(of: "]") ?? text.startIndex
        if let colon = text[afterAddress...].firstIndex(of: ":") {
            name = text[..<colon]
            port = UInt16(text[text.index(after: colon)...])
        }
        if name.hasPrefix("[") && name.hasSuffix("]") { name = name.dropFirst().dropLast() }
        guard let port, port > 0, !name.isEmpty else {
            throw AMQPError(.invalidConfiguration, "the broker's URL has a host without a name or with a bad port")
        }
        return AMQPConfiguration.Host(name: String(name), port: port)
    }

    private static func decode(_ text: Substring, what: String) throws(AMQPError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let decoded = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else {
                throw AMQPError(.invalidConfiguration, "the \(what) in the broker's URL is badly percent-encoded")
            }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        // A zero byte would cut the C strings that these become.
        guard let decoded = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw AMQPError(.invalidConfiguration, "the \(what) in the broker's URL is not text")
        }
        return decoded
    }
}
