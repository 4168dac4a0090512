import ArgumentParser
import Contracts
import Foundation

/// `transfactl audit`: what operators did, and whether anybody has changed the record of it.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "What operators did.",
        discussion: "Each service keeps its own; every act carries the hash of the one before it.",
        subcommands: [List.self, Verify.self]
    )

    /// `transfactl audit list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Acts, the newest of each service first.")

        @OptionGroup var output: OutputOptions

        @Argument(help: "The services; all of them when none is named.")
        var services: [String] = []

        @Option(help: "Only acts about this, such as the id of a user or of a job.")
        var subject: String?

        @Option(help: "The most acts of a service, 1 to 1000.")
        var limit = 100

        private struct Page: Decodable {
            let data: [Act]
        }

        private struct Act: Decodable {
            let number: Int64
            let happenedAt: String
            let actor: String
            let act: String
            let subject: String
            let reason: String?
            let before: String?
            let after: String?

            private enum CodingKeys: String, CodingKey {
                case number, actor, act, subject, reason, before, after
                case happenedAt = "happened_at"
            }

            var text: String {
                let change = [self.before, self.after].compactMap { $0 }.joined(separator: " -> ")
                let why = self.reason.map { ", because: \($0)" } ?? ""
                return "#\(self.number) \(self.happenedAt) \(self.actor) \(self.act) \(self.subject) \(change)\(why)"
            }
        }

        func validate() throws {
            guard (1...1000).contains(self.limit) else { throw ValidationError("--limit is from 1 to 1000") }
            _ = try AuditCommand.services(named: self.services)
        }

        func run() async throws {
            let named = try AuditCommand.services(named: self.services)
            let plain = CharacterSet(charactersIn: "-._").union(.alphanumerics)
            let subject = self.subject?.addingPercentEncoding(withAllowedCharacters: plain)
            let about = subject.map { "&subject=\($0)" } ?? ""
            let path = "/internal/ops/audit?limit=\(self.limit)\(about)"
            try await self.output.reporting { caller, report throws(Failure) in
                for service in named {
                    let answer = try await caller.send(.get(.internalPort(service), path)).expecting()
                    let acts = try answer.decode(Page.self).data
                    report.step(service.rawValue)
                    for act in acts { report.note(act.text) }
                    report.check("the audit was read", true, "\(acts.count) acts shown")
                }
            }
        }
    }

    /// `transfactl audit verify`.
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Whether the chains are whole; fails when one is not.",
            discussion: """
                Prints the hash of each chain's last act. Keep it elsewhere: with --known the chain must still have it, so \
                that even one that was written anew from the beginning shows.
                """
        )

        @OptionGroup var output: OutputOptions

        @Argument(help: "The services; all of them when none is named.")
        var services: [String] = []

        @Option(help: "What an earlier run printed: service:number:hash. May be given several times.")
        var known: [KnownHead] = []

        private struct Chain: Decodable {
            struct Problem: Decodable {
                let name: String
                let detail: String
            }

            let acts: Int64
            let head: String
            let problems: [Problem]
        }

        func validate() throws {
            let named = try AuditCommand.services(named: self.services)
            if let known = self.known.first(where: { !named.contains($0.service) }) {
                throw ValidationError("--known is about \(known.service.rawValue), which is not among the services")
            }
        }

        func run() async throws {
            let named = try AuditCommand.services(named: self.services)
            try await self.output.reporting { caller, report throws(Failure) in
                for service in named { try await self.verify(service, caller, report) }
            }
        }

        private func verify(
            _ service: ServiceName,
            _ caller: Caller,
            _ report: Report
        ) async throws(Failure) {
            let answer = try await caller.send(.get(.internalPort(service), "/internal/ops/audit/check")).expecting()
            let chain = try answer.decode(Chain.self)
            let problems = chain.problems.map { "\($0.name) \($0.detail)" }.joined(separator: "; ")
            let head = "\(service.rawValue):\(chain.acts):\(chain.head)"
            let figures = problems.isEmpty ? head : problems
            report.check("the audit of \(service.rawValue) is whole", problems.isEmpty, figures)
            for known in self.known where known.service == service && known.number > 0 {
                let hash = try await Self.hash(of: known.number, in: service, caller)
                let name = "act \(known.number) of \(service.rawValue) is the one that was"
                report.check(name, hash == known.hash, hash ?? "it is gone")
            }
        }

        private struct Page: Decodable {
            struct Act: Decodable {
                let number: Int64
                let hash: String
            }

            let data: [Act]
            let nextCursor: String?

            private enum CodingKeys: String, CodingKey {
                case data
                case nextCursor = "next_cursor"
            }
        }

        /// Pages back to an act; nil when there is none of that number.
        private static func hash(
            of number: Int64,
            in service: ServiceName,
            _ caller: Caller
        ) async throws(Failure) -> String? {
            var cursor = ""
            while true {
                let answer = try await caller.send(
                    .get(.internalPort(service), "/internal/ops/audit?limit=1000\(cursor)")
                ).expecting()
                let page = try answer.decode(Page.self)
                if let act = page.data.first(where: { $0.number == number }) { return act.hash }
                guard let next = page.nextCursor, page.data.last.map({ $0.number > number }) == true else { return nil }
                cursor = "&cursor=\(next)"
            }
        }
    }

    // MARK: Parts

    private static func services(named names: [String]) throws -> [ServiceName] {
        try names.isEmpty
            ? ServiceName.allCases
            : names.map { name in
                guard let service = ServiceName(rawValue: name) else {
                    throw ValidationError("there is no service \(name)")
                }
                return service
            }
    }
}

/// The end of a chain as it once was.
struct KnownHead: ExpressibleByArgument {
    let service: ServiceName
    let number: Int64
    let hash: String

    init?(argument: String) {
        let parts = argument.split(separator: ":").map(String.init)
        guard parts.count == 3, let service = ServiceName(rawValue: parts[0]), let number = Int64(parts[1]), number >= 0
        else { return nil }
        (self.service, self.number, self.hash) = (service, number, parts[2])
    }
}
