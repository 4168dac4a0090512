import EventLoops
import Foundation
import OutgoingHTTP
import TestSupport
import Testing

@testable import ObjectStorage

@Suite("S3")
struct S3Tests {
    @Test("a request is signed as in the example that Amazon publishes")
    func published() throws {
        let location = try ObjectStoreLocation(
            url: "s3://examplebucket?endpoint=https://examplebucket.s3.amazonaws.com&region=us-east-1"
        )
        guard case .bucket(let bucket) = location else { throw TestFailure("no bucket") }
        let signature = S3Signature(
            location: bucket,
            credentials: S3Credentials(
                id: "AKIAIOSFODNN7EXAMPLE",
                secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
            )
        )
        let headers = signature.headers(
            "GET",
            "/test.txt",
            headers: ["range": "bytes=0-9"],
            body: [],
            at: Date(timeIntervalSince1970: 1_369_353_600)
        )
        let authorization = try #require(headers.first { $0.name == "authorization" }?.value)
        #expect(
            authorization
                == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
                + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        )
        #expect(headers.contains { $0.name == "x-amz-date" && $0.value == "20130524T000000Z" })
    }

    @Test("a wrong key, a wrong bucket and a wrong signature are errors at once, and nothing that is not there")
    func refusals() async throws {
        try await withBucket { bucket in
            let key = try #require(ObjectKey(["a"]))
            try await bucket.store().put([1], contentType: "image/png", at: key)
            let wrong = S3Credentials(id: bucket.credentials.id, secret: "not the secret")
            let stranger = S3Credentials(id: "AKIAUNKNOWN", secret: "anything")
            for credentials in [wrong, stranger] {
                let store = bucket.store(credentials: credentials)
                await #expect(throws: ObjectStorageError.refused(status: 403)) { try await store.get(key, limit: 9) }
                await #expect(throws: ObjectStorageError.refused(status: 403)) {
                    try await store.put([2], contentType: "image/png", at: key)
                }
                await #expect(throws: ObjectStorageError.refused(status: 403)) { try await store.delete(key) }
            }
            let elsewhere = bucket.store(name: "nowhere")
            await #expect(throws: ObjectStorageError.refused(status: 404)) { try await elsewhere.get(key, limit: 9) }
            await #expect(throws: ObjectStorageError.refused(status: 404)) {
                try await elsewhere.put([2], contentType: "image/png", at: key)
            }
            #expect(try await bucket.store().get(key, limit: 9) == [1])
        }
    }

    @Test("a server in trouble is asked three times, and a server that is not there is an error soon")
    func trouble() async throws {
        try await withBucket { bucket in
            let key = try #require(ObjectKey(["a"]))
            let server = try FlakyServer(failures: 2)
            defer { server.stop() }
            let store = bucket.store(endpoint: "http://127.0.0.1:\(server.port)")
            try await store.delete(key)
            #expect(server.requests == 3)
            let stubborn = try FlakyServer(failures: .max)
            defer { stubborn.stop() }
            let hopeless = bucket.store(endpoint: "http://127.0.0.1:\(stubborn.port)")
            await #expect(throws: ObjectStorageError.unavailable) { try await hopeless.delete(key) }
            #expect(stubborn.requests == 3)
            let nobody = bucket.store(endpoint: "http://127.0.0.1:\(try freePort())")
            await #expect(throws: ObjectStorageError.unavailable) { try await nobody.get(key, limit: 9) }
        }
    }

    @Test("the secret is in no description")
    func secret() {
        let credentials = S3Credentials(id: "id", secret: "hush")
        #expect(!"\(credentials) \(String(reflecting: credentials))".contains("hush"))
    }
}

@Suite("Locations")
struct LocationTests {
    @Test("folders and buckets are read from URLs")
    func good() throws {
        #expect(try ObjectStoreLocation(url: "file:///var/lib/images") == .folder(path: "/var/lib/images"))
        let url = "s3://my-bucket?endpoint=http://127.0.0.1:5000&region=eu-west-1"
        guard case .bucket(let bucket) = try ObjectStoreLocation(url: url) else { throw TestFailure("no bucket") }
        #expect(bucket.bucket == "my-bucket" && bucket.region == "eu-west-1" && bucket.host == "127.0.0.1:5000")
        guard case .bucket(let amazon) = try ObjectStoreLocation(url: "s3://my-bucket?region=us-east-1") else {
            throw TestFailure("no bucket")
        }
        #expect(amazon.endpoint == "https://s3.us-east-1.amazonaws.com")
    }

    @Test(
        "what is neither is refused",
        arguments: [
            "", "images", "file://", "file:///", "file://host/path", "file:relative", "http://bucket", "s3://",
            "s3://bucket", "s3://B?region=x", "s3://bucket/path?region=eu-west-1", "s3://bucket?region=",
            "s3://bucket?region=eu_west", "s3://id:secret@bucket?region=eu-west-1",
            "s3://bucket?region=eu-west-1&region=eu-west-2", "s3://bucket?region=eu-west-1&ssl=no",
            "s3://bucket?region=eu-west-1&endpoint=ftp://host",
            "s3://bucket?region=eu-west-1&endpoint=http://host/path",
        ]
    )
    func bad(url: String) {
        #expect(throws: LocationProblem.self) { try ObjectStoreLocation(url: url) }
    }
}
