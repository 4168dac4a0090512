import Foundation
import TestSupport

/// An authority of one test, and certificates of it: for `127.0.0.1`, for another server, and for a client.
final class OwnCertificates: Sendable {
    let folder: URL

    init() async throws {
        self.folder = FileManager.default.temporaryDirectory.appending(
            path: "transfa-tls-\(UUID().uuidString.lowercased())"
        )
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        try await self.openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority"
        )
        for (name, alternative) in [
            ("server", "IP:127.0.0.1"), ("stranger", "DNS:elsewhere.test"), ("client", "DNS:client.test"),
        ] {
            try "subjectAltName=\(alternative)".write(
                to: self.folder.appending(path: "\(name).ext"),
                atomically: true,
                encoding: .utf8
            )
            let request = "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=\(name)"
            try await self.openssl("\(request) -keyout \(self.file("\(name).key")) -out \(self.file("\(name).csr"))")
            try await self.openssl(
                "x509 -req -days 2 -in \(self.file("\(name).csr")) -CA \(self.file("ca.pem")) -CAkey \(self.file("ca.key"))"
                    + " -CAcreateserial -extfile \(self.file("\(name).ext")) -out \(self.file("\(name).pem"))"
            )
        }
    }

    deinit { try? FileManager.default.removeItem(at: self.folder) }

    /// The path of one of the files.
    func file(_ name: String) -> String { self.folder.appending(path: name).path }

    private func openssl(_ words: String) async throws {
        var arguments = words.split(separator: " ").map(String.init)
        if words.hasPrefix("req -x509") { arguments += ["-keyout", self.file("ca.key"), "-out", self.file("ca.pem")] }
        try await Command.run("/usr/bin/openssl", arguments, environment: [:], within: .seconds(60))
    }
}
