import Contracts
import Foundation
import NIOHTTP1
import Primitives
import TestSupport
import Testing

extension Journeys {
    @Suite struct ImageTests {
        private struct Changed: Decodable {
            let url: String

            private enum CodingKeys: String, CodingKey {
                case url = "profile_image_url"
            }
        }

        /// A photograph with everything in it that must not be shown to anybody.
        private func photograph() async throws -> [UInt8] {
            let folder = "\(Scratch.directory)/pictures-\(Scratch.shortName())"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try await TestPython.run("pictures.py", ["make", folder])
            return Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/photo.jpg")))
        }

        private func put(_ bytes: [UInt8], as person: Person, key: String? = nil) async throws -> Reply {
            var headers = ["Content-Type": "image/jpeg"]
            headers["Idempotency-Key"] = key
            return try await RunningSuite.current.call(
                "PUT",
                .customer,
                "/users/me/image",
                as: person.subject,
                headers: headers,
                body: bytes
            )
        }

        @Test(
            "a profile image is seen by everybody without its metadata, for ever under its name, and replaced for good"
        )
        func profileImage() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("pictured")
            let bola = try await suite.person("looks")
            let photo = try await self.photograph()
            #expect(String(decoding: photo, as: UTF8.self).contains("canary"))
            let first = try await self.put(photo, as: ada, key: "image-\(ada.username)").decode(Changed.self)
            let replay = try await self.put(photo, as: ada, key: "image-\(ada.username)")
            #expect(try replay.isReplay && replay.decode(Changed.self).url == first.url)
            let profile = try await suite.call("GET", .customer, "/users/\(ada.username)", as: bola.subject)
            #expect(try profile.decode(ProfileResource.self).profileImageURL == first.url)

            let address = suite.environment.publicURL("customer") + first.url
            let shown = try await suite.send("GET", address)
            #expect(shown.status == 200 && shown.contentType == "image/jpeg")
            #expect(!shown.text.contains("canary") && shown.body.count > 500)
            #expect(shown.header("Cache-Control") == "public, max-age=31536000, immutable")
            #expect(shown.header("X-Content-Type-Options") == "nosniff")
            let tag = try #require(shown.header("ETag"))
            let again = try await suite.send("GET", address, headers: ["If-None-Match": tag])
            #expect(again.status == 304 && again.body.isEmpty)

            let second = try await self.put(photo, as: ada).decode(Changed.self)
            #expect(second.url != first.url)
            try await eventually("the old image to go", within: .seconds(20), every: .milliseconds(100)) {
                try await suite.send("GET", address).status == 404
            }
            let delete = try await suite.call("DELETE", .customer, "/users/me/image", as: ada.subject)
            #expect(delete.status == 204)
            let gone = suite.environment.publicURL("customer") + second.url
            try await eventually("the image to go", within: .seconds(20), every: .milliseconds(100)) {
                try await suite.send("GET", gone).status == 404
            }
            let files = FileManager.default.enumerator(atPath: suite.environment.imageFolder)
            #expect(files?.compactMap { $0 as? String }.contains { $0.contains("\(ada.id.lowercased)/") } == false)
        }

        @Test(
            "the image of a request is changed by its owner alone, seen in the request, and gone when that is cancelled"
        )
        func requestImage() async throws {
            let suite = try RunningSuite.current
            let (ada, bola) = (try await suite.person("illustrates"), try await suite.person("reads"))
            let path =
                "/payment-requests/\(try await suite.ask(as: ada, PaymentRequestRequest(amount: 100)).id.lowercased)"
            let photo = try await self.photograph()
            let headers = ["Content-Type": "image/jpeg"]
            let foreign = try await suite.call(
                "PUT",
                .transaction,
                path + "/image",
                as: bola.subject,
                headers: headers,
                body: photo
            )
            #expect(foreign.status == 404)
            var images: [String] = []
            for _ in 0..<2 {
                let put = try await suite.call(
                    "PUT",
                    .transaction,
                    path + "/image",
                    as: ada.subject,
                    headers: headers,
                    body: photo
                )
                #expect(put.status == 200)
                let seen = try await suite.read(path, as: bola, PaymentRequestResource.self)
                images.append(suite.environment.publicURL("transaction") + (try #require(seen.imageURL)))
                let shown = try await suite.send("GET", try #require(images.last))
                #expect(shown.status == 200 && shown.contentType == "image/jpeg" && !shown.text.contains("canary"))
            }
            #expect(Set(images).count == 2)
            try await eventually("the old image to go", within: .seconds(20), every: .milliseconds(100)) {
                try await suite.send("GET", images[0]).status == 404
            }
            #expect(try await suite.call("DELETE", .transaction, path, as: ada.subject).status == 204)
            try await eventually("the image to go with the request", within: .seconds(20), every: .milliseconds(100)) {
                try await suite.send("GET", images[1]).status == 404
            }
        }

        @Test("what is no picture, is cut off or is too long is refused with its place, and changes nothing")
        func refused() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("uploads")
            let photo = try await self.photograph()
            let bad: [(bytes: [UInt8], status: Int, code: String)] = [
                (Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), 415, "unsupported_image_type"),
                (Array("{}".utf8), 415, "unsupported_image_type"),
                (Array(photo.dropLast(100)), 422, "image_malformed"),
                (photo + Array(repeating: 0, count: 5 * 1024 * 1024), 413, "body_too_large"),
            ]
            for (bytes, status, code) in bad {
                let reply = try await self.put(bytes, as: ada)
                #expect(reply.status == status && reply.error?.code == code && reply.error?.source?.pointer == "")
            }
            let empty = try await self.put([], as: ada)
            #expect(empty.status == 415 && empty.error?.code == "unsupported_image_type")
            #expect(
                try await suite.number("SELECT count(*) FROM images WHERE user_id = '\(ada.id)'", of: "customer") == 0
            )
        }

        @Test("the QR codes of a drop and of a request lead to their links, and only for whoever may look at these")
        func codesOfLinks() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("shares", funding: 50_000)
            let (bola, chi) = (try await suite.person("scans"), try await suite.person("peeps"))
            let asked = try await suite.ask(as: ada, PaymentRequestRequest(amount: 100, payerUsername: bola.username))
            let drop = MoneyDropRequest(amountPerClaim: 100, slots: 2, expiresAt: Timestamp.text(Date() + 3600))
            let made = try await suite.order("/money-drops", as: ada, drop).decode(MoneyDropResponse.self)
            let codes = [
                ("/payment-requests/\(asked.id.lowercased)/qr", asked.link, 404),
                ("/money-drops/\(made.moneyDropID.lowercased)/qr", made.link, 200),
            ]
            for (path, link, status) in codes {
                let pixels = try await suite.call("GET", .transaction, path, as: bola.subject)
                let file = "\(Scratch.directory)/\(Scratch.shortName()).png"
                try pixels.body.write(to: URL(fileURLWithPath: file))
                #expect(try await TestPython.run("read_qr.py", [file]) == link + "\n")
                let shapes = try await suite.call("GET", .transaction, path + "?format=svg", as: ada.subject)
                #expect(shapes.status == 200 && shapes.contentType == "image/svg+xml")
                #expect(try await suite.call("GET", .transaction, path, as: chi.subject).status == status)
            }
        }

        @Test("the QR code of a profile is read by a reader, as pixels and as shapes, whatever asks for it")
        func code() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("coded")
            let pixels = try await suite.call("GET", .customer, "/users/me/qr", as: ada.subject)
            #expect(pixels.status == 200 && pixels.contentType == "image/png")
            let file = "\(Scratch.directory)/\(Scratch.shortName()).png"
            try pixels.body.write(to: URL(fileURLWithPath: file))
            #expect(try await TestPython.run("read_qr.py", [file]) == "https://transfa.app/u/\(ada.username)\n")
            let wanted = ["Accept": "image/svg+xml"]
            let shapes = try await suite.call("GET", .customer, "/users/me/qr", as: ada.subject, headers: wanted)
            #expect(shapes.contentType == "image/svg+xml" && shapes.text.hasPrefix("<svg"))
            let named = try await suite.call("GET", .customer, "/users/me/qr?format=svg", as: ada.subject)
            #expect(named.body == shapes.body)
            let neither = ["Accept": "text/html"]
            let refused = try await suite.call("GET", .customer, "/users/me/qr", as: ada.subject, headers: neither)
            #expect(refused.status == 406 && refused.error?.code == "not_acceptable")
        }
    }
}
