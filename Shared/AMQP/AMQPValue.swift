/// A value in message headers or in arguments.
///
/// Streams keep only scalars: a list or a table is dropped there.
public indirect enum AMQPValue: Sendable, Hashable {
    /// UTF-8 text.
    case string(String)
    /// Any of the protocol's integers.
    case int64(Int64)
    /// True or false.
    case bool(Bool)
    /// Seconds since 1970.
    case timestamp(UInt64)
    /// Raw bytes.
    case bytes([UInt8])
    /// A floating point number.
    case double(Double)
    /// Values in order, such as `x-death`.
    case list([AMQPValue])
    /// Values by name.
    case table([String: AMQPValue])

    /// The text, when it is text.
    public var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The number, when it is an integer.
    public var int64: Int64? {
        guard case .int64(let value) = self else { return nil }
        return value
    }
}
