import Foundation
import ObjectStorage
import OutgoingHTTP
import TestSupport

/// Runs `body` with a folder of its own.
func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = "\(Scratch.directory)/objects-\(Scratch.shortName())"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(folder)
}

/// A bucket on an S3 server that checks signatures.
struct TestBucket: Sendable {
    let port: Int
    let name: String
    let credentials: S3Credentials
    let http: HTTPClient

    /// The store, as it is or with something wrong.
    func store(
        name: String? = nil,
        credentials: S3Credentials? = nil,
        endpoint: String? = nil
    ) -> any ObjectStore {
        let endpoint = endpoint ?? "http://127.0.0.1:\(self.port)"
        let url = "s3://\(name ?? self.name)?endpoint=\(endpoint)&region=eu-west-1"
        do {
            return try ObjectStoreLocation(url: url).store(
                credentials: credentials ?? self.credentials,
                http: self.http
            )
        } catch {
            preconditionFailure("the test's own location is refused: \(error)")
        }
    }
}

private struct Started: Decodable {
    let port: Int
    let id: String
    let secret: String
    let bucket: String
}

/// Runs `body` with an S3 server of its own.
func withBucket(_ body: (TestBucket) async throws -> Void) async throws {
    let server = try ChildProcess(try TestPython.path(), [TestPython.program("s3_server.py")])
    do {
        let started = try await eventually("the S3 server", within: .seconds(30), every: .milliseconds(50)) {
            guard server.isRunning else { throw TestFailure("it ended: \(server.log.suffix(1000))") }
            let line = server.log.split(separator: "\n").first { $0.hasPrefix("{") && $0.hasSuffix("}") }
            return try line.map { try JSONDecoder().decode(Started.self, from: Data($0.utf8)) }
        }
        try await body(
            TestBucket(
                port: started.port,
                name: started.bucket,
                credentials: S3Credentials(id: started.id, secret: started.secret),
                http: HTTPClient()
            )
        )
    } catch {
        await server.kill()
        throw error
    }
    await server.kill()
}
