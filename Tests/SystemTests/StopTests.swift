import Foundation
import TestSupport
import Testing

extension Faults {
    @Suite struct StopTests {
        @Test(
            "a service that is told to stop ends with 0, within its grace, and complains about nothing",
            arguments: SuiteEnvironment.names
        )
        func stop(_ name: String) async throws {
            let suite = try RunningSuite.current
            let process = try suite.process(name)
            let before = process.log.utf8.count
            let started = ContinuousClock.now
            #expect(await process.terminate() == .code(0))
            #expect(ContinuousClock.now - started < .seconds(15))
            let last = String(decoding: Array(process.log.utf8).dropFirst(before), as: UTF8.self)
            let complaints = last.split(separator: "\n").filter {
                $0.contains(#""level":"error""#) || $0.contains(#""level":"warning""#)
            }
            #expect(complaints == [])
            try await suite.start(name)
        }
    }
}
