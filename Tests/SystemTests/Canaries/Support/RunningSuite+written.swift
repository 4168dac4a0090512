import AMQP
import EventLoops
import Foundation
import Logging
import Messaging
import Primitives
import TestSupport

extension RunningSuite {
    /// Writes everything that rests or shows anywhere into a folder, a file per place, and gives the paths to search:
    /// these files, and the logs of services and servers.
    func writeDown(into folder: String, refusals: [String]) async throws -> [String] {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await self.writeDatabases(into: folder)
        try await self.writeEventLog(to: "\(folder)/event-log")
        try await self.writePages(into: folder)
        try Self.write([try await self.redisContents()], to: "\(folder)/redis")
        try Self.write(refusals, to: "\(folder)/refusals")
        return [folder, self.environment.imageFolder] + (try self.logs())
    }

    private static func write(_ lines: [String], to path: String) throws {
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
    }

    // MARK: Places

    /// Every row of every table.
    private func writeDatabases(into folder: String) async throws {
        let list = """
            SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace
                AND c.relkind IN ('r', 'p', 'm') AND NOT c.relispartition ORDER BY 1
            """
        for (service, database) in self.environment.databases {
            let tables = try await database.psql(list)
            guard !tables.isEmpty else { throw TestFailure("\(service) has no tables") }
            let rows = tables.map { "SELECT '\($0) ' || row_to_json(t)::text FROM \($0) t" }
            let file = "\(folder)/database-\(service)"
            let sql = rows.joined(separator: " UNION ALL ")
            try await Command.run(
                "psql",
                [database.superuserURL, "-XAtq", "-v", "ON_ERROR_STOP=1", "-o", file, "-c", sql]
            )
        }
    }

    /// Every event that the broker keeps, up to now.
    private func writeEventLog(to path: String) async throws {
        let end = StrayEvent(nobodyHears: "log.read", saying: "{}")
        try await self.publish([end])
        let consumer = AMQPConsumer(
            configuration: try AMQPConfiguration(url: self.vhost.url),
            queue: Topology.eventLog,
            offset: .first,
            logger: Logger(label: "system-tests") { _ in SwiftLogNoOpLogHandler() }
        )
        let lines = Locked<[String]>([])
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                try await consumer.run { deliveries in
                    let texts = deliveries.map { delivery in
                        let body = String(decoding: delivery.body, as: UTF8.self)
                        return "\(delivery.routingKey) \(delivery.messageID ?? "") \(delivery.headers) \(body)"
                    }
                    lines.withLock { $0 += texts.map { $0.replacingOccurrences(of: "\n", with: " ") } }
                    return .acknowledgeAll
                }
            }
            try await eventually("the end of the log", within: .seconds(60), every: .milliseconds(100)) {
                // Heartbeats may have come after it.
                lines.withLock { $0.suffix(1000).contains { $0.contains(end.id.lowercased) } }
            }
            consumer.stop()
        }
        try Self.write(lines.withLock { $0 }, to: path)
        try await self.forgetMalformedMessages()
    }

    /// What tests have published that is no event stands in the archive, where others count such.
    private func forgetMalformedMessages() async throws {
        let last = "SELECT count(*) FROM malformed_messages WHERE routing_key = '00.log.read'"
        let ours = "malformed_messages WHERE routing_key IN ('00.log.read', '00.leak.made')"
        try await eventually("the archive to have read the log", within: .seconds(20), every: .milliseconds(100)) {
            try await self.number(last, of: "console") > 0
        }
        try await self.rows("console", "DELETE FROM \(ours)")
    }

    /// What operators and the monitoring read, page by page.
    private func writePages(into folder: String) async throws {
        for service in SuiteEnvironment.names {
            var lines: [String] = []
            for page in try Endpoint.all(of: service) where page.isOnInternalPort && page.method == "GET" {
                guard !page.path.contains("{"), page.access == .internal else { continue }
                let answer = try await self.operate("GET", service, page.goodPath)
                lines.append("\(page.path) \(answer.status) \(answer.text)")
            }
            guard lines.contains(where: { $0.hasPrefix("/metrics 200 ") }) else {
                throw TestFailure("\(service) shows no metrics")
            }
            try Self.write(lines, to: "\(folder)/pages-\(service)")
        }
    }

    /// Keys and values of Redis.
    private func redisContents() async throws -> String {
        let script = """
            local lines = {} for _, key in ipairs(redis.call('KEYS', '*')) do \
            local kind = redis.call('TYPE', key).ok local value = '' \
            if kind == 'string' then value = redis.call('GET', key) \
            elseif kind == 'hash' then value = table.concat(redis.call('HGETALL', key), ' ') \
            elseif kind == 'list' then value = table.concat(redis.call('LRANGE', key, 0, -1), ' ') \
            elseif kind == 'set' then value = table.concat(redis.call('SMEMBERS', key), ' ') \
            else value = table.concat(redis.call('ZRANGE', key, 0, -1), ' ') end \
            lines[#lines + 1] = key .. ' ' .. value end return lines
            """
        return try await self.redis(["EVAL", script, "0"])
    }

    /// The logs of services, replicas included, and of the servers; not of the outside world.
    private func logs() throws -> [String] {
        let own = try FileManager.default.contentsOfDirectory(atPath: Scratch.directory).filter { file in
            file.hasSuffix(".log") && SuiteEnvironment.names.contains { file.hasPrefix($0) }
        }
        guard own.count >= SuiteEnvironment.names.count else { throw TestFailure("some services have no log") }
        let servers = [try TestServers.shared().directory] + self.ownServers.map(\.directory)
        return own.map { "\(Scratch.directory)/\($0)" } + servers.map { "\($0)/logs" }
    }
}
