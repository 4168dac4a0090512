import Foundation
import HTTPTypes
import Hummingbird
import NIOHTTP1
import Testing

@testable import ServiceKit

private func routes(_ router: Router<AppRequestContext>) {
    let group = router.group()
    group.polled("/things/:name") { _, context in
        let name = context.parameters.get("name") ?? ""
        guard name != "none" else { throw APIError.notFound }
        let text = name == "long" ? String(repeating: "x", count: APIResponse.maximumTagged) : name
        return try APIResponse(json: ["name": text])
    }
    group.get("/plain") { _, _ in try APIResponse(json: ["name": "ada"]) }
}

@Suite("entity tags")
struct EntityTagTests {
    private func tag(of path: String, _ running: RunningHost) async throws -> String {
        let answer = try await running.get(path)
        #expect(answer.status == 200)
        return try #require(answer.header("ETag"))
    }

    @Test("an unchanged answer is 304 without a body, a changed one comes whole")
    func notModified() async throws {
        try await withRunningHost(routes: routes) { running in
            let tag = try await self.tag(of: "/things/ada", running)
            #expect(tag.wholeMatch(of: /"[A-Za-z0-9_-]{16}"/) != nil)
            #expect(try await self.tag(of: "/things/ada", running) == tag)
            let same = try await running.get("/things/ada", headers: ["If-None-Match": tag])
            #expect(same.status == 304)
            #expect(same.body.isEmpty)
            #expect(same.header("ETag") == tag)
            #expect(same.header("Content-Type") == nil)
            #expect(same.header("Cache-Control") == "private, no-cache")
            let other = try await running.get("/things/bola", headers: ["If-None-Match": tag])
            #expect(other.status == 200)
            #expect(other.body == #"{"name":"bola"}"#)
            #expect(other.header("ETag") != tag)
        }
    }

    @Test("lists, weak tags and * are understood, anything else is another tag")
    func header() async throws {
        try await withRunningHost(routes: routes) { running in
            let tag = try await self.tag(of: "/things/ada", running)
            for known in ["\"x\", \(tag)", "W/\(tag)", "*", "\"x\",W/\(tag) , \"y\""] {
                #expect(
                    try await running.get("/things/ada", headers: ["If-None-Match": known]).status == 304,
                    "\(known)"
                )
            }
            for unknown in [
                "", "\"x\"", String(tag.dropFirst().dropLast()), "\"\"", "w/\(tag)", tag.uppercased() + "x",
            ] {
                #expect(
                    try await running.get("/things/ada", headers: ["If-None-Match": unknown]).status == 200,
                    "\(unknown)"
                )
            }
        }
    }

    @Test("refusals, long answers and routes that are not polled have no tag")
    func others() async throws {
        try await withRunningHost(routes: routes) { running in
            for (path, status) in [("/things/none", 404), ("/things/long", 200), ("/plain", 200)] as [(String, UInt)] {
                let answer = try await running.get(path, headers: ["If-None-Match": "*"])
                #expect(answer.status == status)
                #expect(answer.header("ETag") == nil)
            }
        }
    }
}
