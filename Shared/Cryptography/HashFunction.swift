import COpenSSL

/// A hash function of FIPS 180-4.
public protocol HashFunction: Sendable {
    /// What libcrypto computes it by.
    static var algorithm: HashAlgorithm { get }

    /// What was hashed so far.
    var hashed: HashState { get set }
    /// Takes over what was hashed so far.
    init(_ hashed: HashState)
}

/// What libcrypto computes a hash by; looked up once.
public struct HashAlgorithm: Sendable {
    let name: String
    let byteCount: Int
    fileprivate let algorithm: Algorithm

    fileprivate init(_ name: String, byteCount: Int) {
        self.name = name
        self.byteCount = byteCount
        self.algorithm = Algorithm(name, EVP_MD_fetch)
    }
}

extension HashFunction {
    /// Begins with nothing.
    public init() { self.init(HashState(Self.algorithm.algorithm)) }

    /// Bytes of a digest.
    public static var byteCount: Int { Self.algorithm.byteCount }

    /// How libcrypto calls it.
    static var name: String { Self.algorithm.name }

    /// The digest of one piece.
    public static func hash(data: some Collection<UInt8>) -> Digest<Self> {
        var function = Self()
        function.update(data: data)
        return function.finalize()
    }

    /// Goes on with more bytes.
    public mutating func update(data: some Collection<UInt8>) {
        self.hashed.makeUnique()
        data.withPiece { self.hashed.update($0) }
    }

    /// The digest of all bytes so far; more may follow.
    public func finalize() -> Digest<Self> {
        var copy = self.hashed
        copy.makeUnique()
        return Digest(bytes: copy.finish(Self.byteCount))
    }
}

/// What a hash function keeps between two pieces.
public struct HashState: @unchecked Sendable {
    // Sendable: a context that others hold is copied before it changes.
    private var context: Context

    fileprivate init(_ algorithm: Algorithm) {
        self.context = Context()
        let status = EVP_DigestInit_ex2(self.context.pointer, algorithm.pointer, nil)
        precondition(status == 1, "libcrypto cannot hash")
    }

    mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&self.context) { self.context = Context(copying: self.context) }
    }

    func update(_ bytes: UnsafeBufferPointer<UInt8>) {
        let status = EVP_DigestUpdate(self.context.pointer, bytes.baseAddress, bytes.count)
        precondition(status == 1, "libcrypto cannot hash")
    }

    func finish(_ byteCount: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { bytes, initialized in
            let status = EVP_DigestFinal_ex(self.context.pointer, bytes.baseAddress, nil)
            precondition(status == 1, "libcrypto cannot hash")
            initialized = byteCount
        }
    }

    private final class Context {
        let pointer: OpaquePointer

        init() {
            guard let pointer = EVP_MD_CTX_new() else { preconditionFailure("no memory") }
            self.pointer = pointer
        }

        convenience init(copying other: Context) {
            self.init()
            precondition(EVP_MD_CTX_copy_ex(self.pointer, other.pointer) == 1, "no memory")
        }

        deinit { EVP_MD_CTX_free(self.pointer) }
    }
}

/// SHA-256.
public struct SHA256: HashFunction {
    /// What libcrypto computes it by.
    public static let algorithm = HashAlgorithm("SHA256", byteCount: 32)

    /// What was hashed so far.
    public var hashed: HashState

    /// Takes over what was hashed so far.
    public init(_ hashed: HashState) { self.hashed = hashed }
}

/// SHA-384.
public struct SHA384: HashFunction {
    /// What libcrypto computes it by.
    public static let algorithm = HashAlgorithm("SHA384", byteCount: 48)

    /// What was hashed so far.
    public var hashed: HashState

    /// Takes over what was hashed so far.
    public init(_ hashed: HashState) { self.hashed = hashed }
}

/// SHA-512.
public struct SHA512: HashFunction {
    /// What libcrypto computes it by.
    public static let algorithm = HashAlgorithm("SHA512", byteCount: 64)

    /// What was hashed so far.
    public var hashed: HashState

    /// Takes over what was hashed so far.
    public init(_ hashed: HashState) { self.hashed = hashed }
}

/// What is broken and others still ask for.
public enum Insecure {
    /// SHA-1, of which collisions can be made.
    public struct SHA1: HashFunction {
        /// What libcrypto computes it by.
        public static let algorithm = HashAlgorithm("SHA1", byteCount: 20)

        /// What was hashed so far.
        public var hashed: HashState

        /// Takes over what was hashed so far.
        public init(_ hashed: HashState) { self.hashed = hashed }
    }
}

/// The bytes of a hash or of an authentication code.
///
/// Two are compared in constant time.
public struct Digest<Function: HashFunction>: RandomAccessCollection, Hashable, Sendable {
    let bytes: [UInt8]

    /// The first byte.
    public var startIndex: Int { 0 }
    /// Behind the last byte.
    public var endIndex: Int { self.bytes.count }

    /// A byte.
    public subscript(index: Int) -> UInt8 { self.bytes[index] }

    /// Whether both are the same, in constant time.
    public static func == (one: Digest, other: Digest) -> Bool { ConstantTime.equal(one.bytes, other.bytes) }

    /// Calls the body with the bytes.
    public func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        try self.bytes.withContiguousStorageIfAvailable(body)
    }
}
