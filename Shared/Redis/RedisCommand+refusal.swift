extension RedisCommand {
    /// Why a command cannot be sent on a shared connection.
    private enum Refusal: String {
        case answersMoreThanOnce = "would be answered more than once, or not in order"
        case changesTheConnection = "would change the connection of everybody"
        case holdsUpEverybody = "would hold up everybody"
    }

    private static let refusals: [String: Refusal] = [
        "SUBSCRIBE": .answersMoreThanOnce, "PSUBSCRIBE": .answersMoreThanOnce, "SSUBSCRIBE": .answersMoreThanOnce,
        "UNSUBSCRIBE": .answersMoreThanOnce, "PUNSUBSCRIBE": .answersMoreThanOnce, "SUNSUBSCRIBE": .answersMoreThanOnce,
        "MONITOR": .answersMoreThanOnce, "SYNC": .answersMoreThanOnce, "PSYNC": .answersMoreThanOnce,
        "SELECT": .changesTheConnection, "AUTH": .changesTheConnection, "HELLO": .changesTheConnection,
        "RESET": .changesTheConnection, "QUIT": .changesTheConnection, "ASKING": .changesTheConnection,
        "READONLY": .changesTheConnection, "READWRITE": .changesTheConnection,
        "SHUTDOWN": .holdsUpEverybody, "DEBUG": .holdsUpEverybody, "SAVE": .holdsUpEverybody,
    ]

    /// Why it cannot be sent, nil when it can.
    var refusal: RedisError? {
        guard case .text(let word)? = self.words.first, !word.isEmpty else {
            return RedisError(.invalid, "a command needs a name")
        }
        let name = word.uppercased()
        if name == "CLIENT", case .text(let topic)? = self.words.dropFirst().first, topic.uppercased() == "REPLY" {
            return RedisError(.invalid, "CLIENT REPLY \(Refusal.answersMoreThanOnce.rawValue)")
        }
        return Self.refusals[name].map { RedisError(.invalid, "\(name) \($0.rawValue)") }
    }
}
