import ArgumentParser
import ContractGate
import Foundation

/// `transfactl contracts`: what services say to each other.
struct ContractsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contracts",
        abstract: "The events that services exchange, and what a change of them breaks.",
        discussion: "Needs neither services nor an environment: the contracts are built in.",
        subcommands: [ContractsDocument.self, ContractsCheck.self]
    )

    /// The document of this build.
    static func ofThisBuild() throws(Failure) -> EventDocument {
        do {
            return try EventDocument.ofThisBuild()
        } catch {
            throw Failure("The contracts of this build cannot be described: \(error).")
        }
    }

    /// The document in a text.
    static func read(_ text: Data, from origin: String) throws(Failure) -> EventDocument {
        let node: JSONNode
        do {
            node = try JSONNode(json: text)
        } catch {
            throw Failure("\(origin) is not JSON.")
        }
        do {
            return try EventDocument(asyncAPI: node)
        } catch {
            throw Failure("\(origin) is no document of events. \(error)")
        }
    }
}

/// `transfactl contracts document`: the contracts as AsyncAPI.
struct ContractsDocument: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "document",
        abstract: "Prints all events as an AsyncAPI 3.0 document."
    )

    @OptionGroup var show: ShowOptions

    @Option(name: .customLong("output"), help: "A file to write instead.")
    var path: String?

    func run() async throws {
        try await self.show.run { _ throws(Failure) in
            let document = try ContractsCommand.ofThisBuild().asyncAPI
            do {
                let text = try document.document()
                if let path = self.path {
                    try text.write(to: URL(fileURLWithPath: path))
                } else {
                    FileHandle.standardOutput.write(self.show.isJSON ? Data((Output.line(document) + "\n").utf8) : text)
                }
            } catch {
                throw Failure("The document could not be written: \(error.localizedDescription)")
            }
            return .success
        }
    }
}
