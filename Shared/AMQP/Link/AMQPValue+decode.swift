import CRabbitMQ

extension AMQPValue {
    /// Deeper tables than the broker itself ever makes are left out.
    private static let maximumDepth = 8

    /// Copies a table of the library.
    ///
    /// Kinds that we have no case for (void, decimal) are left out.
    static func decode(_ table: amqp_table_t, depth: Int = 0) -> [String: AMQPValue] {
        guard let entries = table.entries, table.num_entries > 0, depth < Self.maximumDepth else { return [:] }
        var values: [String: AMQPValue] = [:]
        values.reserveCapacity(Int(table.num_entries))
        for entry in UnsafeBufferPointer(start: entries, count: Int(table.num_entries)) {
            guard let value = AMQPValue(entry.value, depth: depth) else { continue }
            values[entry.key.text] = value
        }
        return values
    }

    private init?(_ field: amqp_field_value_t, depth: Int) {
        switch amqp_field_value_kind_t(UInt32(field.kind)) {
        case AMQP_FIELD_KIND_UTF8: self = .string(field.value.bytes.text)
        case AMQP_FIELD_KIND_BYTES: self = .bytes(field.value.bytes.array)
        case AMQP_FIELD_KIND_BOOLEAN: self = .bool(field.value.boolean != 0)
        case AMQP_FIELD_KIND_TIMESTAMP: self = .timestamp(field.value.u64)
        case AMQP_FIELD_KIND_F32: self = .double(Double(field.value.f32))
        case AMQP_FIELD_KIND_F64: self = .double(field.value.f64)
        case AMQP_FIELD_KIND_TABLE: self = .table(Self.decode(field.value.table, depth: depth + 1))
        case AMQP_FIELD_KIND_ARRAY: self = .list(Self.decode(field.value.array, depth: depth + 1))
        default:
            guard let number = Self.integer(field) else { return nil }
            self = .int64(number)
        }
    }

    private static func decode(_ array: amqp_array_t, depth: Int) -> [AMQPValue] {
        guard let entries = array.entries, array.num_entries > 0, depth < Self.maximumDepth else { return [] }
        return UnsafeBufferPointer(start: entries, count: Int(array.num_entries)).compactMap {
            AMQPValue($0, depth: depth)
        }
    }

    private static func integer(_ field: amqp_field_value_t) -> Int64? {
        switch amqp_field_value_kind_t(UInt32(field.kind)) {
        case AMQP_FIELD_KIND_I8: Int64(field.value.i8)
        case AMQP_FIELD_KIND_U8: Int64(field.value.u8)
        case AMQP_FIELD_KIND_I16: Int64(field.value.i16)
        case AMQP_FIELD_KIND_U16: Int64(field.value.u16)
        case AMQP_FIELD_KIND_I32: Int64(field.value.i32)
        case AMQP_FIELD_KIND_U32: Int64(field.value.u32)
        case AMQP_FIELD_KIND_I64: field.value.i64
        case AMQP_FIELD_KIND_U64: Int64(bitPattern: field.value.u64)
        default: nil
        }
    }
}

extension amqp_bytes_t {
    private var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: self.bytes, count: self.len) }

    /// A copy, bytes that are not UTF-8 replaced.
    var text: String { String(decoding: self.buffer, as: UTF8.self) }

    /// A copy.
    var array: [UInt8] { Array(self.buffer) }
}
