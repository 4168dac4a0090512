public import Foundation
import Glibc

/// Time-ordered ids (RFC 9562 version 7): milliseconds, a 12-bit counter, 62 random bits.
///
/// Ids of one source strictly ascend, also when the clock stands still or goes back a little. A clock that goes back by
/// more was wrong before, and ids follow it: else all of them would claim the wrong time for as long as it was ahead. Keep
/// one source per process.
public final class UUIDv7Source: IdentifierSource, @unchecked Sendable {
    // Sendable: everything mutable is only touched inside `lock`.
    private let clock: any TimeSource
    private let lock = NSLock()
    /// Milliseconds and counter of the newest id, as one number of 60 bits.
    private var newest: UInt64 = 0
    private var randomness: [UInt64] = []

    /// `getentropy` gives at most 256 bytes at a time.
    private static let blockSize = 32
    private static let counterBits: UInt64 = 12
    /// So far, in milliseconds, a clock may go back and ids still ascend.
    private static let smallStep: UInt64 = 10_000

    /// Makes a source that reads the time from `clock`.
    public init(clock: any TimeSource = SystemClock()) { self.clock = clock }

    /// The next id.
    public func next() -> UUID {
        let milliseconds = UInt64(max(0, self.clock.now.millisecondsSince1970))
        return self.lock.withLock { self.make(at: milliseconds) }
    }

    private func make(at milliseconds: UInt64) -> UUID {
        let newest = self.newest >> Self.counterBits
        if milliseconds > newest || milliseconds + Self.smallStep < newest {
            // A random start makes ids of several processes hard to guess; its top bit is left free for counting.
            self.newest = milliseconds << Self.counterBits | self.draw() & 0x7ff
        } else {
            // A full counter carries into the milliseconds: the source runs ahead rather than repeat or wait.
            self.newest += 1
        }
        let time = self.newest >> Self.counterBits
        let high = time << 16 | 0x7000 | self.newest & 0xfff
        let low = self.draw() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
        return UUID(high: high, low: low)
    }

    /// One system call for 32 numbers: asking the kernel for each costs more than everything else here.
    private func draw() -> UInt64 {
        if let number = self.randomness.popLast() { return number }
        self.randomness = Array(repeating: 0, count: Self.blockSize)
        let status = unsafe self.randomness.withUnsafeMutableBytes { block in
            // Safe: fills exactly the buffer, which lives through the call.
            unsafe getentropy(block.baseAddress, block.count)
        }
        precondition(status == 0, "the kernel gives no randomness: errno \(errno)")
        return self.randomness.removeLast()
    }
}

extension UUID {
    fileprivate init(high: UInt64, low: UInt64) {
        self = unsafe unsafeBitCast((high.bigEndian, low.bigEndian), to: UUID.self)
    }
}
