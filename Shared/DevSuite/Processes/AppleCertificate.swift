import Foundation

/// The certificate with which a stand-in presents itself as Apple, for localhost; made by `openssl`.
public struct AppleCertificate: Sendable {
    private let folder: String

    /// The certificate of a folder, whether it is there or not.
    public init(in folder: String) { self.folder = folder }

    /// What clients trust: the certificate alone.
    public var trusted: String { "\(self.folder)/apple.pem" }
    /// What the server has: the certificate and its key.
    public var served: String { "\(self.folder)/apple-server.pem" }

    /// Makes both files, unless they are there: a client that trusts it needs not start anew.
    ///
    /// - Throws: `SuiteError`, with what `openssl` said.
    public func make(log: String) async throws(SuiteError) {
        guard !FileManager.default.fileExists(atPath: self.served) else { return }
        let key = "\(self.folder)/key.pem"
        do {
            try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
            let request = [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "366",
                "-subj", "/CN=Apple, played", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key,
                "-out", self.trusted,
            ]
            try await Launch("openssl", request).run(log: log)
            let both = try [self.trusted, key].map { try Data(contentsOf: URL(filePath: $0)) }
            try FileManager.default.removeItem(atPath: key)
            // Last: what is there is whole.
            try Data(both.joined()).write(to: URL(filePath: self.served), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: self.served)
        } catch let error as SuiteError {
            throw error
        } catch {
            throw SuiteError("\(self.folder) could not be written: \(error.localizedDescription)")
        }
    }
}
