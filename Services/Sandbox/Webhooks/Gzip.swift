/// Gzip without compression (stored blocks): enough to test that a receiver unpacks.
enum Gzip {
    static func pack(_ bytes: [UInt8]) -> [UInt8] {
        var packed: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
        let size = 0xFFFF
        let blocks = max(1, (bytes.count + size - 1) / size)
        for block in 0..<blocks {
            let part = bytes[(block * size)..<min(bytes.count, (block + 1) * size)]
            packed.append(block == blocks - 1 ? 1 : 0)
            packed.append(contentsOf: Self.littleEndian(UInt32(part.count)).prefix(2))
            packed.append(contentsOf: Self.littleEndian(~UInt32(part.count)).prefix(2))
            packed.append(contentsOf: part)
        }
        packed.append(contentsOf: Self.littleEndian(Self.checksum(bytes)))
        packed.append(contentsOf: Self.littleEndian(UInt32(truncatingIfNeeded: bytes.count)))
        return packed
    }

    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// CRC-32 of RFC 1952.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = ~UInt32(0)
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 {
                let isOdd = sum & 1 == 1
                sum >>= 1
                if isOdd { sum ^= 0xEDB8_8320 }
            }
        }
        return ~sum
    }
}
