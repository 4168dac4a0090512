import Cryptography
import Foundation
import Primitives

/// What a PIN hash costs: scrypt's numbers.
public struct ScryptParameters: Hashable, Sendable {
    /// The logarithm of N, 10 to 17.
    public let logN: Int
    /// r, 1 to 16.
    public let blockSize: Int
    /// p, 1 to 4.
    public let parallelism: Int

    /// About 30 ms and 16 MiB.
    public static let standard = ScryptParameters(uncheckedLogN: 14, blockSize: 8, parallelism: 1)

    /// Makes parameters, nil outside the bounds: a stored hash must not be able to ask for a gigabyte.
    public init?(logN: Int, blockSize: Int, parallelism: Int) {
        guard (10...17).contains(logN), (1...16).contains(blockSize), (1...4).contains(parallelism) else { return nil }
        self.init(uncheckedLogN: logN, blockSize: blockSize, parallelism: parallelism)
    }

    private init(uncheckedLogN logN: Int, blockSize: Int, parallelism: Int) {
        self.logN = logN
        self.blockSize = blockSize
        self.parallelism = parallelism
    }
}

/// A hash with everything needed to check a PIN against it, but the pepper.
///
/// Text form `scrypt$ln=14,r=8,p=1$<salt>$<hash>`, or `scrypt-pepper$...` when a pepper went in.
struct PINHash: Sendable {
    static let saltLength = 16
    static let hashLength = 32

    let parameters: ScryptParameters
    let isPeppered: Bool
    let salt: [UInt8]
    let hash: [UInt8]

    /// Hashes a PIN; blocks its thread for tens of milliseconds.
    static func make(
        _ pin: String,
        salt: [UInt8],
        parameters: ScryptParameters,
        pepper: DataKey?
    ) -> Result<PINHash, SealingError> {
        var password = Array(pin.utf8)
        if let pepper { password = Array(HMAC<SHA256>.authenticationCode(for: password, using: pepper.key)) }
        do {
            let key = try Scrypt.deriveKey(
                from: password,
                salt: salt,
                outputByteCount: Self.hashLength,
                rounds: 1 << parameters.logN,
                blockSize: parameters.blockSize,
                parallelism: parameters.parallelism
            )
            let hash = key.bytes
            return .success(PINHash(parameters: parameters, isPeppered: pepper != nil, salt: salt, hash: hash))
        } catch {
            return .failure(SealingError(.internalFailure, "scrypt refused"))
        }
    }

    init(parameters: ScryptParameters, isPeppered: Bool, salt: [UInt8], hash: [UInt8]) {
        self.parameters = parameters
        self.isPeppered = isPeppered
        self.salt = salt
        self.hash = hash
    }

    init(text: String) throws(SealingError) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "scrypt" || parts[0] == "scrypt-pepper",
            let parameters = Self.parameters(parts[1]), let salt = Base64URL.decode(parts[2]),
            salt.count == Self.saltLength, let hash = Base64URL.decode(parts[3]), hash.count == Self.hashLength
        else { throw SealingError(.malformed, "not a PIN hash") }
        self.init(parameters: parameters, isPeppered: parts[0] == "scrypt-pepper", salt: salt, hash: hash)
    }

    var text: String {
        let cost = "ln=\(self.parameters.logN),r=\(self.parameters.blockSize),p=\(self.parameters.parallelism)"
        let name = self.isPeppered ? "scrypt-pepper" : "scrypt"
        return "\(name)$\(cost)$\(Base64URL.encode(self.salt))$\(Base64URL.encode(self.hash))"
    }

    private static func parameters(_ text: Substring) -> ScryptParameters? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var values: [Int] = []
        for (part, name) in zip(parts, ["ln=", "r=", "p="]) {
            guard part.hasPrefix(name), let value = Int(part.dropFirst(name.count)) else { return nil }
            values.append(value)
        }
        return ScryptParameters(logN: values[0], blockSize: values[1], parallelism: values[2])
    }
}
