public import Foundation

extension UUID {
    /// The 16 bytes.
    public var bytes: [UInt8] { unsafe withUnsafeBytes(of: self.uuid) { unsafe Array($0) } }

    /// The text form in lower case; several times faster than `uuidString.lowercased()`.
    public var lowercased: String {
        // Safe: `raw` covers exactly the 16 bytes of the tuple, and 36 bytes are written into a capacity of 36.
        unsafe withUnsafeBytes(of: self.uuid) { raw in
            unsafe String(unsafeUninitializedCapacity: 36) { text in
                var position = 0
                for index in 0..<16 {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        unsafe text[position] = UInt8(ascii: "-")
                        position += 1
                    }
                    unsafe text[position] = Hex.digit(raw[index] >> 4)
                    unsafe text[position + 1] = Hex.digit(raw[index] & 15)
                    position += 2
                }
                return position
            }
        }
    }

    /// Makes an id from 16 bytes, nil for any other number.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        var value: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        unsafe withUnsafeMutableBytes(of: &value) { unsafe $0.copyBytes(from: bytes) }
        self.init(uuid: value)
    }

    /// Reads the text form in either case, nil when it is none.
    public init?(text: some StringProtocol) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        var high: UInt8?
        var position = 0
        for unit in text.utf8 {
            let isDash = position == 8 || position == 13 || position == 18 || position == 23
            position += 1
            if isDash {
                guard unit == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard position <= 36, let digit = Hex.value(unit) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        guard position == 36 else { return nil }
        self.init(bytes: bytes)
    }
}
