/// A position in a W3C trace: which trace, which span, and whether it is sampled.
public struct TraceContext: Hashable, Sendable {
    /// The first half of the trace id.
    public let traceHigh: UInt64
    /// The second half of the trace id.
    public let traceLow: UInt64
    /// The span that is current.
    public let span: UInt64
    /// The flags byte; bit 0 says sampled.
    public let flags: UInt8

    /// Puts a position together; zero for trace or span is none that the standard knows.
    public init(traceHigh: UInt64, traceLow: UInt64, span: UInt64, flags: UInt8) {
        self.traceHigh = traceHigh
        self.traceLow = traceLow
        self.span = span
        self.flags = flags
    }

    /// A new trace with its first span.
    public static func root() -> TraceContext {
        var generator = SystemRandomNumberGenerator()
        return TraceContext(
            traceHigh: generator.next(),
            traceLow: UInt64.random(in: 1...UInt64.max, using: &generator),
            span: UInt64.random(in: 1...UInt64.max, using: &generator),
            flags: 1
        )
    }

    /// A new span in the same trace.
    public func child() -> TraceContext {
        TraceContext(
            traceHigh: self.traceHigh,
            traceLow: self.traceLow,
            span: UInt64.random(in: 1...UInt64.max),
            flags: self.flags
        )
    }

    /// Reads a `traceparent` header; nil if it is not one, as the standard asks (then a new trace begins).
    public static func parse(_ text: some StringProtocol) -> TraceContext? {
        let bytes = Array(text.utf8)
        let dash = UInt8(ascii: "-")
        guard bytes.count >= 55, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash else { return nil }
        guard let version = Self.number(bytes[0..<2]), version != 0xff else { return nil }
        // Version 00 has exactly this length; later ones may only append after another dash.
        guard bytes.count == 55 || (version > 0 && bytes[55] == dash) else { return nil }
        guard
            let high = Self.number(bytes[3..<19]), let low = Self.number(bytes[19..<35]),
            let span = Self.number(bytes[36..<52]), let flags = Self.number(bytes[53..<55]),
            high | low != 0, span != 0
        else { return nil }
        return TraceContext(traceHigh: high, traceLow: low, span: span, flags: UInt8(flags))
    }

    /// The `traceparent` header of version 00.
    public var text: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(55)
        let dash = UInt8(ascii: "-")
        Self.append(0, digits: 2, to: &bytes)
        bytes.append(dash)
        Self.append(self.traceHigh, digits: 16, to: &bytes)
        Self.append(self.traceLow, digits: 16, to: &bytes)
        bytes.append(dash)
        Self.append(self.span, digits: 16, to: &bytes)
        bytes.append(dash)
        Self.append(UInt64(self.flags), digits: 2, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The trace id as 32 hexadecimal digits.
    public var traceID: String {
        var bytes: [UInt8] = []
        Self.append(self.traceHigh, digits: 16, to: &bytes)
        Self.append(self.traceLow, digits: 16, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The span id as 16 hexadecimal digits.
    public var spanID: String {
        var bytes: [UInt8] = []
        Self.append(self.span, digits: 16, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether spans of the trace are worth keeping.
    public var isSampled: Bool { self.flags & 1 == 1 }

    private static func append(_ value: UInt64, digits: Int, to bytes: inout [UInt8]) {
        for digit in (0..<digits).reversed() {
            let nibble = UInt8(truncatingIfNeeded: value >> UInt64(digit * 4)) & 0xf
            bytes.append(nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10)
        }
    }

    /// Lower-case digits only: the standard refuses upper case.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return value
    }
}

extension TraceContext: CustomStringConvertible {
    /// The `traceparent` text.
    public var description: String { self.text }
}
