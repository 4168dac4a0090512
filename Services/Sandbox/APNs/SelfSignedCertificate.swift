import Crypto
import Foundation
import HummingbirdHTTP2
import NIOSSL
import SwiftASN1
import X509

/// A certificate for localhost, made at start: HTTP/2 clients want TLS, and nobody's trust is needed here.
struct SelfSignedCertificate: Sendable {
    /// For clients that are told to trust it.
    let pem: String
    let tls: TLSConfiguration

    init(now: Date) throws {
        let key = P256.Signing.PrivateKey()
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
        self.pem = PEMDocument(type: "CERTIFICATE", derBytes: serializer.serializedBytes).pemString
        self.tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: serializer.serializedBytes, format: .der))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem))
        )
    }
}
