/// One command: its arguments end to end, and how long each is.
struct RedisCommand: Sendable {
    let bytes: [UInt8]
    let lengths: [Int]

    init(_ arguments: [String]) {
        var bytes: [UInt8] = []
        for argument in arguments { bytes.append(contentsOf: argument.utf8) }
        self.bytes = bytes
        self.lengths = arguments.map(\.utf8.count)
    }

    init(_ arguments: [[UInt8]]) {
        self.bytes = Array(arguments.joined())
        self.lengths = arguments.map(\.count)
    }

    /// Commands that change what the shared connection is, or to which hiredis does not answer once and in order.
    private static let refused: Set<String> = [
        "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE", "MONITOR", "SYNC",
        "PSYNC", "SELECT", "AUTH", "HELLO", "RESET", "QUIT",
    ]

    /// Why the command cannot be sent on a shared connection, nil when it can.
    var refusal: RedisError? {
        guard let first = self.lengths.first, first > 0 else { return RedisError(.invalid, "a command needs a name") }
        let name = String(decoding: self.bytes.prefix(first), as: UTF8.self).uppercased()
        if name == "CLIENT", self.lengths.count > 1 {
            let topic = String(decoding: self.bytes.dropFirst(first).prefix(self.lengths[1]), as: UTF8.self)
            if topic.uppercased() == "REPLY" { return RedisError(.invalid, "CLIENT REPLY would mix up the replies") }
        }
        guard Self.refused.contains(name) else { return nil }
        return RedisError(.invalid, "\(name) cannot be used on a shared connection")
    }

    /// Lends the arguments in the form that hiredis takes.
    func withArguments<Result>(
        _ body: (CInt, UnsafeMutablePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int>?) -> Result
    ) -> Result {
        self.bytes.withUnsafeBytes { flat in
            var offset = 0
            var pointers = self.lengths.map { length in
                defer { offset += length }
                return flat.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self)
            }
            return body(CInt(self.lengths.count), &pointers, self.lengths)
        }
    }
}
