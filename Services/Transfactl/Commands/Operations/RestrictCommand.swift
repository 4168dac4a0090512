import ArgumentParser
import Contracts

/// `transfactl restrict`: narrows what a user may do.
struct RestrictCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restrict",
        abstract: "Narrows what a user may do.",
        discussion: """
            post_no_debit: money comes in and does not go out; frozen: nothing moves; closed: the profile ends for ever, \
            with its PIN and devices. The person is told, and so are all services.
            """
    )

    /// What a user can be restricted to; the opposite is a command of its own.
    enum Level: String, CaseIterable, ExpressibleByArgument {
        case postNoDebit = "post_no_debit"
        case frozen
        case closed
    }

    @OptionGroup var show: ShowOptions

    @Argument(help: "The user's id.")
    var user: UUIDText

    @Option(name: .customLong("to"), help: "What holds from now on.")
    var level: Level

    @Option(help: "For closed: the user's id once more, because it is never lifted.")
    var confirm: UUIDText?

    @OptionGroup var acting: OperatorOptions

    func validate() throws {
        try RestrictionAct.checkCode(self.acting.reason)
        guard self.level != .closed || self.confirm?.text == self.user.text else {
            throw ValidationError("--to closed needs --confirm with the user's id: it is never lifted")
        }
    }

    func run() async throws {
        let act = RestrictionAct(user: self.user, restriction: self.level.rawValue, acting: self.acting)
        try await self.show.calling { caller, output throws(Failure) in try await act.run(caller, output) }
    }
}

/// `transfactl unrestrict`: lets a user do everything again.
struct UnrestrictCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unrestrict",
        abstract: "Lets a user do everything again; a closed profile stays closed."
    )

    @OptionGroup var show: ShowOptions

    @Argument(help: "The user's id.")
    var user: UUIDText

    @OptionGroup var acting: OperatorOptions

    func validate() throws { try RestrictionAct.checkCode(self.acting.reason) }

    func run() async throws {
        let act = RestrictionAct(user: self.user, restriction: "none", acting: self.acting)
        try await self.show.calling { caller, output throws(Failure) in try await act.run(caller, output) }
    }
}

/// An operator's order about what a user may do.
private struct RestrictionAct {
    let user: UUIDText
    let restriction: String
    let acting: OperatorOptions

    private struct Order: Encodable {
        let restriction: String
        let reason: String
    }

    /// The reason travels in an event, so it must not be free text.
    static func checkCode(_ reason: String) throws {
        guard reason.wholeMatch(of: /[a-z0-9_]{1,64}/) != nil else {
            throw ValidationError("--reason is a code here, such as reported_stolen: a-z, 0-9 and _, 1 to 64 of them")
        }
    }

    func run(_ caller: Caller, _ output: Output) async throws(Failure) -> ExitCode {
        let path = "/internal/users/\(self.user.text)/restriction"
        let order = Order(restriction: self.restriction, reason: self.acting.reason)
        let call = try Call.put(.internalPort(.customer), path, order).inName(of: self.acting.name)
        let what = "the restriction of \(self.user.text) is \(self.restriction)"
        return try await caller.act(call, what, missing: "There is no user \(self.user.text).", output)
    }
}
