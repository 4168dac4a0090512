import COpenSSL

/// A secret that both sides have.
///
/// Its bytes are wiped when nobody holds it any more.
public struct SymmetricKey: Sendable {
    private let storage: Storage

    /// A key of these bytes.
    public init(data: some Collection<UInt8>) {
        self.storage = Storage(count: data.count)
        data.withPiece { self.storage.bytes.copyMemory(from: UnsafeRawBufferPointer($0)) }
    }

    /// A new key.
    public init(size: SymmetricKeySize) {
        self.storage = Storage(count: size.bitCount / 8)
        fillWithRandom(self.storage.bytes)
    }

    init<Failure: Error>(byteCount: Int, _ fill: (UnsafeMutablePointer<UInt8>) throws(Failure) -> Void) throws(Failure)
    {
        self.storage = Storage(count: byteCount)
        try fill(self.storage.start)
    }

    /// How long the key is.
    public var bitCount: Int { self.storage.bytes.count * 8 }

    /// A copy of the secret, which is the caller's to forget.
    public var bytes: [UInt8] { Array(self.storage.bytes) }

    func withBytes<Result>(_ body: (UnsafePointer<UInt8>, Int) -> Result) -> Result {
        withExtendedLifetime(self.storage) { body(UnsafePointer(self.storage.start), self.storage.bytes.count) }
    }

    private final class Storage: @unchecked Sendable {
        // Sendable: written by whoever makes it, before anybody else has it.
        let bytes: UnsafeMutableRawBufferPointer

        // A byte more than none, so that there is always an address.
        init(count: Int) {
            let place = UnsafeMutableRawPointer.allocate(byteCount: max(1, count), alignment: 16)
            self.bytes = UnsafeMutableRawBufferPointer(start: place, count: count)
        }

        deinit {
            OPENSSL_cleanse(self.bytes.baseAddress, self.bytes.count)
            self.bytes.baseAddress?.deallocate()
        }

        var start: UnsafeMutablePointer<UInt8> {
            guard let start = self.bytes.baseAddress else { preconditionFailure("a key has a place") }
            return start.assumingMemoryBound(to: UInt8.self)
        }
    }
}

extension SymmetricKey: Equatable {
    /// Whether both are the same key, in constant time.
    public static func == (one: SymmetricKey, other: SymmetricKey) -> Bool {
        one.withBytes { first, count in
            other.withBytes { second, otherCount in count == otherCount && CRYPTO_memcmp(first, second, count) == 0 }
        }
    }
}

extension SymmetricKey: CustomStringConvertible, CustomReflectable {
    /// A word instead of the secret.
    public var description: String { "SymmetricKey([redacted])" }
    /// No children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// How long a new key is.
public enum SymmetricKeySize: Sendable {
    case bits128, bits192, bits256

    var bitCount: Int {
        switch self {
        case .bits128: 128
        case .bits192: 192
        case .bits256: 256
        }
    }
}
