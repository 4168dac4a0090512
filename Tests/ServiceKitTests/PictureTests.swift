import Foundation
import HTTPTypes
import Hummingbird
import OutgoingHTTP
import TestSupport
import Testing

@testable import ServiceKit

@Suite("Pictures and images")
struct PictureTests {
    @Test(
        "the form of a picture is what the header Accept likes best",
        arguments: [
            (nil, .png), ("", .png), ("*/*", .png), ("image/*", .png), ("image/svg+xml", .svg), ("image/png", .png),
            ("image/svg+xml, image/png", .png), ("image/png;q=0.5, image/svg+xml", .svg),
            ("image/png;q=0, */*", .svg), ("image/*;q=0.2, image/svg+xml;q=0.1", .png), ("IMAGE/SVG+XML", .svg),
            ("text/html, application/json", nil), ("image/png;q=0", nil), ("image/webp", nil),
            ("text/html,image/avif,*/*;q=0.8", .png), ("image/png; q = 0.1 , image/svg+xml ; q=0.9", .svg),
        ] as [(String?, PictureForm?)]
    )
    func forms(accept: String?, form: PictureForm?) {
        #expect(PictureForm(accept: accept) == form)
    }

    /// Answers with a picture of whoever asks, at a path that does not say who that is.
    private static func routes(_ router: Router<AppRequestContext>) {
        router.get("/mine") { request, _ in
            let form = try request.pictureForm()
            let name = request.headers[.authorization] ?? "nobody"
            return APIResponse.picture(Array("\(form) of \(name)".utf8), form, for: request)
        }
    }

    @Test("a picture is asked for each time, and its tag is good for its reader and its form alone")
    func tagged() async throws {
        try await withRunningHost(
            queries: RouteQueries(["GET /mine": PictureForm.parameters]),
            routes: Self.routes
        ) { running in
            let ada = try await running.get("/mine", headers: ["Authorization": "ada"])
            let tag = try #require(ada.header("ETag"))
            #expect(ada.status == 200 && ada.header("Content-Type") == "image/png")
            #expect(ada.header("Cache-Control") == "private, no-cache" && ada.header("Vary") == "Accept")
            let again = try await running.get("/mine", headers: ["Authorization": "ada", "If-None-Match": tag])
            #expect(again.status == 304 && again.body.isEmpty && again.header("ETag") == tag)
            #expect(again.header("Cache-Control") == "private, no-cache" && again.header("Vary") == "Accept")
            let bola = try await running.get("/mine", headers: ["Authorization": "bola", "If-None-Match": tag])
            #expect(bola.status == 200 && bola.body == "png of bola" && bola.header("ETag") != tag)
            let shapes = try await running.get(
                "/mine?format=svg",
                headers: ["Authorization": "ada", "If-None-Match": tag]
            )
            #expect(shapes.status == 200 && shapes.body == "svg of ada")
            #expect(shapes.header("Content-Type") == "image/svg+xml")
        }
    }

    private func problem(_ variables: [String: String]) -> ConfigurationProblem? {
        do {
            _ = try ImageStoreSettings(SettingsReader(variables)).store(http: HTTPClient())
            return nil
        } catch {
            return error
        }
    }

    @Test("a place for images that is missing or bad is named, and so is a missing half of the bucket's key")
    func settings() {
        let bucket = "s3://pictures?region=eu-west-1"
        #expect(self.problem([:])?.variable == "IMAGE_STORE_URL")
        for bad in ["/var/lib", "http://bucket", "s3://bucket", "file://", "file:///dev/null/images"] {
            #expect(self.problem(["IMAGE_STORE_URL": bad])?.variable == "IMAGE_STORE_URL", "\(bad)")
        }
        #expect(self.problem(["IMAGE_STORE_URL": bucket])?.variable == "AWS_ACCESS_KEY_ID")
        let half = self.problem(["IMAGE_STORE_URL": bucket, "AWS_ACCESS_KEY_ID": "id"])
        #expect(half?.variable == "AWS_SECRET_ACCESS_KEY")
        let whole = ["IMAGE_STORE_URL": bucket, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"]
        #expect(self.problem(whole) == nil)
        let folder = "\(Scratch.directory)/store-\(Scratch.shortName())/images"
        #expect(self.problem(["IMAGE_STORE_URL": "file://\(folder)"]) == nil)
        #expect(FileManager.default.fileExists(atPath: folder))
    }
}
