/// The prepared statements of one connection, by their text.
///
/// A statement is used by its name only after the server has confirmed it: with many segments under way, one that
/// relied on an unconfirmed statement would fail for its neighbour's mistake.
struct StatementCache {
    enum Use {
        /// Prepare it under this name, then use the name.
        case prepare(String)
        /// It is there under this name.
        case named(String)
        /// Send the text itself.
        case unnamed
    }

    private struct Entry {
        let name: String
        var isReady = false
        var lastUse: UInt64
    }

    private let capacity: Int
    private var entries: [String: Entry] = [:]
    private var clock: UInt64 = 0
    /// Names the server still has and we do not need any more.
    private(set) var discarded: [String] = []

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// How to run a statement now.
    mutating func use(_ text: String) -> Use {
        self.clock += 1
        if let index = self.entries.index(forKey: text) {
            guard self.entries.values[index].isReady else { return .unnamed }
            self.entries.values[index].lastUse = self.clock
            return .named(self.entries.values[index].name)
        }
        if self.entries.count >= self.capacity && !self.evict() { return .unnamed }
        let name = "s\(self.clock)"
        self.entries[text] = Entry(name: name, lastUse: self.clock)
        return .prepare(name)
    }

    /// The server has prepared it.
    mutating func confirm(_ text: String) {
        self.entries[text]?.isReady = true
    }

    /// The server has not prepared it, or has lost it.
    mutating func forget(_ text: String) {
        self.entries[text] = nil
    }

    /// The server has it, but its plan is of no use any more.
    mutating func discard(_ text: String) {
        guard let entry = self.entries.removeValue(forKey: text) else { return }
        self.discarded.append(entry.name)
    }

    /// The names to deallocate; they are handed out once.
    mutating func takeDiscarded() -> [String] {
        defer { self.discarded = [] }
        return self.discarded
    }

    private mutating func evict() -> Bool {
        let ready = self.entries.lazy.filter { $0.value.isReady }
        guard let oldest = ready.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return false }
        self.discard(oldest.key)
        return true
    }
}
