import TestSupport
import Testing

extension Journeys {
    @Suite struct JourneyTests {
        @Test("transfactl's journey from sign-up to settled payments ends with every check ok")
        func journey() async throws {
            let suite = try RunningSuite.current
            let output = try await Command.run(
                try Repository.product("transfactl"),
                ["journey"],
                environment: suite.environment.tool
            )
            #expect(output.contains("checks hold"))
            #expect(try await suite.brokenInvariants() == [])
        }
    }
}
