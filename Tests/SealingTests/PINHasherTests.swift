import Foundation
import Testing

@testable import Sealing

@Suite("PIN hashing")
struct PINHasherTests {
    private static let cheap = ScryptParameters(logN: 10, blockSize: 8, parallelism: 1) ?? .standard

    /// What hashing a PIN ends with, nil when it succeeds.
    private static func outcome(of hasher: PINHasher) async -> SealingError.Code? {
        do {
            _ = try await hasher.hash("4821")
            return nil
        } catch {
            return error.code
        }
    }

    @Test("the right PIN is accepted and every other one is not")
    func verify() async throws {
        let hasher = PINHasher(parameters: Self.cheap)
        let hash = try await hasher.hash("4821")
        #expect(try await hasher.verify("4821", against: hash))
        for wrong in ["4820", "482", "48211", "", " 4821"] {
            #expect(try await hasher.verify(wrong, against: hash) == false)
        }
    }

    @Test("two hashes of one PIN differ, and name their cost")
    func salted() async throws {
        let hasher = PINHasher()
        let one = try await hasher.hash("4821")
        #expect(try await hasher.hash("4821") != one)
        #expect(one.hasPrefix("scrypt$ln=14,r=8,p=1$"))
        #expect(try await hasher.verify("4821", against: one))
    }

    @Test("a hash computed elsewhere is accepted")
    func vector() async throws {
        // Python: hashlib.scrypt(b"4821", salt=bytes(range(16)), n=16384, r=8, p=1, dklen=32)
        let hash = "scrypt$ln=14,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$VioJMO0I0gb6C6uuGdar3oexpjkVNw9EUEcJxN6A2SU"
        #expect(try await PINHasher().verify("4821", against: hash))
    }

    @Test("a changed hash, salt or cost does not accept the PIN")
    func tampered() async throws {
        let hasher = PINHasher(parameters: Self.cheap)
        let hash = try await hasher.hash("4821")
        let parts = hash.split(separator: "$").map(String.init)
        let flip: (String) -> String = { ($0.hasPrefix("A") ? "B" : "A") + $0.dropFirst() }
        for text in [
            "\(parts[0])$\(parts[1])$\(flip(parts[2]))$\(parts[3])",
            "\(parts[0])$\(parts[1])$\(parts[2])$\(flip(parts[3]))",
            "\(parts[0])$ln=11,r=8,p=1$\(parts[2])$\(parts[3])",
        ] {
            #expect(try await hasher.verify("4821", against: text) == false)
        }
    }

    @Test(
        "what is no hash, or asks for a gigabyte, is refused",
        arguments: [
            "", "4821", "scrypt$ln=14,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$AA",
            "scrypt$ln=30,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$AA",
            "scrypt$ln=9,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$\(String(repeating: "A", count: 43))",
            "scrypt$ln=20,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$\(String(repeating: "A", count: 43))",
            "scrypt$ln=14,r=1024,p=1$AAECAwQFBgcICQoLDA0ODw$\(String(repeating: "A", count: 43))",
            "bcrypt$ln=14,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$\(String(repeating: "A", count: 43))",
        ]
    )
    func malformed(_ text: String) async {
        let error = await #expect(throws: SealingError.self) { try await PINHasher().verify("4821", against: text) }
        #expect(error?.code == .malformed)
        #expect(PINHasher().needsRehash(text))
    }

    @Test("a pepper goes into every hash and is needed to check one")
    func pepper() async throws {
        let pepper = DataKey()
        let hasher = PINHasher(parameters: Self.cheap, pepper: pepper)
        let hash = try await hasher.hash("4821")
        #expect(try await hasher.verify("4821", against: hash))
        #expect(try await PINHasher(parameters: Self.cheap, pepper: DataKey()).verify("4821", against: hash) == false)
        let error = await #expect(throws: SealingError.self) { try await PINHasher().verify("4821", against: hash) }
        #expect(error?.code == .invalidKey)
    }

    @Test("a hash of another cost should be made anew")
    func rehash() async throws {
        let hash = try await PINHasher(parameters: Self.cheap).hash("4821")
        #expect(PINHasher().needsRehash(hash))
        #expect(!PINHasher(parameters: Self.cheap).needsRehash(hash))
    }

    @Test("more callers than threads and queue hold are refused as busy, and the rest are served")
    func bounded() async throws {
        let hasher = PINHasher(threads: 1, queueLimit: 3)
        let results = await withTaskGroup(of: SealingError.Code?.self) { group in
            for _ in 0..<40 {
                group.addTask { await Self.outcome(of: hasher) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let served = results.filter { $0 == nil }.count
        #expect(served >= 3)
        #expect(results.filter { $0 == .busy }.count == 40 - served)
        #expect(served < 40)
        #expect(try await hasher.hash("4821").isEmpty == false)
    }

    @Test("hashing runs on threads of its own and not on those of Swift's pool")
    func ownThreads() async throws {
        let pool = HashingPool(threads: 1, queueLimit: 4)
        defer { pool.stop() }
        for _ in 0..<10 {
            let name = try await pool.run {
                .success(try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8))
            }
            #expect(name == "pin-hash-0\n")
        }
    }

    @Test("a caller that is cancelled while it waits is let go")
    func cancelled() async throws {
        let hasher = PINHasher(threads: 1, queueLimit: 64)
        let codes = await withTaskGroup(of: SealingError.Code?.self) { group in
            for _ in 0..<32 {
                group.addTask { await Self.outcome(of: hasher) }
            }
            _ = await group.next()
            group.cancelAll()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.contains(.cancelled))
        #expect(codes.allSatisfy { $0 == nil || $0 == .cancelled })
    }
}
