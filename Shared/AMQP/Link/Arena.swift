import CRabbitMQ

/// Memory for the names and tables of one library call; `reset` gives all of it back at once.
final class Arena {
    private static let chunkSize = 16_384

    private var chunks: [UnsafeMutableRawBufferPointer] = []
    private var chunk = 0
    private var used = 0

    deinit {
        for chunk in self.chunks { chunk.deallocate() }
    }

    /// Forgets everything that was handed out, keeps the memory.
    func reset() {
        self.chunk = 0
        self.used = 0
    }

    func bytes(_ text: String) -> amqp_bytes_t {
        var text = text
        return text.withUTF8 { self.copy(UnsafeRawBufferPointer($0)) }
    }

    func bytes(_ bytes: [UInt8]) -> amqp_bytes_t { bytes.withUnsafeBytes { self.copy($0) } }

    func table(_ values: [String: AMQPValue]) -> amqp_table_t {
        guard !values.isEmpty else { return amqp_empty_table }
        let entries = self.allocate(values.count, of: amqp_table_entry_t.self)
        for (index, (key, value)) in values.enumerated() {
            let entry = amqp_table_entry_t(key: self.bytes(key), value: self.field(value))
            (entries + index).initialize(to: entry)
        }
        return amqp_table_t(num_entries: CInt(values.count), entries: entries)
    }

    private func field(_ value: AMQPValue) -> amqp_field_value_t {
        var field = amqp_field_value_t()
        switch value {
        case .string(let text): field.set(AMQP_FIELD_KIND_UTF8) { $0.bytes = self.bytes(text) }
        case .bytes(let bytes): field.set(AMQP_FIELD_KIND_BYTES) { $0.bytes = self.bytes(bytes) }
        case .int64(let number): field.set(AMQP_FIELD_KIND_I64) { $0.i64 = number }
        case .bool(let flag): field.set(AMQP_FIELD_KIND_BOOLEAN) { $0.boolean = flag ? 1 : 0 }
        case .timestamp(let seconds): field.set(AMQP_FIELD_KIND_TIMESTAMP) { $0.u64 = seconds }
        case .double(let number): field.set(AMQP_FIELD_KIND_F64) { $0.f64 = number }
        case .table(let values): field.set(AMQP_FIELD_KIND_TABLE) { $0.table = self.table(values) }
        case .list(let values):
            let entries = self.allocate(max(1, values.count), of: amqp_field_value_t.self)
            for (index, value) in values.enumerated() { (entries + index).initialize(to: self.field(value)) }
            field.set(AMQP_FIELD_KIND_ARRAY) {
                $0.array = amqp_array_t(num_entries: CInt(values.count), entries: entries)
            }
        }
        return field
    }

    private func copy(_ source: UnsafeRawBufferPointer) -> amqp_bytes_t {
        guard !source.isEmpty else { return amqp_empty_bytes }
        let memory = self.allocate(bytes: source.count, alignment: 1)
        memory.copyMemory(from: source)
        return amqp_bytes_t(len: source.count, bytes: memory.baseAddress)
    }

    private func allocate<Value>(_ count: Int, of type: Value.Type) -> UnsafeMutablePointer<Value> {
        let memory = self.allocate(bytes: count * MemoryLayout<Value>.stride, alignment: MemoryLayout<Value>.alignment)
        return memory.bindMemory(to: type).baseAddress ?? UnsafeMutablePointer<Value>.allocate(capacity: count)
    }

    /// Takes from the current chunk, or from the next one that is large enough.
    ///
    /// Memory that was handed out never moves.
    private func allocate(bytes: Int, alignment: Int) -> UnsafeMutableRawBufferPointer {
        while self.chunk < self.chunks.count {
            let start = (self.used + alignment - 1) / alignment * alignment
            if start + bytes <= self.chunks[self.chunk].count {
                self.used = start + bytes
                return UnsafeMutableRawBufferPointer(rebasing: self.chunks[self.chunk][start..<start + bytes])
            }
            self.chunk += 1
            self.used = 0
        }
        self.chunks.append(.allocate(byteCount: max(Self.chunkSize, bytes), alignment: 16))
        self.used = bytes
        return UnsafeMutableRawBufferPointer(rebasing: self.chunks[self.chunk][0..<bytes])
    }
}

extension amqp_field_value_t {
    fileprivate mutating func set(
        _ kind: amqp_field_value_kind_t,
        _ assign: (inout amqp_field_value_t.__Unnamed_union_value) -> Void
    ) {
        self.kind = UInt8(kind.rawValue)
        assign(&self.value)
    }
}
