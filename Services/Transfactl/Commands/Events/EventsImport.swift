import ArgumentParser
import Foundation

/// `transfactl events import`: puts exported events into an archive for debugging.
struct EventsImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Puts exported events into an empty archive, for debugging.",
        discussion: """
            The archive must not read an event log (ARCHIVE_READS_LOG=false). Interrupted, it can be repeated with --add: \
            what is there stays as it is.
            """
    )

    @OptionGroup var output: EventOutput

    @Argument(help: "The file that export wrote.")
    var path: String

    @Flag(help: "Also into an archive that is not empty.")
    var add = false

    /// Bytes of one order.
    private static let chunk = 2 * 1024 * 1024

    private struct Status: Decodable {
        let position: Int64
    }

    private struct Taken: Decodable {
        let seen: Int
        let added: Int
    }

    func run() async throws {
        guard let file = FileHandle(forReadingAtPath: self.path) else {
            EventsCommand.complain("\(self.path) cannot be read.")
            throw Exit.refused
        }
        try await EventsCommand.with { archive throws(Failure) in
            try await self.requireEmpty(archive)
            var (rest, total) = ([UInt8](), (seen: 0, added: 0))
            while true {
                let chunk = try Self.read(file)
                rest += chunk
                // Whole lines only; the last one may have no end.
                let end = chunk.isEmpty ? rest.count : (rest.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
                if end > 0 {
                    let taken = try await archive.add(Array(rest[..<end])).decode(Taken.self)
                    total = (total.seen + taken.seen, total.added + taken.added)
                    rest.removeFirst(end)
                }
                if chunk.isEmpty { break }
            }
            self.say(total.seen, total.added)
            return .success
        }
    }

    private func requireEmpty(_ archive: ArchiveClient) async throws(Failure) {
        guard !self.add else { return }
        let position = try await archive.find("")?.decode(Status.self).position ?? 0
        guard position == 0 else { throw Failure("The archive is not empty; --add puts events into it all the same.") }
    }

    private static func read(_ file: FileHandle) throws(Failure) -> [UInt8] {
        do {
            return Array(try file.read(upToCount: self.chunk) ?? Data())
        } catch {
            throw Failure("The file could not be read: \(error.localizedDescription).")
        }
    }

    private func say(_ seen: Int, _ added: Int) {
        EventsCommand.write(
            self.output.isJSON ? #"{"added":\#(added),"seen":\#(seen)}"# : "\(seen) events, \(added) of them new"
        )
    }
}
