import Foundation

/// Measures how fast events are consumed and relayed, each next to a plain program that does the same to the same servers.
///
/// Prints one JSON line per measurement; `run` says how it is called.
@main
enum MessagingBench {
    static func main() async {
        do {
            try await self.run()
        } catch {
            tell("\(error)")
            exit(1)
        }
    }

    private static func run() async throws {
        let settings = try Settings(ProcessInfo.processInfo.environment)
        for part in settings.parts {
            for repeatNumber in 1...settings.repeats {
                switch part {
                case .consuming: try await ConsumeBenchmark(settings: settings, repeatNumber: repeatNumber).run()
                case .relaying: try await RelayBenchmark(settings: settings, repeatNumber: repeatNumber).run()
                }
            }
        }
    }
}

/// What is measured.
enum Part: String {
    case consuming = "d"
    case relaying = "e"
}

/// How it is measured, from the environment.
struct Settings {
    let parts: [Part]
    let repeats: Int
    let events: Int
    /// The reference loop of part e.
    let relayLoop: String

    init(_ environment: [String: String]) throws {
        self.parts = (environment["PARTS"] ?? "de").compactMap { Part(rawValue: String($0)) }
        self.repeats = max(1, environment["REPEATS"].flatMap(Int.init) ?? 3)
        self.events = max(1_000, environment["EVENTS"].flatMap(Int.init) ?? 20_000)
        self.relayLoop = environment["RELAY_LOOP"] ?? "relay_loop"
    }
}

/// One line of the result.
struct Measurement: Encodable {
    let part: String
    let name: String
    let value: Double
    let unit = "events/s"
    let `repeat`: Int

    /// Writes the line to stdout, whole.
    func report() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try FileHandle.standardOutput.write(contentsOf: encoder.encode(self) + Data("\n".utf8))
    }
}

/// Tells whoever waits what is being done.
func tell(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data("messaging: \(text)\n".utf8))
}
