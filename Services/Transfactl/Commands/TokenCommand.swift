import ArgumentParser
import ContractGate
import Foundation

/// `transfactl token`: what local work needs to be let in.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Makes tokens for local work.",
        subcommands: [TokenSession.self, TokenInternal.self]
    )
}

/// `transfactl token session`: a session of somebody at the sandbox's Clerk.
struct TokenSession: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "Prints a session token of a person, as the sandbox's Clerk signs it.",
        discussion: "Only services that trust the sandbox take it. It needs SANDBOX_URL."
    )

    @OptionGroup var show: ShowOptions

    @Argument(help: "Whose: Clerk's id of the person, such as user_ada. Anybody may be invented.")
    var subject: String

    @Option(help: "For how many seconds, 1 to 86400.")
    var lifetime = 60

    @Option(help: "The page or app that it is for.")
    var party = Stage.authorizedParty

    private struct Order: Encodable {
        let subject: String
        let azp: String
        let lifetime: Int

        private enum CodingKeys: String, CodingKey {
            case subject, azp
            case lifetime = "lifetime_seconds"
        }
    }

    func validate() throws {
        guard (1...86_400).contains(self.lifetime) else { throw ValidationError("--lifetime is from 1 to 86400") }
        guard !self.subject.isEmpty else { throw ValidationError("a subject is not empty") }
    }

    func run() async throws {
        let order = Order(subject: self.subject, azp: self.party, lifetime: self.lifetime)
        try await self.show.calling { caller, output throws(Failure) in
            let answer = try await caller.send(.post(.sandbox, "/sandbox/clerk/tokens", order))
            guard (200...299).contains(answer.status) else { throw answer.refusal }
            guard let token = try answer.decode(JSONNode.self)["jwt"]?.text else {
                throw Failure("\(answer.line) gave no token.")
            }
            output.item(["kind": "token", "token": .text(token)], text: token)
            return .success
        }
    }
}

/// `transfactl token internal`: a secret for the internal ports.
struct TokenInternal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "internal",
        abstract: "Prints a new random secret that may be used as INTERNAL_TOKEN.",
        discussion: "It is kept nowhere: all services and transfactl must be given the same one."
    )

    @OptionGroup var show: ShowOptions

    func run() async throws {
        try await self.show.run { output throws(Failure) in
            var random = SystemRandomNumberGenerator()
            let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let token = Data(bytes).base64EncodedString()
                .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            output.item(["kind": "token", "token": .text(token)], text: token)
            return .success
        }
    }
}
