import Foundation
import TestSupport
import Testing

@testable import Cryptography

@Suite("Signatures")
struct SignatureTests {
    private let message = Array("a payment of 500 kobo".utf8)
    /// The order of the curve.
    private static let order = bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")

    // MARK: P-256

    @Test("ECDSA signatures of FIPS 186's validation, good and changed", arguments: Vector.named("ECDSA-verify"))
    func published(_ vector: Vector) throws {
        let raw = try P256.Signature(rawRepresentation: vector(3) + vector(4))
        let der = try P256.Signature(derRepresentation: raw.derRepresentation)
        #expect(der == raw)
        let key = try? P256.PublicKey(x963Representation: [4] + vector(1) + vector(2))
        #expect(key?.isValidSignature(raw, for: vector(0)) ?? false == vector.isGood)
    }

    @Test("keys of FIPS 186's validation sign what their public halves verify", arguments: Vector.named("ECDSA-key"))
    func keys(_ vector: Vector) throws {
        let key = try P256.PrivateKey(rawRepresentation: vector(1))
        #expect(key.publicKey.x963Representation == [4] + vector(2) + vector(3))
        #expect(key.rawRepresentation == vector(1))
        let theirs = try P256.Signature(rawRepresentation: vector(4) + vector(5))
        #expect(key.publicKey.isValidSignature(theirs, for: vector(0)))
        #expect(key.publicKey.isValidSignature(try key.signature(for: vector(0)), for: vector(0)))
    }

    @Test(
        "points of FIPS 186's validation: those off the curve or beyond the field are no keys",
        arguments: Vector.named("P256-point")
    )
    func points(_ vector: Vector) {
        let key = try? P256.PublicKey(x963Representation: [4] + vector(0) + vector(1))
        #expect((key != nil) == vector.isGood)
    }

    @Test("r or s of zero, of the order or above it is never valid")
    func badNumbers() throws {
        let key = P256.PrivateKey()
        let good = try key.signature(for: self.message).rawRepresentation
        #expect(key.publicKey.isValidSignature(try .init(rawRepresentation: good), for: self.message))
        let zero = [UInt8](repeating: 0, count: 32)
        let most = [UInt8](repeating: 255, count: 32)
        for bad in [zero, Self.order, most] {
            let pairs = [bad + good[32...], good[..<32] + bad, bad + bad]
            for pair in pairs {
                #expect(!key.publicKey.isValidSignature(try .init(rawRepresentation: pair), for: self.message))
            }
        }
        #expect(
            !key.publicKey.isValidSignature(try .init(rawRepresentation: good[32...] + good[..<32]), for: self.message)
        )
    }

    @Test("a signature with the other s is as valid: low s is not demanded")
    func otherS() throws {
        let key = P256.PrivateKey()
        let raw = try key.signature(for: self.message).rawRepresentation
        var (other, borrow) = ([UInt8](repeating: 0, count: 32), 0)
        for index in (0..<32).reversed() {
            let difference = Int(Self.order[index]) - Int(raw[32 + index]) - borrow
            borrow = difference < 0 ? 1 : 0
            other[index] = UInt8(truncatingIfNeeded: difference)
        }
        #expect(key.publicKey.isValidSignature(try .init(rawRepresentation: raw[..<32] + other), for: self.message))
    }

    @Test("another message, another key or one bit off is not valid")
    func changedSignatures() throws {
        let key = P256.PrivateKey()
        let signature = try key.signature(for: self.message)
        #expect(!key.publicKey.isValidSignature(signature, for: self.message + [0]))
        #expect(!key.publicKey.isValidSignature(signature, for: []))
        #expect(!P256.PrivateKey().publicKey.isValidSignature(signature, for: self.message))
        for bit in 0..<512 {
            var raw = signature.rawRepresentation
            raw[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!key.publicKey.isValidSignature(try .init(rawRepresentation: raw), for: self.message))
        }
    }

    @Test("bytes that are no key or no signature are refused")
    func noKeys() throws {
        let point = P256.PrivateKey().publicKey.x963Representation
        let points: [[UInt8]] = [
            [], [0], Array(point.dropLast()), point + [0], [2] + point[1...32], [5] + point.dropFirst(),
        ]
        for bad in points {
            #expect(throws: CryptoError.self) { try P256.PublicKey(x963Representation: bad) }
        }
        for bad in [[UInt8](repeating: 0, count: 32), Self.order, [UInt8](repeating: 255, count: 32), [1], []] {
            #expect(throws: CryptoError.self) { try P256.PrivateKey(rawRepresentation: bad) }
        }
        for count in [0, 63, 65, 128] {
            #expect(throws: CryptoError.wrongSize("signature", count)) {
                try P256.Signature(rawRepresentation: [UInt8](repeating: 1, count: count))
            }
        }
        let der = try P256.PrivateKey().signature(for: self.message).derRepresentation
        for bad in [[], [0x30], Array(der.dropLast()), der + [0], Array(der.dropFirst())] {
            #expect(throws: CryptoError.self) { try P256.Signature(derRepresentation: bad) }
        }
        // 33 bytes of r.
        let long = [0x30, 0x26, 0x02, 0x21, 0x01] + [UInt8](repeating: 0, count: 32) + [0x02, 0x01, 0x01]
        #expect(throws: CryptoError.self) { try P256.Signature(derRepresentation: long) }
    }

    @Test("keys read back from their text forms; the program openssl reads and writes the same")
    func textForms() async throws {
        let key = P256.PrivateKey()
        #expect(
            try P256.PrivateKey(pemRepresentation: key.pemRepresentation).rawRepresentation == key.rawRepresentation
        )
        let (publicKey, point) = (key.publicKey, key.publicKey.x963Representation)
        #expect(try P256.PublicKey(pemRepresentation: publicKey.pemRepresentation).x963Representation == point)
        #expect(try P256.PublicKey(derRepresentation: publicKey.derRepresentation).x963Representation == point)
        #expect(throws: CryptoError.self) { try P256.PublicKey(derRepresentation: publicKey.derRepresentation + [0]) }

        for form in ["-traditional", ""] {
            let words = form.isEmpty ? [] : [form]
            let pem = try await OpenSSL.run(["pkey"] + words, key.pemRepresentation)
            #expect(try P256.PrivateKey(pemRepresentation: pem).publicKey.x963Representation == point)
        }
        let compressed = try await OpenSSL.run(
            ["ec", "-pubin", "-conv_form", "compressed"],
            publicKey.pemRepresentation
        )
        #expect(try P256.PublicKey(pemRepresentation: compressed).x963Representation == point)
    }

    @Test("other curves, other kinds of keys and keys under a password are refused, and nobody is asked for one")
    func foreignKeys() async throws {
        let other = try await OpenSSL.run(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"])
        let koblitz = try await OpenSSL.run(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"])
        let edwards = try await OpenSSL.run(["genpkey", "-algorithm", "ed25519"])
        let locked = try await OpenSSL.run(
            ["pkey", "-aes128", "-passout", "pass:x"],
            P256.PrivateKey().pemRepresentation
        )
        let explicit = try await OpenSSL.run(["ec", "-param_enc", "explicit"], P256.PrivateKey().pemRepresentation)
        for pem in [
            other, koblitz, edwards, locked, explicit, "",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        ] {
            #expect(throws: CryptoError.notAKey("P-256")) { try P256.PrivateKey(pemRepresentation: pem) }
            #expect(throws: CryptoError.self) { try RSA.PrivateKey(pemRepresentation: pem) }
        }
        for pem in [other, koblitz, edwards] {
            let half = try await OpenSSL.run(["pkey", "-pubout"], pem)
            #expect(throws: CryptoError.notAKey("P-256")) { try P256.PublicKey(pemRepresentation: half) }
        }
    }

    // MARK: RSA

    @Test(
        "RSA signatures of FIPS 186's validation, good and changed",
        arguments: Vector.named("RSA-verify-SHA256", "RSA-verify-SHA384", "RSA-verify-SHA512")
    )
    func publishedRSA(_ vector: Vector) throws {
        let key = try RSA.PublicKey(modulus: vector(0), exponent: vector(1))
        let isValid =
            switch vector.name {
            case "RSA-verify-SHA256": key.isValidSignature(vector(3), for: vector(2))
            case "RSA-verify-SHA384": key.isValidSignature(vector(3), for: vector(2), SHA384.self)
            default: key.isValidSignature(vector(3), for: vector(2), SHA512.self)
            }
        #expect(isValid == vector.isGood)
        #expect(key.modulus == vector(0) && key.exponent == vector(1))
    }

    @Test("an RSA key signs what its public half verifies, and nothing else is valid")
    func ownRSA() throws {
        let key = try RSA.PrivateKey()
        let half = key.publicKey
        let signature = try key.signature(for: self.message)
        #expect(signature.count == 256 && half.isValidSignature(signature, for: self.message))
        #expect(!half.isValidSignature(signature, for: self.message, SHA512.self))
        #expect(!half.isValidSignature(signature, for: self.message + [0]))
        for bad in [[], Array(signature.dropLast()), signature + [0], [0] + signature, signature.map { $0 ^ 1 }] {
            #expect(!half.isValidSignature(bad, for: self.message))
        }
        let again = try RSA.PublicKey(modulus: [0, 0] + half.modulus, exponent: [0] + half.exponent)
        #expect(
            again.derRepresentation == half.derRepresentation && again.isValidSignature(signature, for: self.message)
        )
        #expect(try RSA.PrivateKey(pemRepresentation: key.pemRepresentation).publicKey.modulus == half.modulus)
        #expect(half.pemRepresentation.hasPrefix("-----BEGIN PUBLIC KEY-----"))
    }

    @Test("RSA keys that are short, or whose exponent is even or 1, are refused")
    func badRSA() async throws {
        let modulus = try RSA.PrivateKey().publicKey.modulus
        #expect(throws: CryptoError.self) { try RSA.PublicKey(modulus: modulus.dropFirst(), exponent: [1, 0, 1]) }
        for exponent in [[], [0], [1], [2], [1, 0, 0], [UInt8](repeating: 255, count: 9)] {
            #expect(throws: CryptoError.self) { try RSA.PublicKey(modulus: modulus, exponent: exponent) }
        }
        for count in [0, 128, 255, 2049, 100_000] {
            let number = [UInt8](repeating: 255, count: count)
            #expect(throws: CryptoError.wrongSize("RSA key", count)) {
                try RSA.PublicKey(modulus: number, exponent: [3])
            }
        }
        #expect(throws: CryptoError.wrongSize("RSA key", 128)) { try RSA.PrivateKey(bitCount: 1024) }
        let short = try await OpenSSL.run(["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"])
        #expect(throws: CryptoError.wrongSize("RSA key", 128)) { try RSA.PrivateKey(pemRepresentation: short) }
    }
}

@Suite("libcrypto's errors")
struct ErrorTests {
    @Test("neither what succeeds nor what is refused leaves an error behind for whoever comes next on the thread")
    func leftOver() throws {
        let (pair, key) = (P256.PrivateKey(), SymmetricKey(size: .bits256))
        let rsa = try RSA.PrivateKey()
        let sealed = try AES.GCM.seal([1], using: key)
        let zero = try P256.Signature(rawRepresentation: [UInt8](repeating: 0, count: 64))
        let acts: [() -> Any?] = [
            { try? P256.PrivateKey(pemRepresentation: pair.pemRepresentation) },
            { try? P256.PrivateKey(pemRepresentation: rsa.pemRepresentation) },
            { try? P256.PrivateKey(pemRepresentation: "nothing") },
            { try? P256.PrivateKey(rawRepresentation: [UInt8](repeating: 0, count: 32)) },
            { try? P256.PublicKey(pemRepresentation: pair.publicKey.pemRepresentation) },
            { try? P256.PublicKey(derRepresentation: [1, 2, 3]) },
            { try? P256.PublicKey(x963Representation: [4] + [UInt8](repeating: 1, count: 64)) },
            { try? P256.Signature(derRepresentation: [0x30, 1]) },
            { pair.publicKey.isValidSignature(zero, for: [1]) },
            { try? RSA.PrivateKey(pemRepresentation: rsa.pemRepresentation) },
            { try? RSA.PrivateKey(pemRepresentation: pair.pemRepresentation) },
            { try? RSA.PublicKey(modulus: rsa.publicKey.modulus, exponent: rsa.publicKey.exponent) },
            { rsa.publicKey.isValidSignature([1, 2, 3], for: [1]) },
            { rsa.publicKey.isValidSignature([UInt8](repeating: 255, count: 256), for: [1]) },
            { try? AES.GCM.open(sealed, using: SymmetricKey(size: .bits256)) },
        ]
        for (index, act) in acts.enumerated() {
            _ = act()
            #expect(!isErrorLeft, "act \(index)")
        }
    }
}

/// The program, which others would use.
enum OpenSSL {
    static func run(_ arguments: [String], _ input: String? = nil) async throws -> String {
        guard let input else { return try await Command.run("openssl", arguments) }
        let file = "\(Scratch.directory)/\(Scratch.shortName()).pem"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try input.write(toFile: file, atomically: true, encoding: .utf8)
        return try await Command.run("openssl", arguments + ["-in", file])
    }
}
