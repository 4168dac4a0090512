import ArgumentParser
import Foundation

/// `transfactl events export`: envelopes as JSON Lines.
struct EventsExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes events as they were published, one per line, in the order in which they were stored.",
        discussion: "Ends with what is there when it gets to the end. Personal data in events stays sealed."
    )

    @OptionGroup var selection: EventSelection
    @OptionGroup var output: EventOutput

    @Option(name: .customLong("output"), help: "A new file; standard output without it.")
    var path: String?

    private static let pageSize = "1000"

    func run() async throws {
        let file = try self.destination()
        try await EventsCommand.with { archive throws(Failure) in
            var (place, isAtEnd, count) = ([("begin", "start")], false, 0)
            repeat {
                let lines = try await archive.lines(self.selection.parameters + [("limit", Self.pageSize)] + place)
                // A filter may find nothing for a while; the place that stays the same is the end.
                isAtEnd = lines.text.isEmpty && place.first?.1 == lines.nextCursor
                place = [("cursor", lines.nextCursor)]
                count += lines.text.count { $0 == UInt8(ascii: "\n") }
                do {
                    try file.write(contentsOf: Data(lines.text))
                } catch {
                    throw Failure("The events could not be written: \(error.localizedDescription).")
                }
            } while !isAtEnd
            self.say(count)
            return .success
        }
    }

    private func destination() throws -> FileHandle {
        guard let path = self.path else { return .standardOutput }
        guard !FileManager.default.fileExists(atPath: path) else {
            EventsCommand.complain("\(path) is there already.")
            throw Exit.refused
        }
        guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
        else {
            EventsCommand.complain("\(path) cannot be written.")
            throw Exit.refused
        }
        return file
    }

    /// To standard error, so that standard output holds events alone.
    private func say(_ count: Int) {
        let line = self.output.isJSON ? #"{"exported":\#(count)}"# : "\(count) events"
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }
}
