import Contracts
import Foundation

/// Calls what console has about replays.
struct ReplayClient: Sendable {
    let caller: Caller

    private static let pageSize = "200"
    /// A console that is being restarted is asked again for so long.
    private static let patience = Duration.seconds(60)
    private static let pause = Duration.milliseconds(300)

    /// What a replay would be about.
    func plan(_ order: ReplayPlanOrder) async throws(Failure) -> Answer {
        let call = try Call.post(.internalPort(.console), "/internal/replay-plans", order)
        return try Self.good(try await self.caller.send(call))
    }

    /// Begins one.
    func begin(_ order: ReplayOrder, by operatorName: String) async throws(Failure) -> ShownReplay {
        let call = try Call.post(.internalPort(.console), "/internal/replays", order).inName(of: operatorName)
        return try ShownReplay(try Self.good(try await self.caller.send(call)))
    }

    /// Begins to make a projection again.
    func begin(_ order: RebuildOrder, by operatorName: String) async throws(Failure) -> ShownReplay {
        let call = try Call.post(.internalPort(.console), "/internal/rebuilds", order).inName(of: operatorName)
        return try ShownReplay(try Self.good(try await self.caller.send(call)))
    }

    private struct Reason: Encodable {
        let reason: String
    }

    /// Cancels or resumes one; nil when there is none.
    func act(_ act: String, on id: String, _ acting: OperatorOptions) async throws(Failure) -> ShownReplay? {
        let path = "/internal/replays/\(id)/\(act)"
        let call = try Call.post(.internalPort(.console), path, Reason(reason: acting.reason))
        let answer = try await self.caller.send(call.inName(of: acting.name))
        if answer.isAboutNothing { return nil }
        return try ShownReplay(try Self.good(answer))
    }

    /// How far one is; nil when there is none.
    func find(_ id: String) async throws(Failure) -> ShownReplay? {
        let answer = try await self.caller.send(.get(.internalPort(.console), "/internal/replays/\(id)"))
        if answer.isAboutNothing { return nil }
        return try ShownReplay(try Self.good(answer))
    }

    /// All of them, the newest first, at most so many.
    func list(limit: Int) async throws(Failure) -> [ShownReplay] {
        let items = try await self.items("/internal/replays", limit: limit, pageSize: "100")
        return items.compactMap(ShownReplay.init)
    }

    /// What a dry run found.
    func changes(of id: String) async throws(Failure) -> [ShownChange] {
        try await self.items("/internal/replays/\(id)/changes", limit: .max).compactMap(ShownChange.init)
    }

    /// Events that took no effect, as JSON objects.
    func problems(of id: String) async throws(Failure) -> [[String: Any]] {
        try await self.items("/internal/replays/\(id)/problems", limit: .max)
    }

    /// Waits until one has ended.
    func follow(
        _ replay: ShownReplay,
        _ show: (ShownReplay) -> Void
    ) async throws(Failure) -> ShownReplay {
        var (replay, silentSince) = (replay, ContinuousClock.now)
        while replay.isRunning {
            show(replay)
            do { try await Task.sleep(for: Self.pause) } catch { throw Failure("Interrupted; the replay goes on.") }
            do throws(Failure) {
                guard let now = try await self.find(replay.id) else { throw Failure("The replay is gone.") }
                replay = now
                silentSince = .now
            } catch {
                guard ContinuousClock.now - silentSince < Self.patience else { throw error }
            }
        }
        show(replay)
        return replay
    }

    private func items(
        _ path: String,
        limit: Int,
        pageSize: String = Self.pageSize
    ) async throws(Failure) -> [[String: Any]] {
        var (items, cursor) = ([[String: Any]](), String?.none)
        repeat {
            // A cursor is base64url.
            let place = cursor.map { "&cursor=\($0)" } ?? ""
            let call = Call.get(.internalPort(.console), "\(path)?limit=\(pageSize)\(place)")
            let answer = try Self.good(try await self.caller.send(call))
            guard let page = ArchiveClient.object(answer.body), let data = page["data"] as? [[String: Any]] else {
                throw Failure("\(answer.line) was answered with a body that is no list.")
            }
            items += data
            cursor = page["next_cursor"] as? String
        } while cursor != nil && items.count < limit
        return Array(items.prefix(limit))
    }

    private static func good(_ answer: Answer) throws(Failure) -> Answer {
        guard (200...299).contains(answer.status) else {
            throw Failure("\(answer.line) was answered \(answer.status) \(Excerpt.of(answer.body)).")
        }
        return answer
    }
}

/// Which events are replayed.
struct ReplaySelection: Encodable {
    let from: String?
    let to: String?
    let types: [String]?
    let subject: String?
    let correlation: String?
    let ids: [String]?
}

/// A question what a replay would be about.
struct ReplayPlanOrder: Encodable {
    let service: String
    let selection: ReplaySelection
}

/// A projection that is to be made again.
struct RebuildOrder: Encodable {
    let service: String
    let projection: String
    let rate: Int?
    let reason: String
}

/// What is wanted.
struct ReplayOrder: Encodable {
    let service: String
    let mode: String
    let effects: String
    let rate: Int
    let selection: ReplaySelection
    let reason: String
}
