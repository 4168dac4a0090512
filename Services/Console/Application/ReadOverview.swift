import Contracts
import EventLoops
import Foundation
import Primitives
import ServiceKit

/// How the suite is doing: each service's own word, the broker's queues, the archive, and money under way.
///
/// Whoever looks within the same second, or while somebody else is asking, sees the same: a room full of screens costs the
/// services no more than one, also while a service is slow.
struct ReadOverview: Sendable {
    let ports: any InternalPorts
    let reads: ArchiveReads
    let isFollowing: @Sendable () -> Bool
    let queues: @Sendable () async -> [BrokerQueue]?
    let clock: any TimeSource

    private static let freshness = Duration.seconds(1)
    /// Longer than any service may take to answer.
    private static let patience = Duration.seconds(10)

    private struct Known {
        var json: String?
        var until: ContinuousClock.Instant?
        /// Until when somebody who asks now is waited for.
        var turn: ContinuousClock.Instant?

        /// What is known, while it is fresh or somebody asks already; nil for who has to ask.
        mutating func jsonOrTurn(at now: ContinuousClock.Instant) -> String? {
            let isFresh = self.until.map { $0 > now } ?? false
            let isAsked = self.turn.map { $0 > now } ?? false
            if isFresh || isAsked, let json = self.json { return json }
            self.turn = now + ReadOverview.patience
            return nil
        }
    }

    private let known = Locked(Known())

    init(
        ports: any InternalPorts,
        reads: ArchiveReads,
        clock: any TimeSource,
        isFollowing: @escaping @Sendable () -> Bool,
        queues: @escaping @Sendable () async -> [BrokerQueue]?
    ) {
        self.ports = ports
        self.reads = reads
        self.clock = clock
        self.isFollowing = isFollowing
        self.queues = queues
    }

    /// JSON; a part that does not answer is null.
    func callAsFunction() async throws -> String {
        if let json = self.known.withLock({ $0.jsonOrTurn(at: .now) }) { return json }
        do {
            let json = try await self.asked()
            self.known.withLock { $0 = Known(json: json, until: .now + Self.freshness) }
            return json
        } catch {
            self.known.withLock { $0.turn = nil }
            throw error
        }
    }

    private func asked() async throws -> String {
        async let services = self.services()
        async let money = self.text(.transaction, "/internal/open-transfers")
        async let breaks = self.text(.transaction, "/internal/reconciliations/breaks")
        async let queues = self.queues()
        let archive = try Self.json(Archive(try await self.reads.status(), isFollowing: self.isFollowing()))
        let queueText = try await queues.map { try Self.json($0.sorted { $0.name < $1.name }) } ?? "null"
        let json =
            #"{"now":"\#(Timestamp.text(self.clock.now))","services":[\#(await services)],"queues":\#(queueText),"#
            + #""archive":\#(archive),"money":\#(await money ?? "null"),"breaks":\#(await breaks ?? "null")}"#
        // Who goes away in the middle has heard nothing, and nobody shall take that for the answer.
        try Task.checkCancellation()
        return json
    }

    /// Each with its status, in the order of the catalogue.
    private func services() async -> String {
        await withTaskGroup(of: (Int, String).self) { group in
            for (index, service) in ServiceName.allCases.enumerated() {
                group.addTask {
                    let status = await self.text(service, "/internal/ops/status") ?? "null"
                    return (index, #"{"service":"\#(service.rawValue)","status":\#(status)}"#)
                }
            }
            var texts = [String](repeating: "", count: ServiceName.allCases.count)
            for await (index, text) in group { texts[index] = text }
            return texts.joined(separator: ",")
        }
    }

    private func text(_ service: ServiceName, _ path: String) async -> String? {
        guard let answer = try? await self.ports.call(service, InternalCall(path: path)), answer.status == 200 else {
            return nil
        }
        return String(validating: answer.body, as: UTF8.self)
    }

    private struct Archive: Encodable {
        let position: Int64
        let isFollowing: Bool
        let newestTime: String?
        let readAt: String?
        let openGaps: Int64
        let malformedMessages: Int64

        private enum CodingKeys: String, CodingKey {
            case position
            case isFollowing = "is_following"
            case newestTime = "newest_time"
            case readAt = "read_at"
            case openGaps = "open_gaps"
            case malformedMessages = "malformed_messages"
        }

        init(_ status: ArchiveReads.Status, isFollowing: Bool) {
            self.position = status.position
            self.isFollowing = isFollowing
            self.newestTime = status.newestTime.map(Timestamp.text)
            self.readAt = status.readAt.map(Timestamp.text)
            self.openGaps = status.openGaps
            self.malformedMessages = status.malformedMessages
        }
    }

    private static func json(_ value: some Encodable) throws -> String {
        String(decoding: try APIResponse.encoder().encode(value), as: UTF8.self)
    }
}
