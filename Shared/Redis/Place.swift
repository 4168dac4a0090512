import Glibc

/// Where one Redis server listens.
struct Place: Sendable {
    /// An address of the operating system.
    let address: SocketAddress
    /// By which it was found: its certificate must be of this name.
    let name: String
}

/// An address of the operating system: a `sockaddr` of any family.
struct SocketAddress: Sendable, Equatable {
    let family: CInt
    let bytes: [UInt8]

    /// All addresses of a name.
    ///
    /// Blocks, for as long as the resolver is patient.
    ///
    /// - Throws: `RedisError` with `lost`, in the resolver's words.
    static func all(of name: String, port: UInt16) throws(RedisError) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(name, String(port), &hints, &list)
        guard status == 0 else { throw RedisError(.lost, String(cString: gai_strerror(status))) }
        defer { freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee {
            let raw = UnsafeRawBufferPointer(start: entry.ai_addr, count: Int(entry.ai_addrlen))
            found.append(SocketAddress(family: entry.ai_family, bytes: Array(raw)))
            next = entry.ai_next
        }
        return found
    }

    /// Begins to connect a new socket that does not block.
    ///
    /// - Returns: The descriptor.
    /// - Throws: `RedisError` with `lost`.
    func connect() throws(RedisError) -> CInt {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(self.family, kind, 0)
        guard descriptor >= 0 else { throw RedisError(.lost, String(cString: strerror(errno))) }
        for (level, option) in [(CInt(IPPROTO_TCP), TCP_NODELAY), (SOL_SOCKET, SO_KEEPALIVE)] {
            var yes: CInt = 1
            setsockopt(descriptor, level, option, &yes, socklen_t(MemoryLayout<CInt>.size))
        }
        let status = self.bytes.withUnsafeBytes { raw in
            raw.baseAddress.map {
                Glibc.connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
            } ?? -1
        }
        guard status == 0 || errno == EINPROGRESS else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw RedisError(.lost, reason)
        }
        return descriptor
    }
}
