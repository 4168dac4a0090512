import Foundation

/// Runs `body` with what stands before the sandbox's push service at a port, and speaks TLS and HTTP/2 there.
public func withAppleProxy<Result>(
    to pushPort: Int,
    _ body: (_ url: String, _ certificate: AppleCertificate) async throws -> Result
) async throws -> Result {
    let certificate = AppleCertificate(in: "\(Scratch.directory)/apple-\(Scratch.shortName())")
    try await certificate.make(log: "\(Scratch.directory)/apple-certificate-\(Scratch.shortName()).log")
    let port = try freePort()
    let variables = [
        "APPLE_BIND": "127.0.0.1:\(port)", "APPLE_CERTIFICATE": certificate.served,
        "APPLE_SANDBOX": "127.0.0.1:\(pushPort)",
    ]
    let arguments = ["-db", "-f", Repository.path("deploy/apple/haproxy.cfg")]
    return try await withProcess("/usr/sbin/haproxy", arguments, environment: variables) { process in
        try await eventually("HAProxy to listen") {
            guard process.isRunning else { throw TestFailure("it ended") }
            return portAnswers(port)
        }
        return try await body("https://localhost:\(port)", certificate)
    }
}
