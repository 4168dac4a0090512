/// One try of a PIN under an idempotency key.
struct PINTry: Hashable, Sendable {
    /// What comparing it gave.
    enum Outcome: String, Sendable {
        case right
        case wrong
    }

    /// Nil until it was compared.
    let outcome: Outcome?
    /// How many attempts were left after it, if it was wrong.
    let attemptsLeft: Int
}
