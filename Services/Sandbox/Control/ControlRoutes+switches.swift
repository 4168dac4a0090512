import Foundation
import Hummingbird

extension ControlRoutes {
    func addSwitches(to group: RouterGroup<SandboxContext>) {
        let provider = self.provider
        group.get("switches") { _, _ in
            Response.json(try provider.store.read { $0.switches }.json)
        }
        group.patch("switches") { request, _ in
            let wanted = try await request.fields().json.members ?? [:]
            let switches = try provider.perform { state in
                let switches = try state.switches.setting(wanted)
                state.record(.switches(switches))
                return switches
            }
            return Response.json(try switches.json)
        }
    }
}

extension Switches {
    /// As JSON text and back through its own coding, so that a new switch needs no code here.
    var json: JSON {
        get throws {
            let data = try JSONEncoder().encode(self)
            return JSON(parsing: data) ?? .null
        }
    }

    /// With some fields changed; an unknown name or a wrong type is refused.
    func setting(_ wanted: [String: JSON]) throws -> Switches {
        var members = try self.json.members ?? [:]
        for (name, value) in wanted {
            guard members[name] != nil else { throw Refusal.badRequest("There is no switch \(name)") }
            members[name] = value
        }
        do {
            return try JSONDecoder().decode(Switches.self, from: Data(JSON.object(members).bytes))
        } catch {
            throw Refusal.badRequest("A switch has a value of the wrong type")
        }
    }
}
