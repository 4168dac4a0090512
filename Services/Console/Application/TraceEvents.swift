import Foundation

/// Finds all events that belong to a request, an event, a transfer or a payment.
///
/// A transfer is told of under several correlations: the request that ordered it, the provider's webhooks, later ones. So
/// a trace follows correlations and the names of transfers and payments in turn, until nothing new is found.
struct TraceEvents: Sendable {
    let reads: ArchiveReads

    /// What was found.
    struct Trace: Sendable {
        let events: [TracedEvent]
        /// Whether that is all of it.
        let isComplete: Bool
    }

    /// A trace holds no more events.
    static let maximumEvents = 2000
    /// How often correlations and names are followed.
    private static let rounds = 4

    /// Follows a key.
    func callAsFunction(_ key: TraceKey) async throws -> Trace {
        var found: [UUID: TracedEvent] = [:]
        var names = Set(key.names)
        var correlations: Set<UUID> = []
        var seeds = try await self.reads.events(naming: names, limit: Self.maximumEvents)
        if let id = key.id { seeds += try await self.reads.events(of: id, limit: Self.maximumEvents) }
        var fresh = Self.add(seeds, to: &found)
        for _ in 0..<Self.rounds where !fresh.isEmpty && found.count < Self.maximumEvents {
            let newCorrelations = Set(fresh.compactMap(\.correlationID)).subtracting(correlations)
            let newNames = TraceKey.names(in: fresh).subtracting(names)
            correlations.formUnion(newCorrelations)
            names.formUnion(newNames)
            let related =
                try await self.reads.events(correlatedBy: newCorrelations, limit: Self.maximumEvents)
                + self.reads.events(naming: newNames, limit: Self.maximumEvents)
            fresh = Self.add(related, to: &found)
        }
        let events = found.values.sorted { $0.id.uuidString < $1.id.uuidString }
        return Trace(
            events: Array(events.prefix(Self.maximumEvents)),
            isComplete: fresh.isEmpty && found.count < Self.maximumEvents
        )
    }

    /// Those that were not known.
    private static func add(_ events: [TracedEvent], to found: inout [UUID: TracedEvent]) -> [TracedEvent] {
        events.filter { found.updateValue($0, forKey: $0.id) == nil }
    }
}
