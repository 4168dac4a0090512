/// Which parts a start begins, and in which order.
struct StartPlan: Equatable {
    /// Parts that start side by side, one group after the other.
    let stages: [[SuitePart]]
    /// Parts that run already and are left alone.
    let running: [String]

    /// Starts the named parts, all of them when none is named.
    init(_ description: SuiteDescription, named names: [String], running: Set<String>) throws(SuiteError) {
        var wanted: [SuitePart] = []
        for name in names { wanted.append(try description.part(name)) }
        if names.isEmpty { wanted = description.parts }
        let open = wanted.filter { !running.contains($0.name) }
        self.stages = Set(open.map(\.stage)).sorted().map { stage in open.filter { $0.stage == stage } }
        self.running = wanted.map(\.name).filter(running.contains)
    }
}
