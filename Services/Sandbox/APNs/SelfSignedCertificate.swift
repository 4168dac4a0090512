import Crypto
import Foundation
import HummingbirdHTTP2
import NIOSSL
import SwiftASN1
import X509

/// A certificate for localhost: HTTP/2 clients want TLS, and nobody's trust is needed here.
struct SelfSignedCertificate: Sendable {
    /// For clients that are told to trust it.
    let pem: String
    let tls: TLSConfiguration

    /// Takes the certificate of a file, or makes one and writes it there; without a file makes one.
    ///
    /// The key lies beside the certificate: a client that trusts it needs not start anew when the stand-in does.
    init(now: Date, file: String?) throws {
        if let file, let kept = try? Self(certificate: file, key: Self.keyFile(of: file)) {
            self = kept
            return
        }
        let key = P256.Signing.PrivateKey()
        try self.init(pem: Self.certificate(of: key, now: now), keyPEM: key.pemRepresentation)
        guard let file else { return }
        try Data(key.pemRepresentation.utf8).write(to: URL(filePath: Self.keyFile(of: file)))
        // Last: whoever sees it can connect.
        try Data(self.pem.utf8).write(to: URL(filePath: file), options: .atomic)
    }

    private static func keyFile(of file: String) -> String { file + ".key" }

    private init(certificate: String, key: String) throws {
        let pem = try String(contentsOfFile: certificate, encoding: .utf8)
        try self.init(pem: pem, keyPEM: try String(contentsOfFile: key, encoding: .utf8))
    }

    private init(pem: String, keyPEM: String) throws {
        self.pem = pem
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8))
        self.tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem))
        )
    }

    private static func certificate(of key: P256.Signing.PrivateKey, now: Date) throws -> String {
        let name = try DistinguishedName { CommonName("transfa sandbox") }
        let certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: .init(key.publicKey),
            notValidBefore: now.addingTimeInterval(-3600),
            notValidAfter: now.addingTimeInterval(366 * 86_400),
            issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([
                    .dnsName("localhost"), .dnsName("sandbox"),
                    .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                ])
            },
            issuerPrivateKey: .init(key)
        )
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return PEMDocument(type: "CERTIFICATE", derBytes: serializer.serializedBytes).pemString
    }
}
