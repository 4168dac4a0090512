import Cryptography
import Foundation

/// Signs requests: AWS signature version 4, headers only.
struct S3Signature {
    let location: S3Location
    let credentials: S3Credentials

    /// The headers that a request needs: those given, and those that carry the signature.
    ///
    /// - Parameters:
    ///   - method: In capitals.
    ///   - path: From `/`, encoded.
    ///   - headers: In lower case; `host` is added.
    ///   - body: What is sent.
    ///   - moment: The time of sending.
    /// - Returns: Name and value of each, sorted by name.
    func headers(
        _ method: String,
        _ path: String,
        headers: [String: String] = [:],
        body: [UInt8],
        at moment: Date
    ) -> [(name: String, value: String)] {
        let digest = Self.hexadecimal(SHA256.hash(data: body))
        let time = Self.text(moment)
        var signed = headers
        signed["host"] = self.location.host
        signed["x-amz-content-sha256"] = digest
        signed["x-amz-date"] = time
        let sorted = signed.sorted { $0.key < $1.key }
        let names = sorted.map(\.key).joined(separator: ";")
        let request = [
            method, path, "", sorted.map { "\($0.key):\($0.value)\n" }.joined(), names, digest,
        ].joined(separator: "\n")
        let day = String(time.prefix(8))
        let scope = "\(day)/\(self.location.region)/s3/aws4_request"
        let hash = Self.hexadecimal(SHA256.hash(data: Array(request.utf8)))
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(hash)"
        let signature = Self.hexadecimal(Self.code(text, key: self.key(day)))
        let authorization =
            "AWS4-HMAC-SHA256 Credential=\(self.credentials.id)/\(scope),SignedHeaders=\(names),Signature=\(signature)"
        return sorted.filter { $0.key != "host" }.map { (name: $0.key, value: $0.value) } + [
            (name: "authorization", value: authorization)
        ]
    }

    private func key(_ day: String) -> SymmetricKey {
        let start = SymmetricKey(data: Array("AWS4\(self.credentials.secret)".utf8))
        return [day, self.location.region, "s3", "aws4_request"].reduce(start) { key, part in
            SymmetricKey(data: Self.code(part, key: key))
        }
    }

    private static func code(_ text: String, key: SymmetricKey) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// The form `20130524T000000Z`.
    private static func text(_ moment: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: moment)
        func digits(_ value: Int?, _ count: Int) -> String {
            let text = String(value ?? 0)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return digits(parts.year, 4) + digits(parts.month, 2) + digits(parts.day, 2) + "T" + digits(parts.hour, 2)
            + digits(parts.minute, 2) + digits(parts.second, 2) + "Z"
    }
}
